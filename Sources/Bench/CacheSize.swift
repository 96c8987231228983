import Glibc

/// A cache that data go through, as the kernel describes it.
package struct CacheSize: Sendable, Equatable {
    /// 1 for the nearest.
    package let level: Int
    /// Its size.
    package let byteCount: Int

    /// Creates a description.
    package init(level: Int, byteCount: Int) {
        self.level = level
        self.byteCount = byteCount
    }

    /// The caches of a processor, the nearest first; empty where the kernel does not say.
    ///
    /// - Parameters:
    ///   - processor: The processor's number.
    ///   - root: Where sysfs is mounted.
    /// - Returns: Those that hold data.
    package static func all(ofProcessor processor: Int, root: String = "/sys") -> [CacheSize] {
        let folder = "\(root)/devices/system/cpu/cpu\(processor)/cache"
        var caches: [CacheSize] = []
        for number in 0..<16 {
            guard let type = SmallFile.text("\(folder)/index\(number)/type") else { break }
            guard type != "Instruction",
                let level = SmallFile.text("\(folder)/index\(number)/level").flatMap({ Int($0) }),
                let size = SmallFile.text("\(folder)/index\(number)/size").flatMap(byteCount)
            else { continue }
            caches.append(CacheSize(level: level, byteCount: size))
        }
        return caches.sorted { $0.level < $1.level }
    }

    /// Reads a size as the kernel writes it, such as `512K`.
    package static func byteCount(_ text: String) -> Int? {
        let factors: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        let factor = text.last.flatMap { factors[$0] }
        guard let number = Int(factor == nil ? text : String(text.dropLast())), number > 0 else { return nil }
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor ?? 1)
        return isTooLarge ? nil : product
    }
}
