import Binnacle
import PlainText

/// What a sensor number of an Arrow stream stands for: one stream of samples.
struct ArrowSensor {
    /// Its number, as the column `sensor` has it.
    let number: UInt8
    let content: TraceFile.Content
    /// The factor that makes the values m/s² or µT.
    let factor: Double

    /// Reads what the metadata says of a sensor number.
    ///
    /// - Parameters:
    ///   - number: The sensor's number.
    ///   - metadata: That of the schema.
    ///   - assumedKind: What it measures when the metadata does not say it.
    /// - Throws: What is wrong, in words.
    init(_ number: UInt8, metadata: [String: String], assumedKind: SampleKind?) throws(ArrowFault) {
        self.number = number
        func value(_ key: ArrowKeys.SensorKey) -> String? { metadata[ArrowKeys.sensor(Int(number), key)] }
        let kindName = value(.kind)
        let kind = kindName.map { SampleKind(rawValue: $0) } ?? (assumedKind ?? .accelerometer)
        guard let kind else {
            throw ArrowFault(
                "sensor \(number): '\((kindName ?? "").printable)' is no kind of sensor that is known (accelerometer, magnetometer)"
            )
        }
        content = TraceFile.Content(sensor: value(.name) ?? "sensor\(number)", kind: kind)
        factor = try Self.factor(number, kind, unit: value(.unit), scale: value(.scale))
    }

    /// The sensor numbers of which the metadata says anything, rising.
    static func described(in metadata: [String: String]) -> [UInt8] {
        var numbers = SensorSet()
        for key in metadata.keys {
            if let number = ArrowKeys.sensorNumber(of: key) { numbers.insert(number) }
        }
        return numbers.numbers
    }

    private static func factor(
        _ number: UInt8, _ kind: SampleKind, unit: String?, scale: String?
    ) throws(ArrowFault) -> Double {
        var factor = 1.0
        if let unit {
            switch TraceUnit(unit)?.meant(for: kind) {
            case .acceleration(let known), .field(let known): factor = known
            default: throw ArrowFault("sensor \(number): '\(unit.printable)' is no unit of \(kind.rawValue)s")
            }
        }
        guard let scale else { return factor }
        guard let multiple = Double(scale), multiple.isFinite, multiple != 0 else {
            throw ArrowFault("sensor \(number): '\(scale.printable)' is no scale")
        }
        return factor * multiple
    }
}

/// The keys of what a recording says about itself in the metadata of its schema and its messages.
enum ArrowKeys {
    /// The version of these keys.
    static let version = "binnacle.version"
    static let currentVersion = "1"
    /// The clock of the stamps.
    static let clock = "binnacle.clock"
    /// In a message: a number that is the same for all batches that were in order when they were recorded.
    static let group = "binnacle.group"
    /// In a message: how the raw scans of its batch are laid out.
    static let scan = "binnacle.scan"

    /// What is said about one sensor number.
    enum SensorKey: String {
        case name, kind, unit, scale, device
    }

    private static let sensorPrefix = "binnacle.sensor."

    static func sensor(_ number: Int, _ key: SensorKey) -> String { "\(sensorPrefix)\(number).\(key.rawValue)" }

    /// The number of the sensor that a key says something of; `nil` when it is another key.
    static func sensorNumber(of key: String) -> UInt8? {
        guard key.hasPrefix(sensorPrefix) else { return nil }
        return UInt8(key.dropFirst(sensorPrefix.count).prefix { $0 != "." })
    }
}
