/// Sizes for people.
enum ByteText {
    /// A size in the largest unit of which it has at least one: 16 KiB, 256 MiB.
    static func text(_ byteCount: Int) -> String {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        for (size, name) in units where byteCount >= size {
            let isWhole = byteCount.isMultiple(of: size)
            return NumberText.text(Double(byteCount) / Double(size), decimals: isWhole ? 0 : 1) + " " + name
        }
        return "\(byteCount) B"
    }
}
