package import Binnacle
package import LinuxSensors
import PlainText
import TableReading

/// `[sensor.NAME]`: one device under the user's name.
package struct SensorSection: Sendable, Equatable {
    package let name: String
    package private(set) var source: Source
    package var settings = SensorSettings()
    package var calibration: SensorCalibration?
    /// Whether the user set a sampling rate; otherwise it follows from the detectors' needs.
    package private(set) var hasRate = false
    /// The kinds of samples that are read for clients of the socket, whether or not a detector needs them.
    package private(set) var samples: Set<SampleKind> = []
    /// Whether each device has its own calibration.
    package private(set) var namesDevice = false
    /// The device's identity, in a generated section.
    package private(set) var deviceID: String?

    package enum Source: Sendable, Equatable {
        /// Any device with the kinds that the detectors need.
        case auto(DeviceMatch)
        /// A device of the kernel's Industrial I/O subsystem.
        case iio(DeviceMatch)
        case evdev(DeviceMatch)
        /// A recording, and whether it loops.
        case trace(file: String, loops: Bool)
        case simulated(SimulationSettings)

        /// The conditions for a device, with its interface if that is fixed; `nil` for other sources.
        package var device: (interface: SensorDevice.Interface?, match: DeviceMatch)? {
            switch self {
            case .auto(let match): (nil, match)
            case .iio(let match): (.iio, match)
            case .evdev(let match): (.evdev, match)
            case .trace, .simulated: nil
            }
        }
    }

    /// The sampling rate that the user set or the model has, in Hz; `nil` where a recording has it, or the detectors' needs decide.
    var statedHz: Double? {
        if case .simulated(let model) = source { return model.rateHz }
        return hasRate ? settings.rateHz : nil
    }

    /// The time from one sample of a kind to the next, in seconds; `nil` where an input device or a recording decides it.
    func intervalSeconds(of kind: SampleKind) -> Double? {
        switch source {
        case .simulated(let model): return 1 / model.rateHz
        case .evdev, .trace: return nil
        case .auto, .iio:
            // The interval of single values is set for a device without a buffer.
            let isPolled = settings.isPolled || settings.updateInterval != SensorSettings().updateInterval
            return max(1 / settings.rateHz(for: [kind]), isPolled ? settings.updateInterval / .seconds(1) : 0)
        }
    }

    package init(name: String, source: Source, settings: SensorSettings = SensorSettings()) {
        self.settings = settings
        self.name = name
        self.source = source
    }

    package init(_ device: SensorDevice, name: String, settings: SensorSettings = SensorSettings()) {
        let source: Source = device.interface == .iio ? .iio(DeviceMatch()) : .evdev(DeviceMatch())
        self.init(name: name, source: source, settings: settings)
        deviceID = device.id
    }

    /// The axes of a device's samples, as a calibration states those in which it was made; `nil` for other sources.
    package func statedAxes(of kind: SampleKind) -> String? {
        guard source.device != nil else { return nil }
        var texts: [String] = []
        if kind == .gyroscope, let matrix = settings.gyroscopeMatrix {
            texts.append("gyroscope_matrix \(matrix)")
        } else if let matrix = settings.mountMatrix {
            texts.append("mount_matrix \(matrix)")
        }
        if kind == .accelerometer, settings.acceleration == .gravity { texts.append("acceleration gravity") }
        return texts.isEmpty ? "driver" : texts.joined(separator: ", ")
    }

    /// The sensor with another source: its samples are read for the same clients.
    package func playing(_ source: Source) -> SensorSection {
        var section = SensorSection(name: name, source: source)
        section.samples = samples
        return section
    }

    /// Excludes devices that are not in a screen, if no device is named.
    mutating func leaveOutForeignDevices() {
        guard case .auto(var match) = source, match.isEmpty else { return }
        match.isInScreen = true
        source = .auto(match)
    }

    private enum SourceWord: String, CaseIterable {
        case auto, iio, evdev, trace, simulated
    }

    init?(name: String, reading table: TableReader, calibratedFor device: CalibrationDevice) {
        let match = table.entry("match").flatMap { DeviceMatch(reading: $0.node, of: table) }
        let file = table.file("file", mayBeEntry: true)
        guard let sourceNode = table.required(Self.source),
            let word = table.choice(Self.source.name, sourceNode, as: SourceWord.self)
        else { return nil }
        Self.refuseForeignKeys(word, table)
        var settings = SensorSettings()
        table.read(SensorSettings.rows, into: &settings)
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
            case .trace: Self.trace(file, table)
            case .simulated: .simulated(Self.simulation(table, settings))
            }
        guard let source else { return nil }
        if word == .simulated {
            // The model has its rate.
            let latency = settings.latency
            settings = SensorSettings()
            settings.latency = latency
        }
        self.init(name: name, source: source, settings: settings)
        hasRate = table.entry(Self.rate) != nil
        samples = table.set(Self.samples, of: SampleKind.self) ?? []
        readCalibration(table, device)
    }

    private mutating func readCalibration(_ table: TableReader, _ device: CalibrationDevice) {
        let key = Self.calibration
        guard let (path, hasName) = device.path(key, of: table) else { return }
        namesDevice = hasName
        calibration = path.flatMap { SensorCalibration(key, $0, named: table) }
    }

    private static func refuseForeignKeys(_ word: SourceWord, _ table: TableReader) {
        for key in row.keys where !key.users.isEmpty && !key.users.contains(word.rawValue) {
            table.refuse(
                key.name, meaninglessFor: "source = \"\(word.rawValue)\"", with: [source.name],
                hint: "it is for " + Spelling.list(key.users.map { "`\($0)`" }))
        }
    }

    private static func trace(_ file: String?, _ table: TableReader) -> Source? {
        let loops = table.boolean("loop")
        guard let file, loops != nil || table.entry("loop") == nil else { return nil }
        return .trace(file: file, loops: loops ?? false)
    }

    private static func simulation(_ table: TableReader, _ sensor: SensorSettings) -> SimulationSettings {
        var settings = SimulationSettings.ofSection
        table.read(SimulationSettings.rows, into: &settings)
        settings.rateHz = table.entry(rate) == nil ? settings.model.rateHz : sensor.rateHz
        return settings
    }

    private static let source = Key(
        "source", .set("\"auto\""), purpose: "one of `auto`, `iio`, `evdev`, `trace`, `simulated`",
        """
        Where the samples come from.

          "auto"  whichever device offers what the detectors need of this section
          "iio"  a device of the kernel's Industrial I/O subsystem
          "evdev"  an input device
          "trace"  a recording
          "simulated"  a motion model, to try things out without a device

        A device plays one section, which may be named more than once in [north.NAME], for an accelerometer and a magnetometer \
        on one chip. A section that is wanted for its magnetometer alone, names no device, and finds none left is read from the \
        one that another section has, if that has a magnetometer, unless it has a mount_matrix, a trigger or polling of its own.
        """)

    static let rate = "rate_hz"
    static let samples = "samples"
    static let calibration = "calibration"

    static let row = SectionRow(
        "sensor.NAME", shown: "sensor.chassis",
        "One device. It may carry an accelerometer, a magnetometer, a gyroscope, or several of them.",
        keys: [
            source,
            Key(
                calibration, .example("\"chassis.calibration.toml\""),
                """
                A file written by \"binnacle calibrate\". It is applied to every sample. A path that does not begin \
                with / is relative to the folder of the file that has it. {device} in it is the machine's name, without its \
                domain, and in a replay the NAME of the folder device=NAME in the recording's path, so that one file serves \
                a fleet.
                """),
            Key(
                "match", .example("{ name = \"accel_3d\" }"), for: ["auto", "iio", "evdev"],
                """
                Which device it is; required for "iio" and "evdev". Every key that is given has to match; \"binnacle devices\" \
                shows it.

                \(DeviceMatch.lines)
                """),
            Key(
                samples, .example("[\"accelerometer\", \"gyroscope\"]"), for: ["auto", "iio", "evdev", "simulated"],
                """
                What is read of it for the programs at the [socket], such as \"binnacle samples\" and \"binnacle serve\", also where no \
                detector needs it: \(SampleKind.allCases.map { JSONObject.quoted($0.rawValue) }.joined(separator: ", ")). Without this \
                key they get what the detectors need.
                """),
        ] + SensorSettings.rows.map { $0.key(SensorSettings()) } + [
            Key(
                "file", .example("\"/var/lib/binnacle/day.csv\""), for: ["trace"],
                "The recording; required. A path that does not begin with / is relative to the folder of the file that has it."
            ),
            Key(
                "loop", .example("true"), usual: "false", for: ["trace"],
                """
                true plays the recording again from its beginning. All recordings play on one timeline, so it is the same in \
                all sections.
                """),
        ] + SimulationSettings.rows.map { $0.key(.ofSection) } + [SectionSwitch.enabled],
        also: "[sensor.compass]\nsource = \"auto\"")
}

