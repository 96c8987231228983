import LinuxSensors

extension SensorSection {
    /// The keys that say how a device is read.
    private static let deviceKeys = [
        "rate_hz", "update_interval_s", "polling", "trigger", "acceleration", "mount_matrix",
    ]
    /// The section's keys.
    static let keys = ["source", "match", "file"] + deviceKeys

    /// The words for ``Source``.
    private enum SourceWord: String, CaseIterable {
        case iio, evdev, trace, simulated
    }

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    init?(name: String, reading table: TableReader) {
        let match = table.entry("match").flatMap { DeviceMatch(reading: $0.node, of: table) }
        let file = table.string("file")
        guard let sourceNode = table.required("source", "one of `iio`, `evdev`, `trace`, `simulated`"),
            let word = table.choice("source", sourceNode, as: SourceWord.self)
        else { return nil }

        let isDevice = word == .iio || word == .evdev
        if !isDevice {
            for key in ["match"] + Self.deviceKeys { Self.refuse(key, for: "`iio` and `evdev`", word, table) }
        }
        if word == .evdev {
            // An input device has its own rate, and no other way of being read.
            for key in ["rate_hz", "update_interval_s", "polling", "trigger"] {
                Self.refuse(key, for: "`iio`", word, table)
            }
        }
        let settings = SensorSettings(reading: table)
        if word != .trace { Self.refuse("file", for: "`trace`", word, table) }
        if isDevice, table.entry("match") == nil {
            table.report(missing: "match", "it says which device is meant, such as match = { name = \"accel_3d\" }")
        }
        if word == .trace, table.entry("file") == nil {
            table.report(missing: "file", "it names the recording")
        }

        let source: Source? =
            switch word {
            case .iio: match.map(Source.iio)
            case .evdev: match.map(Source.evdev)
            case .trace: file.map(Source.trace)
            case .simulated: .simulated
            }
        guard let source else { return nil }
        self.init(name: name, source: source, settings: settings)
    }

    private static func refuse(_ key: String, for users: String, _ word: SourceWord, _ table: TableReader) {
        guard let entry = table.entry(key) else { return }
        table.refuse(
            key, at: entry.keyPosition, "`\(key)` has no meaning for source = \"\(word.rawValue)\"",
            hint: "it is for \(users)")
    }
}

extension SensorSettings {
    /// Reads what a section says of reading its device; what is wrong is reported.
    fileprivate init(reading table: TableReader) {
        self.init()
        if let rate = table.double("rate_hz") {
            // Slower, and every sample would come after a gap.
            if (2...100_000).contains(rate) {
                rateHz = rate
            } else {
                table.refuse("rate_hz", "(\(rate)) is not between 2 and 100000")
            }
        }
        if let interval = table.positiveSeconds("update_interval_s") {
            if interval <= .milliseconds(500) {
                updateInterval = interval
            } else {
                table.refuse("update_interval_s", "is longer than 0.5 s: detection would start anew at every sample")
            }
        }
        trigger = table.string("trigger")
        isPolled = table.boolean("polling") ?? isPolled
        if let entry = table.entry("acceleration"),
            let choice = table.choice("acceleration", entry.node, as: Acceleration.self)
        {
            acceleration = choice
        }
        guard let text = table.string("mount_matrix") else { return }
        do throws(MountMatrix.Flaw) {
            mountMatrix = try MountMatrix(text)
        } catch {
            switch error {
            case .shape:
                table.refuse(
                    "mount_matrix", "has to be three rows of three numbers, as in \"1, 0, 0; 0, 1, 0; 0, 0, 1\"")
            case .singular: table.refuse("mount_matrix", "has determinant 0: two axes would become one")
            }
        }
    }
}

extension DeviceMatch {
    /// The table's keys.
    static let keys = ["name", "label", "location", "path", "property"]

    /// Reads a match; `nil` when it cannot be used, which is then reported.
    fileprivate init?(reading node: TOMLNode, of section: TableReader) {
        guard let table = section.table("match", node, title: "match", allowed: Self.keys) else { return nil }
        self.init()
        name = table.string("name")
        label = table.string("label")
        location = table.string("location")
        path = table.string("path")
        if let entry = table.entry("property") {
            guard let entries = table.entries("property", entry.node, of: "udev properties") else { return nil }
            for property in entries {
                properties[property.key] = table.string(property.key, property.node, mayBeEmpty: true)
            }
        }
        guard isEmpty else { return }
        if table.hasOnlyEmptyTables {
            section.refuse(
                "match", at: node.position, "`match` is empty: any device would do", hint: "name at least one key")
        }
        return nil
    }
}
