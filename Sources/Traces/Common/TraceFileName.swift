import Binnacle
import PlainText
import PosixCalls

/// The meaning of a file's name for bare columns x, y and z in it, as in `Accelerometer.csv`.
struct TraceFileName {
    let kind: SampleKind?
    let content: ColumnName.Content
    /// Whether the name states that hard iron was not corrected.
    let isUncalibrated: Bool
    /// Whether the name is that of another quantity, as in `RotationVector.csv` or `Location.csv`.
    let isOther: Bool
    /// The sampling rate in the name, as in `walk_100Hz.csv`.
    let rateHz: Double?

    init(_ path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        var stem = name
        if let dot = name.lastIndex(of: "."), dot > name.startIndex { stem = String(name[..<dot]) }
        rateHz = StatedRate.agreed(StatedRate.all(in: stem).filter(\.hasUnit))
        // One or two letters, which are kinds and axes in column names, have no meaning in file names.
        let words = ColumnWords(ColumnWords.split(stem).filter { $0.count > 2 }.joined(separator: " "))
        // A "TotalAcceleration" is not a magnitude here.
        let lower = stem.lowercased()
        let isRotation = lower.contains("gyro") || lower.contains("orient") || lower.contains("rotation")
        isUncalibrated = lower.contains("uncal")
        let isGyroscope = words.kind == .gyroscope && !words.isOther && !lower.contains("orient")
        isOther = !isGyroscope && (isRotation || words.isOther && words.strange == 0 && words.kind == nil)
        content = isGyroscope || isRotation ? .usual : words.content
        kind = isGyroscope ? .gyroscope : isRotation ? nil : content == .usual ? words.kind : .accelerometer
    }

    /// The files in the same folder that, by their names, have the acceleration with gravity, the likeliest first.
    static func withGravity(beside path: String) -> [String] {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        guard let names = try? folderNames(folder.isEmpty ? "." : folder) else { return [] }
        // Files of one recording have the words in common that say nothing about the sensor.
        let own = ColumnWords.unknown(in: path.dropFirst(folder.utf8.count))
        let found = names.filter { name in
            let read = TraceFileName(name)
            // What was converted with a gravity that was added has none.
            return name.lowercased().hasSuffix(".csv") && !name.hasSuffix(ForeignFormat.convertedSuffix)
                && folder + name != path && read.kind == .accelerometer && read.content == .usual
                && ColumnWords.unknown(in: name) == own
        }.sorted()
        // An acceleration with gravity is named "total" beside one without.
        let total = found.filter { $0.lowercased().hasPrefix("total") }
        return (total + found.filter { !total.contains($0) }).map { folder + $0 }
    }
}
