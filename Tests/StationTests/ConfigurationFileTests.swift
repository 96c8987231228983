import Binnacle
import BinnacleHeading
import Configuration
import Geomagnetism
import EventSocket
import Glibc
import Handlers
import MQTT
import LinuxSensors
import PlainText
import Station
import Store
import TableReading
import Testing

/// Files, among them the one that is shipped, and texts that mean harm.
@Suite struct ConfigurationFileTests {
    /// The repository's root, as seen from this file.
    static let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }
    static let shipped = root + "/config/binnacle.toml"

    @Test func theShippedFileIsAccepted() throws {
        let configuration = try Configuration.read(path: Self.shipped)
        #expect(configuration.sensors.map(\.name) == ["chassis", "compass"])
        #expect(configuration.sensors.map(\.source) == [.auto(DeviceMatch()), .auto(DeviceMatch())])
        #expect(configuration.motions.map(\.settings) == [MotionSettings()])
        #expect(configuration.norths.map(\.settings) == [NorthSettings()])
        #expect(configuration.handlers.map { $0.action as? LogAction } == [LogAction()])
        #expect(configuration.store == EventStoreSettings(path: EventStoreSettings.standardPath))
        #expect(configuration.socket == SocketSettings(path: SocketPath.forDaemon()))
    }

    /// What stands behind "# " in the shipped file is accepted, and is the default it claims to be.
    @Test func theShippedFileShowsTheDefaults() throws {
        let text = try #require(contents(Self.shipped))
        var isInArray = false
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.hasPrefix("# ") ? line.dropFirst(2) : ""
            let key = words.prefix { $0 == "_" || $0.isLetter }
            let isSetting = !key.isEmpty && words.dropFirst(key.count).hasPrefix(" = ")
            let kinds = [
                "handler", "attitude", "orientation", "hinge", "tap", "steps", "stationary", "vibration", "light",
                "proximity",
            ]
            let isSection =
                kinds.contains { words.hasPrefix("[\($0).") } && words.hasSuffix("]")
                || ["[position]", "[dbus]"].contains(words)
            lines.append(isSetting || isInArray || isSection ? words : line)
            if isSetting, words.hasSuffix("[") { isInArray = true }
            if words == "]" { isInArray = false }
        }
        // Beside the other handlers the one that is shipped would make way.
        let own = lines.joined(separator: "\n").replacing("default = true", with: "default = false")
        let configuration = try parse(own)
        // What detectors need of a sensor without a rate is no default.
        let settings = configuration.sensors.map { sensor in
            var settings = sensor.settings
            settings.neededRatesHz = [:]
            return settings
        }
        #expect(settings == [SensorSettings(), SensorSettings()])
        var motion = try #require(configuration.motions.first).settings
        #expect(motion.releaseG == MotionSettings().effectiveReleaseG)
        #expect(motion.rotationReleaseDegreesPerSecond == MotionSettings().effectiveRotationRelease)
        (motion.releaseG, motion.rotationReleaseDegreesPerSecond) = (nil, nil)
        #expect(motion == MotionSettings())
        var north = try #require(configuration.norths.first).settings
        #expect(north.exitDegrees == NorthSettings().effectiveExitDegrees)
        north.exitDegrees = nil
        #expect(north == NorthSettings())
        var screen = try #require(configuration.orientations.first).settings
        #expect(screen.frame == .desktop)
        // The daemon serves screens whose driver tells a wrong scale; the library takes samples as they are.
        #expect(screen.learnsLength)
        (screen.frame, screen.learnsLength) = (.device, false)
        #expect(screen == OrientationSettings())
        #expect(configuration.hinges.map(\.settings) == [HingeSettings()])
        #expect(configuration.attitudes.map(\.settings) == [AttitudeSettings()])
        let position = try #require(configuration.position)
        #expect(position.position.latitudeDegrees == 54.32 && position.position.altitudeMetres == 0)
        #expect(position.day == nil)
        #expect(
            configuration.handlers.map(\.name)
                == ["log", "lines", "phone", "fleet", "plotter", "boat", "history", "alarm"])
        #expect(
            configuration.handlers.map(\.detectors) == [["moved", "bow"], nil, nil, nil, ["bow"], ["hull"], nil, nil])
        #expect(configuration.handlers[0].action as? LogAction == LogAction())
        #expect(configuration.handlers[1].action is OutputAction)
        let broker = "mqtt = \"mqtts://broker.example:8883\"\n"
        let handlers = try parse("[handler.a]\non = [\"shake\"]\n" + broker).handlers
        let service = "http = \"https://ntfy.example/alarms\"\n"
        let posts = try parse("[handler.a]\non = [\"shake\"]\n" + service).handlers
        #expect((configuration.handlers[2].action as? HTTPAction) == posts[0].action as? HTTPAction)
        #expect(configuration.handlers[3].action as? MQTTAction == handlers[0].action as? MQTTAction)
        let plotters = try #require(configuration.handlers[4].action as? NMEAAction).settings
        #expect(plotters == NMEASettings(NavigationSettings(.udp, host: "192.168.1.255", port: 10110)))
        let boat = configuration.handlers[5].action as? SignalKAction
        #expect(boat?.settings == NavigationSettings(.udp, host: "127.0.0.1", port: 55557))
        #expect((configuration.handlers[6].action as? FileAction)?.path == "/var/log/binnacle/events.jsonl")
        #expect((configuration.handlers[7].action as? CommandAction)?.settings == CommandSettings())
        #expect(configuration.handlers.last?.decorators.count == 8)
        #expect(configuration.store == EventStoreSettings(path: "/var/lib/binnacle/events.db"))
        #expect(configuration.socket == SocketSettings(path: "/run/binnacle/binnacle.sock"))
    }

    /// Every key that the reader knows is in the shipped file.
    @Test func theShippedFileNamesEveryWord() throws {
        let text = try #require(contents(Self.shipped))
        // Not `contains`, which takes seconds where it is not compiled for speed.
        func isNamed(_ word: String) -> Bool { strstr(text, word) != nil }
        for placeholder in CommandPlaceholder.all { #expect(isNamed(placeholder.name), "\(placeholder.name)") }
        for model in SimulationSettings.Model.allCases { #expect(isNamed("\"\(model.rawValue)\"")) }
        for level in LogLevel.allCases { #expect(isNamed(level.name), "\(level.name)") }
        for kind in EventKind.allCases { #expect(isNamed(kind.rawValue), "\(kind.rawValue)") }
        // An unknown key's message lists those that are allowed.
        for section in [
            "sensor.a", "motion.a", "north.a", "attitude.a", "orientation.a", "hinge.a", "tap.a",
            "steps.a", "stationary.a", "light.a", "proximity.a",
            "handler.a",
            "position", "store", "socket",
        ] {
            let faults = problems("[\(section)]\nqqqqqqqq = 1\n").filter { $0.message.hasPrefix("unknown key") }
            let words = faults.compactMap(\.hint).flatMap { $0.split(separator: "`") }
            let keys = words.filter { $0.allSatisfy { $0 == "_" || $0.isLetter } }
            #expect(!keys.isEmpty)
            for key in keys { #expect(isNamed("\(key) = "), "\(section): \(key)") }
        }
    }

    @Test func theExampleOfTheManualIsAccepted() throws {
        let text = """
            [sensor.chassis]                      # one device; it may carry both kinds of channel
            source = "iio"                        # iio | evdev | trace | simulated
            match  = { name = "accel_3d" }

            [sensor.compass]
            source = "iio"
            match  = { name = "magn_3d" }

            [motion.moved]
            accelerometer = "chassis"
            threshold_g   = 0.05
            release_g     = 0.025
            quiet_s       = 1.0

            [north.bow]
            accelerometer = "chassis"
            magnetometer  = "compass"
            heading_axis  = "+y"
            bearing_deg   = 0
            tolerance_deg = 10

            [handler.alarm]
            on        = ["motion.began"]
            command   = ["/usr/local/bin/alarm", "{peak_g}"]
            decorate  = [{ rate_limit = { per_minute = 6 } }]
            """
        let configuration = try parse(text)
        #expect(configuration.sensors.count == 2 && configuration.motions.count == 1)
        #expect(configuration.norths.count == 1)
        #expect(configuration.handlers.map(\.decorators) == [[.rateLimit(perMinute: 6)]])
    }

    @Test(arguments: [
        ("/nonexistent/binnacle.toml", ConfigurationError.FileProblem.missing, "no such file"),
        ("", .missing, "no such file"),
        ("/etc/hostname/x", .missing, "no such file"),
        ("/proc", .nothing, "neither a binnacle.toml nor a conf.d/*.toml"),
        ("/dev/zero", .irregular, "a pipe or a device"),
    ])
    func filesThatCannotBeRead(path: String, problem: ConfigurationError.FileProblem, words: String) {
        let error = #expect(throws: ConfigurationError.self) { try Configuration.read(path: path) }
        #expect(error == .file(path: path, problem))
        #expect(error?.description.contains(words) == true)
        #expect(error?.diagnostics.isEmpty == true)
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func aFileOfSomebodyElse() throws {
        let path = "/tmp/binnacle-test-\(getpid()).toml"
        let descriptor = open(path, O_CREAT | O_WRONLY | O_EXCL, 0)
        try #require(descriptor >= 0)
        close(descriptor)
        defer { unlink(path) }
        #expect(throws: ConfigurationError.file(path: path, .forbidden)) { try Configuration.read(path: path) }
    }

    private func contents(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