extension SimulationSettings {
    /// A moving model, so that there are events.
    fileprivate static var ofSection: SimulationSettings {
        var settings = SimulationSettings()
        settings.model = .walk
        return settings
    }

    fileprivate static let rows: [SettingRow<SimulationSettings>] = [
        SettingRow(
            "model", \.model, .choice, shown: .example("\"turn\""), for: ["simulated"],
            "How it moves: \(SimulationSettings.Model.allCases.map { JSONObject.quoted($0.rawValue) }.joined(separator: ", "))."
        ),
        SettingRow(
            "seed", \.seed, .integer(in: 0...Int.max), shown: .example("2"), for: ["simulated"],
            "The same seed gives the same noise."),
    ]
}

extension SensorSettings {
    fileprivate static let rows: [SettingRow<SensorSettings>] = [
        SettingRow(
            SensorSection.rate, \.rateHz,
            // At a lower rate every sample would follow a gap.
            .number.limited("from 2 to 100000") {
                (2...100_000).contains($0)
            } _: {
                "(\($0)) is not between 2 and 100000"
            }, usual: "what the detectors need, and 100 of a model", shown: .example("200"),
            for: ["auto", "iio", "simulated"],
            """
            Samples a second. A device takes the nearest rate that it has. Without this key a device gets the lowest rate on its list \
            that suffices for the detectors, or else its highest. They need 400 for taps (200 by a chip), 100 for shakes, shocks, free \
            falls and gyroscopes, 50 for motions alone, for an attitude and for the accelerometer beside a gyroscope, 25 for the \
            compass, steps and rest, 10 for a screen or a hinge, and for vibration 2.56 times the highest to_hz; the highest of them \
            counts. A model gives 100, and that of taps 400.
            """),
        SettingRow(
            "latency_s", \.latency, .seconds(in: 0...1), for: ["auto", "iio", "simulated"],
            """
            The longest time that a sample of a device or a model waits until it is read, so that one wake-up serves many. 0 reads \
            every sample at once, for what cannot wait, and costs a wake-up for each. It delays events and changes nothing \
            else about them. Sensors are read at the same moments. A device that gives no time stamps is read within 0.01 s.
            """),
        SettingRow(
            "rest_latency_s", \.restLatency, .seconds(in: 0...10), usual: "latency_s", shown: .example("1"),
            for: ["auto", "iio"],
            idle: { $0.isPolled ? "with polling = true" : $0.latency == .zero ? "with latency_s = 0" : nil },
            """
            latency_s after 2 s in which the acceleration stayed within 0.025 g: a device that lies wakes the program less often, \
            and the first event of a movement comes that much later, with the stamps that it has anyway. It counts for the buffer \
            of an accelerometer, if its latency_s is not 0.
            """),
        SettingRow(
            "update_interval_s", \.updateInterval,
            .positiveSeconds.limited("at most 0.5") {
                $0 <= .milliseconds(500)
            } _: { _ in
                "is longer than 0.5 s: detection would start again at every sample"
            }, for: ["auto", "iio"],
            "The interval between readings of single values, where the device has no usable buffer."),
        SettingRow(
            "polling", \.isPolled, .boolean, for: ["auto", "iio"],
            "true reads single values although the device has a buffer."),
        SettingRow(
            "trigger", \.trigger, .text, shown: .example("\"timer0\""), for: ["auto", "iio"],
            idle: { $0.isPolled ? "with polling = true" : nil },
            "The trigger that makes an IIO device take samples, instead of its own or the one that is set."),
        SettingRow(
            "acceleration", \.acceleration, .choice, for: ["auto", "iio", "evdev", "trace"],
            """
            With "specific_force" the axis that points up reads +9.81 m/s² at rest, as the kernel documents it; with \
            "gravity" the one that points down does, as many laptops and recordings made on iOS have it. \"binnacle doctor --guide\" finds out which \
            a device has. A recording that plays in a device's place has the device's sign, unless \"binnacle record\" made it.
            """),
        SettingRow(
            "mount_matrix", \.mountMatrix, shown: .example("\"0, 1, 0; 1, 0, 0; 0, 0, -1\""),
            for: ["auto", "iio", "evdev"],
            """
            From the sensor's axes to the device's (x right, y top, z out of the screen), instead of what the kernel or \
            udev's hardware database says. A gyroscope's rates are turned by it as rates: a matrix with determinant -1 \
            reverses them.
            """
        ) { table, key, settings in
            if let matrix = MountMatrix(reading: key, of: table) { settings.mountMatrix = matrix }
        },
        SettingRow(
            "gyroscope_matrix", \.gyroscopeMatrix, shown: .example("\"1, 0, 0; 0, 1, 0; 0, 0, -1\""),
            for: ["auto", "iio", "evdev"],
            """
            From the gyroscope's axes to the device's, applied as it stands, instead of the mount matrix: for a gyroscope \
            with a reversed axis, which \"binnacle doctor --guide\" finds, or with a wrong scale.
            """
        ) { table, key, settings in
            if let matrix = MountMatrix(reading: key, of: table) { settings.gyroscopeMatrix = matrix }
        },
    ]
}

