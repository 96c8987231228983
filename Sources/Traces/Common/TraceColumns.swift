import Binnacle
import PlainText

/// The place of each stream of a pipeline in the rows of a recording.
///
/// Places follow the order in which a reader delivers samples of one stamp (``SampleStream/ordered(_:)``), so that the samples of
/// a row are read back from left to right.
struct TraceColumns {
    /// The place of each stream; its columns are the three from 3 · place on.
    let places: [Int]
    /// The sensor name, unique and readable by ``ColumnName``, and the kind of each place.
    let contents: [(sensor: String, kind: SampleKind)]
    /// The header line of a CSV file, without its end.
    let header: String

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
            let quantity = Quantity.of(content.kind)
            let unit = quantity.usual.option.map { $0 == "/" ? "_" : String($0) }.joined()
            for axis in ["x", "y", "z"] { header += ",\(content.sensor).\(quantity.letter)\(axis)_\(unit)" }
        }
    }
}

/// Makes sensor names that a header can hold and a reader recovers unchanged.
enum SensorName {
    /// Longer names are truncated: a header has each name three times, and a line has a maximum length.
    private static let mostScalars = 64

    /// Replaces characters that a header or a terminal cannot hold; returns `fallback` when nothing remains.
    static func sanitised(_ name: String, fallback: String) -> String {
        let cleaned = clean(name) { isPlain($0) || isLetter($0) }
        let column = ColumnName(cleaned + ".ax_m_s2")
        // Some letters combine with the following character, even with the dot.
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
