import ArrowStream
import Binnacle
import PlainText

/// The stream of samples of one sensor number in an Arrow stream.
struct ArrowSensor {
    /// Its number in the column `sensor`.
    let number: UInt8
    let content: TraceFile.Content
    /// The factor that makes the values m/s², µT or rad/s.
    let factor: Double

    /// Assumptions: what the metadata lacks, or what the values contradict.
    let notices: [String]

    /// Reads the schema's metadata of a sensor number; the first vectors, `nil` if not needed, decide what the metadata leaves
    /// open.
    init(
        _ number: UInt8, metadata: [String: String], hints: TraceHints, values: VectorStatistics? = nil
    ) throws(ArrowFault) {
        self.number = number
        let assumedKind = hints.assumedKind ?? values.flatMap(Self.kind)
        func value(_ key: ArrowKeys.SensorKey) -> String? { metadata[ArrowKeys.sensor(Int(number), key)] }
        let kindName = value(.kind)
        let kind = kindName.map { SampleKind(rawValue: $0) } ?? (assumedKind ?? .accelerometer)
        guard let kind else {
            throw ArrowFault(
                "sensor \(number): '\((kindName ?? "").prefix(60).printable)' is no kind of sensor that is known "
                    + "(\(SampleKind.allCases.map(\.rawValue).joined(separator: ", ")))"
            )
        }
        // A configuration has no such names.
        let name = value(.name).flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
        content = TraceFile.Content(sensor: name ?? "sensor\(number)", kind: kind)
        let stated = try Self.factor(number, kind, unit: value(.unit), scale: value(.scale))
        let quantity = Quantity.of(kind)
        var found = quantity.usual
        if let values, value(.unit) == nil, value(.scale) == nil, case .unit(let index) = quantity.judge(values) {
            found = quantity.units[index]
        }
        let isRecorded = metadata[ArrowKeys.version] != nil
        let isNegative = kind == .accelerometer && hints.hasGravitySign(content.sensor, isRecorded: isRecorded)
        let sign: Double = isNegative ? -1 : 1
        factor = stated * found.unit.factor * sign
        var notices: [String] = []
        if values != nil, kindName == nil || found.option != quantity.usual.option {
            notices.append(
                "sensor \(number) is not described: taken as \(kind.withArticle) in \(found.name) "
                    + "(override with --bind SENSOR=FILE:KIND)")
        }
        if let values, values.isEnough, !quantity.possible.contains(values.medianMagnitude * factor.magnitude) {
            notices.append(
                "sensor \(number): the values do not look like \(quantity.measures): their median length is "
                    + "\(VectorStatistics.text(values.medianMagnitude * factor.magnitude)) \(quantity.usual.name)")
        }
        self.notices = notices
    }

    /// The only kind that the values fit; `nil` when there are several or none.
    private static func kind(_ values: VectorStatistics) -> SampleKind? {
        if case .unit = Quantity.of(.accelerometer).judge(values) { return .accelerometer }
        guard values.spread < 0.35, case .unit(0) = Quantity.of(.magnetometer).judge(values) else { return nil }
        return .magnetometer
    }

    /// The sensor numbers that the metadata describes, in ascending order.
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
            guard let known = TraceUnit(unit)?.meant(for: kind) else {
                throw ArrowFault("sensor \(number): '\(unit.prefix(60).printable)' is no unit of \(kind.rawValue)s")
            }
            factor = known.factor
        }
        guard let scale else { return factor }
        guard let multiple = Double(scale), multiple.isFinite, multiple != 0 else {
            throw ArrowFault("sensor \(number): '\(scale.prefix(60).printable)' is no scale")
        }
        return factor * multiple
    }
}

/// The metadata keys of recordings, in schemas and messages.
enum ArrowKeys {
    static let version = "binnacle.version"
    static let currentVersion = "1"
    /// The clock of the stamps.
    static let clock = "binnacle.clock"
    /// How far the wall clock was ahead of that clock when the recording began, in nanoseconds.
    static let wallAhead = "binnacle.wall_ahead_ns"
    /// The boot to which the stamps belong.
    static let boot = "binnacle.boot"
    /// In a message: the number of a group of batches within which the order of arrival is known.
    static let group = "binnacle.group"
    /// In a message: the layout of its batch's raw scans.
    static let scan = "binnacle.scan"

    enum SensorKey: String {
        case name, kind, unit, scale, device
    }

    private static let sensorPrefix = "binnacle.sensor."

    static func sensor(_ number: Int, _ key: SensorKey) -> String { "\(sensorPrefix)\(number).\(key.rawValue)" }

    /// The sensor number in a key; `nil` for any other key.
    static func sensorNumber(of key: String) -> UInt8? {
        guard key.hasPrefix(sensorPrefix) else { return nil }
        return UInt8(key.dropFirst(sensorPrefix.count).prefix { $0 != "." })
    }
}