extension MountMatrix {
    fileprivate init?(reading key: String, of table: TableReader) {
        guard let text = table.string(key) else { return nil }
        do throws(MountMatrix.Flaw) {
            self = try MountMatrix(text)
        } catch {
            switch error {
            case .shape:
                table.refuse(key, "has to be three rows of three numbers, as in \"1, 0, 0; 0, 1, 0; 0, 0, 1\"")
            case .singular: table.refuse(key, "has determinant 0: two axes would become one")
            }
            return nil
        }
    }
}

/// A key of `match` that is compared with one text of a device.
private struct MatchRow: Sendable {
    let name: String
    let text: String
    let take: @Sendable (inout DeviceMatch, String?) -> Void
}

extension DeviceMatch {
    private static let rows = [
        MatchRow(name: "name", text: "the device's name, as its driver gives it") { $0.name = $1 },
        MatchRow(name: "label", text: "the device's label, from the firmware or a udev rule") { $0.label = $1 },
        MatchRow(name: "location", text: "where the sensor sits, such as \"display\" or \"base\"") { $0.location = $1 },
        MatchRow(name: "path", text: "the device's path") { $0.path = $1 },
    ]
    /// The key for udev properties, whose names are arbitrary.
    private static let property = (name: "property", text: "udev properties, such as { ID_BUS = \"usb\" }")

    /// Documentation of the keys, one line each.
    fileprivate static var lines: String {
        (rows.map { "  \($0.name)  \($0.text)" } + ["  \(property.name)  \(property.text)"]).joined(separator: "\n")
    }

    fileprivate init?(reading node: TOMLNode, of section: TableReader) {
        let names = Self.rows.map(\.name) + [Self.property.name]
        guard let table = section.table("match", node, title: "match", allowed: names) else { return nil }
        self.init()
        for row in Self.rows { row.take(&self, table.string(row.name)) }
        if let entry = table.entry(Self.property.name) {
            guard let entries = table.entries(Self.property.name, entry.node, of: "udev properties") else { return nil }
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
