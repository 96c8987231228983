import Binnacle

/// Where each stream of a pipeline stands in the rows of a recording.
///
/// A reader puts magnetometers before accelerometers and otherwise keeps the order of the columns. The columns stand in
/// that order already, so that a row's samples are read back from left to right.
struct TraceColumns {
    /// For each stream the number of its three columns, from 0.
    let places: [Int]
    /// What each place holds: a sensor, by a name that a reader finds again, and what it measures.
    let contents: [(sensor: String, kind: SampleKind)]
    /// The first line of CSV, without its end.
    let header: String

    /// - Parameter streams: In the order of the deliveries, each once.
    init(_ streams: [SampleStream]) {
        let ordered = SampleStream.ordered(streams.map { (sensor: $0.sensor, kind: $0.kind) })
        places = streams.enumerated().map { index, stream in ordered.firstIndex { $0.id == stream.id } ?? index }
        var sensors: [Sensor] = []
        var names: [(name: String, fallback: String)] = []
        for stream in ordered where !sensors.contains(where: { $0 === stream.sensor }) {
            sensors.append(stream.sensor)
            names.append((stream.sensor.name, stream.kind.rawValue))
        }
        let unique = SensorName.unique(names)
        contents = ordered.map { stream in
            (zip(sensors, unique).first { $0.0 === stream.sensor }?.1 ?? "", stream.kind)
        }
        header = contents.reduce(into: "time_ns") { header, content in
            let (letter, unit) = content.kind == .accelerometer ? ("a", "m_s2") : ("m", "uT")
            for axis in ["x", "y", "z"] { header += ",\(content.sensor).\(letter)\(axis)_\(unit)" }
        }
    }
}

/// Makes names that a header can carry: what is written in front of a column is read back as the same name.
enum SensorName {
    /// Longer names are cut: a header has three of each, and a line has its limit.
    private static let mostScalars = 64

    /// A name with everything replaced that would part the header, disturb a terminal, or not be read back.
    ///
    /// - Parameters:
    ///   - name: What the device or the configuration says.
    ///   - fallback: Stands for a name of which nothing is left.
    /// - Returns: A name that ``ColumnName`` finds in front of an axis.
    static func sanitised(_ name: String, fallback: String) -> String {
        let cleaned = clean(name) { isPlain($0) || isLetter($0) }
        let column = ColumnName(cleaned + ".ax_m_s2")
        // Some letters join what follows them, the dot too.
        let isReadBack = column.sensor.map { $0.unicodeScalars.elementsEqual(cleaned.unicodeScalars) } ?? false
        let result = isReadBack ? cleaned : clean(name, isPlain)
        return result.isEmpty ? fallback : result
    }

    /// Sanitised names, each different from all others.
    static func unique(_ names: [(name: String, fallback: String)]) -> [String] {
        var taken: [String] = []
        for (name, fallback) in names {
            let wanted = sanitised(name, fallback: fallback)
            var free = wanted
            var number = 2
            while taken.contains(free) {
                free = "\(wanted)\(number)"
                number += 1
            }
            taken.append(free)
        }
        return taken
    }

    private static func clean(_ name: String, _ isGood: (Unicode.Scalar) -> Bool) -> String {
        var cleaned = ""
        for scalar in name.unicodeScalars.prefix(mostScalars) {
            cleaned.unicodeScalars.append(isGood(scalar) ? scalar : "_")
        }
        return cleaned.trimmingBlanks()
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        case "_", "-", ".", ":", "/", "@", "+", "(", ")", " ": true
        default: false
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}
