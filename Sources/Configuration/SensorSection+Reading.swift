import Binnacle
import LinuxSensors
import PlainText
import TableReading

extension SensorSection {
    /// The section's keys.
    static let keys = ["source", "calibration"] + keyUsers.map(\.key)

    /// The words for ``Source``.
    private enum SourceWord: String, CaseIterable {
        case auto, iio, evdev, trace, simulated
    }

    /// Which key means something for which sources.
    ///
    /// An input device has its own rate, and no other way of being read; what is chosen by itself may turn out to be a
    /// device of either kind.
    private static let keyUsers: [(key: String, users: [SourceWord])] = [
        ("match", [.auto, .iio, .evdev]), ("rate_hz", [.auto, .iio, .simulated]), ("update_interval_s", [.auto, .iio]),
        ("polling", [.auto, .iio]), ("trigger", [.auto, .iio]), ("acceleration", [.auto, .iio, .evdev]),
        ("mount_matrix", [.auto, .iio, .evdev]), ("file", [.trace]), ("loop", [.trace]), ("model", [.simulated]),
        ("seed", [.simulated]),
    ]

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - name: The section's name.
    ///   - table: Its keys.
    ///   - folder: What a recording's path is relative to: nothing, or a path that ends with a slash.
    init?(name: String, reading table: TableReader, folder: String) {
        let match = table.entry("match").flatMap { DeviceMatch(reading: $0.node, of: table) }
        let file = table.string("file")
        guard let sourceNode = table.required("source", "one of `auto`, `iio`, `evdev`, `trace`, `simulated`"),
            let word = table.choice("source", sourceNode, as: SourceWord.self)
        else { return nil }
        Self.refuseForeignKeys(word, table)
        let settings = SensorSettings(reading: table)
        switch word {
        case .iio, .evdev:
            table.require(
                "match", "it says which device is meant, such as match = { name = \"accel_3d\" }", for: "source")
        case .trace:
            table.require("file", "it names the recording", for: "source")
        case .auto, .simulated: break
        }

        let source: Source? =
            switch word {
            case .auto: table.entry("match") == nil ? .auto(DeviceMatch()) : match.map(Source.auto)
            case .iio: match.map(Source.iio)
            case .evdev: match.map(Source.evdev)
            case .trace: Self.trace(file, table, folder: folder)
            case .simulated: .simulated(SimulationSettings(reading: table, rateHz: settings.rateHz))
            }
        guard let source else { return nil }
        self.init(name: name, source: source, settings: word == .simulated ? SensorSettings() : settings)
        calibration = SensorCalibration(named: table, folder: folder)
    }

    private static func refuseForeignKeys(_ word: SourceWord, _ table: TableReader) {
        for (key, users) in keyUsers where !users.contains(word) {
            guard let entry = table.entry(key) else { continue }
            table.refuse(
                key, at: entry.keyPosition, with: ["source"],
                "`\(key)` has no meaning for source = \"\(word.rawValue)\"",
                hint: "it is for " + Spelling.list(users.map { "`\($0.rawValue)`" }))
        }
    }

    private static func trace(_ file: String?, _ table: TableReader, folder: String) -> Source? {
        let loops = table.boolean("loop")
        guard let file, loops != nil || table.entry("loop") == nil else { return nil }
        return .trace(file: file.hasPrefix("/") ? file : folder + file, loops: loops ?? false)
    }
}
