import Binnacle
import BinnacleHeading
import Configuration
import Foundation
import Handlers
import LinuxSensors
import PlainText
import Station
import TableReading
import Testing

/// What a correct text becomes.
@Suite struct ConfigurationTests {
    @Test func nothingIsAConfiguration() throws {
        #expect(try parse("") == Configuration())
        #expect(try parse("# a comment\n[sensor]\n") == Configuration())
        #expect(try Configuration.parse([0xEF, 0xBB, 0xBF], path: "bom.toml") == Configuration())
    }

    @Test func sensorsOfEverySource() throws {
        let text = """
            [sensor.zulu]
            source = "iio"
            match = { name = "accel_3d", label = "a", location = "base", path = "/dev/x", property = { ID_BUS = "" } }
            [sensor.alpha]
            source = "evdev"
            [sensor.alpha.match]
            property.ID_INPUT_ACCELEROMETER = "1"
            [sensor.mike]
            source = "trace"
            file = "day.csv"
            [sensor.bravo]
            source = "simulated"
            [sensor.yankee]
            source = "simulated"
            model = "drop"
            seed = 9223372036854775807
            rate_hz = 50
            [sensor.lima]
            source = "auto"
            [sensor.papa]
            source = "auto"
            match = { location = "base" }
            rate_hz = 50
            """
        let sensors = try parse(text).sensors
        var first = DeviceMatch()
        (first.name, first.label, first.location, first.path) = ("accel_3d", "a", "base", "/dev/x")
        first.properties = ["ID_BUS": ""]
        var second = DeviceMatch()
        second.properties = ["ID_INPUT_ACCELEROMETER": "1"]
        #expect(
            sensors.map(\.name) == ["zulu", "alpha", "mike", "bravo", "yankee", "lima", "papa"],
            "in the order of the file")
        var walk = SimulationSettings()
        walk.model = .walk
        var drop = SimulationSettings()
        (drop.model, drop.seed, drop.rateHz) = (.drop, UInt64(Int64.max), 50)
        var base = DeviceMatch()
        base.location = "base"
        #expect(
            sensors.map(\.source) == [
                .iio(first), .evdev(second),
                .trace(file: FileManager.default.currentDirectoryPath + "/day.csv", loops: false), .simulated(walk),
                .simulated(drop),
                .auto(DeviceMatch()), .auto(base),
            ])
        #expect(walk.seed == 1 && walk.rateHz == 100)
        #expect(sensors.map(\.settings.rateHz) == [100, 100, 100, 100, 100, 100, 50], "a model's rate is the model's")
    }

    @Test func howADeviceIsReadStandsInItsSection() throws {
        let text = """
            [sensor.a]
            source = "iio"
            match = { name = "accel_3d" }
            rate_hz = 50
            update_interval_s = 0.25
            polling = true
            trigger = "timer0"
            acceleration = "gravity"
            mount_matrix = "0, 1, 0; 1, 0, 0; 0, 0, -1"
            [sensor.b]
            source = "evdev"
            match = { name = "tablet" }
            acceleration = "specific_force"
            """
        let sensors = try parse(text).sensors
        var settings = SensorSettings()
        settings.rateHz = 50
        settings.updateInterval = .milliseconds(250)
        settings.isPolled = true
        settings.trigger = "timer0"
        settings.acceleration = .gravity
        settings.mountMatrix = try MountMatrix([0, 1, 0, 1, 0, 0, 0, 0, -1])
        #expect(sensors.map(\.settings) == [settings, SensorSettings()])
    }

    @Test(
        arguments: [
            ("iio", "rate_hz = 0", "rate_hz (0.0) is not between"), ("iio", "rate_hz = \"fast\"", "expected a number"),
            ("iio", "polling = 1", "expected true or false"), ("iio", "acceleration = \"up\"", "gravity"),
            ("iio", "mount_matrix = \"1, 0\"", "three rows of three numbers"),
            ("iio", "mount_matrix = \"1,0,0;1,0,0;0,0,1\"", "determinant 0"),
            ("iio", "update_interval_s = 0", "longer than 0 s"),
            ("iio", "update_interval_s = 0.6", "longer than 0.5 s"), ("evdev", "rate_hz = 10", "no meaning for source"),
            ("evdev", "polling = true", "no meaning for source"),
        ] as [(String, String, String)])
    func whatCannotBeReadSoIsRefused(source: String, line: String, message: String) {
        let text = "[sensor.a]\nsource = \"\(source)\"\nmatch = { name = \"x\" }\n\(line)\n"
        #expect { try parse(text) } throws: { "\($0)".contains(message) && "\($0)".contains(":4:") }
    }

    @Test func sectionsWithoutSettingsHaveTheDefaults() throws {
        let motion = try parse(ConfigurationFaultTests.motion)
        #expect(motion.motions.map(\.settings) == [MotionSettings()])
        #expect(motion.motions.map(\.accelerometer) == ["chassis"])
        let north = try parse(ConfigurationFaultTests.north)
        #expect(north.norths.map(\.settings) == [NorthSettings()])
    }

    @Test func everyMotionKey() throws {
        let text =
            ConfigurationFaultTests.motion + """
                detect = ["shock", "free_fall", "rotation"]
                measure = "linear_acceleration"
                threshold_g = 1
                release_g = 0.75
                min_duration_s = 0.001
                quiet_s = 2
                shake_g = 3
                shake_refractory_s = 0.25
                free_fall_g = 0.5
                free_fall_s = 0.3
                shock_g = 4
                shock_refractory_s = 0
                rotation_dps = 45
                rotation_release_dps = 10
                gravity_s = 0.7
                gap_s = 1e9
                update_interval_s = 0.1
                """
        var expected = MotionSettings()
        expected.features = [.shock, .freeFall, .rotation]
        expected.measure = .linearAcceleration
        (expected.rotationDegreesPerSecond, expected.rotationReleaseDegreesPerSecond) = (45, 10)
        (expected.thresholdG, expected.releaseG) = (1, 0.75)
        (expected.minimumDuration, expected.quiet) = (.milliseconds(1), .seconds(2))
        (expected.shakeG, expected.shakeRefractory) = (3, .milliseconds(250))
        (expected.freeFallG, expected.freeFallDuration) = (0.5, .milliseconds(300))
        (expected.shockG, expected.shockRefractory) = (4, .zero)
        (expected.gravityTimeConstant, expected.gapLimit) = (.milliseconds(700), .seconds(1_000_000_000))
        #expect(try parse(text).motions.map(\.settings) == [expected])
    }

    @Test func everyNorthKey() throws {
        let text =
            ConfigurationFaultTests.north + """
                heading_axis = "-z"
                upright_axis = "none"
                bearing_deg = 270
                tolerance_deg = 20.5
                exit_deg = 45
                dwell_s = 1
                smoothing_s = 0
                max_age_s = 0.2
                heading_filter_deg = 5
                field_range_uT = [1, 2.5]
                min_horizontal_uT = 0
                min_acceleration_g = 0.3
                gate_acceleration_g = 0.1
                gate_dip_deg = 4
                accuracy_limit_deg = 30
                hold_s = 8
                interference_percent = 25
                calibration_after_s = 60
                sectors = [
                    { name = "east", from_deg = 80, to_deg = 100 },
                    { name = "home", from_deg = 350, to_deg = 10.5, margin_deg = 5 },
                ]
                gap_s = 2
                update_interval_s = 0.5
                """
        var expected = NorthSettings()
        (expected.accelerationGateG, expected.dipGateDegrees) = (0.1, 4)
        (expected.accuracyLimitDegrees, expected.holdTime) = (30, .seconds(8))
        (expected.interferencePercent, expected.calibrationDelay) = (25, .seconds(60))
        expected.sectors = [
            HeadingSector(name: "east", fromDegrees: 80, toDegrees: 100),
            HeadingSector(name: "home", fromDegrees: 350, toDegrees: 10.5, marginDegrees: 5),
        ]
        (expected.headingAxis, expected.uprightAxis) = (.minusZ, nil)
        (expected.bearingDegrees, expected.toleranceDegrees, expected.exitDegrees) = (270, 20.5, 45)
        (expected.dwell, expected.smoothing) = (.seconds(1), .zero)
        (expected.maximumMagnetometerAge, expected.headingFilterDegrees) = (.milliseconds(200), 5)
        (expected.plausibleFieldMicrotesla, expected.minimumHorizontalFieldMicrotesla) = (1...2.5, 0)
        (expected.minimumAccelerationG, expected.gapLimit) = (0.3, .seconds(2))
        expected.updateInterval = .milliseconds(500)
        #expect(try parse(text).norths.map(\.settings) == [expected])

        let anyField = ConfigurationFaultTests.north + "field_range_uT = false\n"
        #expect(try parse(anyField).norths.map(\.settings.plausibleFieldMicrotesla) == [nil])

        let anything = try parse(
            ConfigurationFaultTests.north
                + "gate_acceleration_g = false\ngate_dip_deg = false\naccuracy_limit_deg = false\n"
                + "interference_percent = false\n"
        ).norths.map(\.settings)
        #expect(anything.map(\.accelerationGateG) == [nil] && anything.map(\.dipGateDegrees) == [nil])
        #expect(anything.map(\.accuracyLimitDegrees) == [nil] && anything.map(\.interferencePercent) == [nil])
    }

    @Test func referencesMayPointForward() throws {
        let text = """
            [handler.log]
            on = ["gap"]
            detector = ["n", "m"]
            log = true
            [north.n]
            accelerometer = "both"
            magnetometer = "both"
            [motion.m]
            accelerometer = "both"
            [sensor.both]
            source = "simulated"
            """
        let configuration = try parse(text)
        #expect(configuration.handlers.map(\.detectors) == [["n", "m"]])
    }

    @Test func handlersAndTheirDecorators() throws {
        let text =
            ConfigurationFaultTests.handler + """
                command = ["/bin/echo", "", "{{{kind}}}", "a{peak_g}b{seq}"]
                decorate = [
                    { count = { every = 10 } },
                    { debounce = { for_s = 2 } },
                    { rate_limit = { per_minute = 6 } },
                    { pace = { interval_s = 0.5 } },
                    { quiet_hours = { from = "22:00", to = "07:05" } },
                    { quorum = { count = 2, window_s = 0.5 } },
                    { coalesce = { window_s = 5 } },
                    { debounce = { for_s = 1 } },
                ]
                [handler.aaa]
                on = ["heading", "quorum.reached"]
                log = true
                """
        let handlers = try parse(text).handlers
        try #require(handlers.map(\.name) == ["alarm", "aaa"])
        #expect(
            handlers[0].decorators == [
                .count(every: 10), .debounce(.seconds(2)), .rateLimit(perMinute: 6), .pace(.milliseconds(500)),
                .quietHours(startMinute: 1320, endMinute: 425), .quorum(count: 2, window: .milliseconds(500)),
                .coalesce(.seconds(5)), .debounce(.seconds(1)),
            ])
        #expect(handlers[0].kinds == [.shake])
        #expect(handlers[0].detectors == nil)
        #expect(
            handlers[0].action as? CommandAction
                == CommandAction(
                    CommandTemplate(
                        program: "/bin/echo",
                        arguments: [
                            CommandTemplate.Argument([]),
                            CommandTemplate.Argument([.text("{"), .placeholder(.kind), .text("}")]),
                            CommandTemplate.Argument([
                                .text("a"), .placeholder(.figure(.peak)), .text("b"), .placeholder(.sequence),
                            ]),
                        ])))
        #expect(handlers[1].action as? LogAction == LogAction())
        #expect(handlers[1].kinds == [.heading, .quorumReached])
        #expect(handlers[1].decorators.isEmpty)
    }

    @Test func numbersMayBeWrittenAsIntegers() throws {
        let whole = try parse(ConfigurationFaultTests.motion + "threshold_g = 2\nquiet_s = 3\n")
        let broken = try parse(ConfigurationFaultTests.motion + "threshold_g = 2.0\nquiet_s = 3.0\n")
        #expect(whole == broken)
    }

    @Test(arguments: CommandPlaceholder.all)
    func everyPlaceholderIsAccepted(_ placeholder: CommandPlaceholder) throws {
        let argument = try CommandTemplate.Argument(parsing: "{\(placeholder.name)}")
        #expect(argument.pieces == [.placeholder(placeholder)])
    }

    @Test func whatTellsOfHandlersIsNoPlaceholder() {
        for name in ["program", "for_seq", "status", "signal", "attempt", "retry_s", "output"] {
            #expect(Figure.Name(rawValue: name) != nil && CommandPlaceholder(name: name) == nil)
        }
    }

    @Test func timesAndSimulationsArePlaceholders() throws {
        let template = CommandTemplate(
            program: "/bin/true", arguments: [try CommandTemplate.Argument(parsing: "{wall_time} {simulated}")])
        var event = Event(kind: .shake, timeNanoseconds: 1)
        #expect(template.arguments(for: event) == [" false"])
        (event.wallNanoseconds, event.isSimulated) = (1_000_000_000, true)
        #expect(template.arguments(for: event) == ["1970-01-01T00:00:01.000000Z true"])
    }

    @Test func everyKeyOfACommand() throws {
        let text =
            ConfigurationFaultTests.handler + """
                command = ["/bin/true"]
                timeout_s = 0.5
                kill_after_s = 0
                concurrent = 64
                queue = 100000
                retries = 100
                retry_s = 60
                output_bytes = 0
                environment = { LANG = "C", _a1 = "", Z = "x y" }
                """
        var settings = CommandSettings()
        (settings.timeout, settings.killDelay) = (.milliseconds(500), .zero)
        (settings.concurrentLimit, settings.queueLimit) = (64, 100_000)
        (settings.retryLimit, settings.retryDelay, settings.outputLimit) = (100, .seconds(60), 0)
        settings.environment = ["LANG": "C", "_a1": "", "Z": "x y"]
        let template = CommandTemplate(program: "/bin/true", arguments: [])
        let actions = try parse(text).handlers.map { $0.action as? CommandAction }
        #expect(actions == [CommandAction(template, settings: settings)])
    }

    @Test func levelsOfTheLog() throws {
        let text =
            ConfigurationFaultTests.handler
            + "log = true\nlevels = { \"motion.began\" = \"notice\", shock = \"alert\" }\n"
        let action = try #require(try parse(text).handlers.first?.action as? LogAction)
        #expect(action.levels == [.motionBegan: .notice, .shock: .alert])
        #expect(action.level(of: .shock) == .alert && action.level(of: .motionEnded) == .info)
        #expect(LogLevel.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7], "as syslog numbers them")
        #expect(LogLevel.allCases.map(\.name).map(LogLevel.init(name:)) == LogLevel.allCases)
        #expect(EventKind.allCases.filter { $0.row.level == .error } == [.sensorsNoneLeft])
    }

    /// What reports on handlers may be logged and written.
    @Test func reportsAreForWhatDoesNotActOnTheWorld() throws {
        let kinds = EventKind.reports.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        for action in ["log", "stdout"] {
            let text = "[handler.h]\non = [\(kinds)]\n\(action) = true\n"
            #expect(Set(try parse(text).handlers[0].kinds) == EventKind.reports)
        }
    }

    @Test func argumentsAreFilledFromAnEvent() throws {
        let template = CommandTemplate(
            program: "/bin/true",
            arguments: try ["{kind} {sensor}", "{detector}", "{peak_g};{reason}", "{{seq}}={seq}@{time_ns}", "{count}"]
                .map { try CommandTemplate.Argument(parsing: $0) })
        let event = Event(
            kind: .motionBegan, detector: nil, sensor: "a b", sequence: 7, timeNanoseconds: -5,
            figures: [Figure(.peak, .number(0.125, decimals: 3)), Figure(.reason, .text("$(x) {kind}"))])
        #expect(
            template.arguments(for: event)
                == ["motion.began a b", "", "0.125;$(x) {kind}", "{seq}=7@-5", ""])
    }

    /// The gyroscope is that of the accelerometer's sensor, which may lack it, unless another or none is named.
    @Test func theGyroscopeIsAutomaticNamedOrNone() throws {
        let sensors = "[sensor.s]\nsource = \"auto\"\n[sensor.g]\nsource = \"auto\"\n"
        let north = "[north.n]\naccelerometer = \"s\"\nmagnetometer = \"s\"\n"
        let automatic = try parse(sensors + north)
        #expect(automatic.norths[0].gyroscope == .automatic)
        #expect(automatic.kinds(of: "s") == [.accelerometer, .magnetometer])
        #expect(automatic.optionalKinds(of: "s") == [.gyroscope] && automatic.optionalKinds(of: "g").isEmpty)
        let named = try parse(sensors + north + "gyroscope = \"g\"\n")
        #expect(named.kinds(of: "g") == [.gyroscope] && named.optionalNeeds.isEmpty)
        #expect(named.needs.map(\.by).last == "north.n")
        let none = try parse(sensors + north + "gyroscope = \"none\"\n")
        #expect(none.norths[0].gyroscope == .none && none.optionalNeeds.isEmpty)
        let same = try parse(sensors + north + "gyroscope = \"s\"\n")
        #expect(same.kinds(of: "s") == SampleKind.allCases && same.optionalNeeds.isEmpty)
        // A detector of movement reads it only when something needs it.
        let motion = try parse(sensors + "[motion.m]\naccelerometer = \"s\"\ngyroscope = \"g\"\n")
        #expect(motion.kinds(of: "g").isEmpty && motion.optionalNeeds.isEmpty)
        let wrong = problems(sensors + north + "gyroscope = \"gg\"\n")
        #expect(wrong.count == 1)
        #expect(wrong.first?.message.contains("no sensor") == true, "\(wrong)")
    }

    @Test func aGyroscopesMatrixIsRead() throws {
        let text = "[sensor.s]\nsource = \"auto\"\ngyroscope_matrix = \"1, 0, 0; 0, 1, 0; 0, 0, -1\"\n"
        #expect(try parse(text).sensors[0].settings.gyroscopeMatrix?.elements == [1, 0, 0, 0, 1, 0, 0, 0, -1])
        let flat = problems("[sensor.s]\nsource = \"auto\"\ngyroscope_matrix = \"1, 0, 0; 0, 1, 0; 0, 0, 0\"\n")
        #expect(flat.count == 1 && flat.first?.message.contains("determinant 0") == true)
    }
}
