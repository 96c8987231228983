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
