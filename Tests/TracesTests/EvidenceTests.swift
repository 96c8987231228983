import Binnacle
import Foundation
import Glibc
import TestSupport
import Testing
import Traces

/// What the values of a recording say about its units and columns, and what is never offered.
@Suite struct EvidenceTests {
    private func opened(
        _ files: [(name: String, text: String)], _ hints: TraceHints = TraceHints()
    ) throws -> (streams: [SampleStream], samples: [[Sample]], notices: [String]) {
        let folder = try TemporaryFolder(Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) }))
        let traces = try files.map { try TraceFile(path: "\(folder.path)/\($0.name)", hints: hints) }
        let sensors = TraceSource.nameSensors(of: traces, given: traces.map { $0.contents.map { _ in nil } })
        let source = TraceSource(zip(traces, sensors).map { (file: $0, sensors: $1) })
        return (source.streams, Collected(source).samples, traces.flatMap(\.notices).map(\.message))
    }

    private func refusal(_ text: String, _ name: String = "recording.csv") throws -> TraceError {
        let folder = try TemporaryFolder([name: text])
        return try #require(throws: TraceError.self) { try TraceFile(path: "\(folder.path)/\(name)") }
    }

    private static func rows(_ count: Int = 300, _ row: (Int) -> String) -> String {
        (0..<count).map { row($0) + "\n" }.joined()
    }

    // MARK: - Names and units

    @Test(arguments: ["[G]", "(g)", "(Gs)"])
    func gInAFileOfAMagnetometerIsGauss(unit: String) throws {
        let text = "t_s,X \(unit),Y \(unit),Z \(unit)\n" + Self.rows { "\(Double($0) / 50),0.2,0,-0.4" }
        let found = try opened([("Magnetometer.csv", text)])
        #expect(found.streams.map(\.kind) == [.magnetometer])
        #expect(abs((found.samples[0].first?.z ?? 0) + 40) < 0.01)
        #expect(found.notices.contains { $0.contains("taken as a magnetometer in gauss, as the file's name says") })
        // Gravity is none, whatever the file is called.
        let gravity = "t_s,X \(unit),Y \(unit),Z \(unit)\n" + Self.rows { "\(Double($0) / 50),0.1,0,0.99" }
        #expect(try opened([("Magdeburg.csv", gravity)]).streams.map(\.kind) == [.accelerometer])
    }

    /// Other spellings of units, and axes in parentheses, of an accelerometer, a gyroscope and a magnetometer.
    @Test(arguments: [
        ("ax (m.s-2),ay (m.s-2),az (m.s-2)", "gx (d/s),gy (d/s),gz (d/s)", "mx (mGa),my (mGa),mz (mGa)"),
        ("acc(x),acc(y),acc(z)", "gyro(x) [º/s],gyro(y) [º/s],gyro(z) [º/s]", "mag(x) [mGa],mag(y) [mGa],mag(z) [mGa]"),
        ("AcX,AcY,AcZ", "GyX (deg.s-1),GyY (deg.s-1),GyZ (deg.s-1)", "地磁X (mG),地磁Y (mG),地磁Z (mG)"),
        ("加速计X,加速计Y,加速计Z", "角速度X(˚/s),角速度Y(˚/s),角速度Z(˚/s)", "magX(mG),magY(mG),magZ(mG)"),
        (
            "total_acc_x,total_acc_y,total_acc_z", "Giroscopio X (°/s),Giroscopio Y (°/s),Giroscopio Z (°/s)",
            "Bx (mG),By (mG),Bz (mG)"
        ),
    ])
    func axesAreKnownInOtherSpellings(acceleration: String, rate: String, field: String) throws {
        let text =
            "time_s,\(acceleration),\(rate),\(field)\n"
            + Self.rows { "\(Double($0) / 50),0.1,0.2,9.8,\($0 % 7),20,-30,200,0,-400" }
        let found = try opened([("recording.csv", text)])
        func last(_ kind: SampleKind) -> Float? {
            found.streams.firstIndex { $0.kind == kind }.flatMap { found.samples[$0].last?.z }
        }
        #expect(last(.accelerometer).map { abs($0 - 9.8) < 0.01 } == true, "\(found.notices)")
        #expect(last(.gyroscope).map { abs($0 + 30 * .pi / 180) < 1e-4 } == true, "\(found.notices)")
        #expect(last(.magnetometer).map { abs($0 + 40) < 0.01 } == true, "\(found.notices)")
    }

    @Test(arguments: [
        ("elapsed_h", 3600.0), ("t_minutes", 60), ("elapsed_hours", 3600), ("time_min", 60), ("Time (h)", 3600),
        ("t_s", 1),
    ])
    func theTimesUnitIsThatOfItsName(name: String, seconds: Double) throws {
        let text = "\(name),ax_g,ay_g,az_g\n" + Self.rows { "\(Double($0) * 0.02 / seconds),0,0,1" }
        let found = try opened([("recording.csv", text)])
        #expect(abs((found.samples[0].last?.timeNanoseconds ?? 0) - 5_980_000_000) < 1_000)
    }

    /// A multiple of a unit is none that the options have, and no other one is offered in its place.
    @Test(arguments: ["Time 100us", "elapsed_100us", "t (100 ns)", "Time (ticks)"])
    func noOtherUnitThanThatOfTheNameIsOffered(name: String) throws {
        let error = try refusal("\(name),ax_g,ay_g,az_g\n" + Self.rows { "\($0 * 200),0,0,1" })
        #expect(error.message.contains("is no unit of time that is known"), "\(error.message)")
        #expect(error.remedy == nil)
    }

    /// Names that would take minutes, or the stack, to be parsed are none.
    @Test(arguments: [
        "ax [g]" + String(repeating: " (x)", count: 15_000), "a" + String(repeating: "_", count: 60_000) + "x",
        "ax" + String(repeating: " in ", count: 15_000), "az" + String(repeating: "1", count: 60_000),
        String(repeating: "acc x ", count: 10_000),
    ])
    func aNameWithoutAnEndIsNone(name: String) throws {
        let error = try refusal("t_s,\(name),ay_g,az_g\n" + Self.rows { "\(Double($0) / 50),0,0,1" })
        #expect(error.message.contains("the accelerometer has no column for x"), "\(error.message.prefix(200))")
        let text = "t_s,ax_g,ay_g,az_g,kind\n" + Self.rows(40) { "\(Double($0) / 50),0,0,1,\(name)" }
        #expect(try opened([("recording.csv", text)]).samples.count == 1)
    }

    /// The unit of a column is that of its name also in a command.
    @Test func aCommandKeepsTheUnitOfTheNames() throws {
        let rows = Self.rows { "\(Double($0) / 50),1.\($0 % 5),-2.\($0 % 7),981.\($0 % 3)" }
        let error = try refusal("t_s,NS (gal),EW (gal),UD (gal)\n" + rows)
        #expect(error.remedy == .options(["--map", "time=t_s:s,ax=NS (gal),ay=EW (gal),az=UD (gal)"]))
    }

    /// Ticks of 0.1 ms would be milliseconds by their distance.
    @Test func aStatedRateDecidesForTicks() throws {
        let rows = Self.rows { "\($0 * 100),0,0,1" }
        func last(_ text: String, _ hints: TraceHints = TraceHints()) throws -> Int64? {
            try opened([("recording.csv", text)], hints).samples[0].last?.timeNanoseconds
        }
        #expect(try last("# Sample rate: 100 Hz\nSampleTimeFine,ax_g,ay_g,az_g\n" + rows) == 2_990_000_000)
        #expect(try last("SampleTimeFine,ax_g,ay_g,az_g\n" + rows, TraceHints(rateHz: 100)) == 2_990_000_000)
        // Seconds, and times since 1970, are none that only their distance says.
        let since1970 = Self.rows { "\(1_700_000_000_000 + $0 * 100),0,0,1" }
        #expect(try last("# Sample rate: 100 Hz\nt,ax_g,ay_g,az_g\n" + since1970) == 1_700_000_029_900_000_000)
        let seconds = Self.rows { "\(Double($0) / 10),0,0,1" }
        #expect(try last("# Sample rate: 100 Hz\nt,ax_g,ay_g,az_g\n" + seconds) == 29_900_000_000)
        // A device that measures half as often as it was asked to has times.
        #expect(try last("# Sample rate: 20 Hz\nt,ax_g,ay_g,az_g\n" + rows) == 29_900_000_000)
    }

    /// Most lengths of a shake are others than gravity's, which is its mean.
    @Test(arguments: [("m/s²", 9.81, 1.0), ("g", 1, 9.81), ("mg", 1000, 0.00981)])
    func theMeanOfAMovementSaysItsUnit(unit: String, gravity: Double, factor: Double) throws {
        let text =
            "t_s,ax,ay,az\n"
            + Self.rows { row in
                let swing = 2.4 * sin(Double(row) * 0.7)
                return
                    "\(Double(row) / 50),\((swing * gravity).rounded(.toNearestOrEven)),0,\(gravity * (1 + 0.2 * swing))"
            }
        let found = try opened([("recording.csv", text)])
        #expect(found.notices.contains { $0.contains("taken as \(unit), which the values fit") }, "\(found.notices)")
        let mean = found.samples[0].reduce(0) { $0 + Double($1.z) } / Double(max(found.samples[0].count, 1))
        #expect(abs(mean - 9.81) < 0.3)
    }

    /// Words of boards and of ordinary files are no names of sensors.
    @Test func aBoardIsNoGyroscope() throws {
        let rows = Self.rows { "\(Double($0) / 50),0.1,0.\($0 % 5),9.8" }
        for names in ["GY521_ax,GY521_ay,GY521_az", "GY-521.ax,GY-521.ay,GY-521.az", "ax,ay,az"] {
            let found = try opened([("giro1.csv", "t_s,\(names)\n" + rows)])
            #expect(found.streams.map(\.kind) == [.accelerometer], "\(names)")
        }
    }

    // MARK: - Gyroscopes

    /// A device that lies still for three seconds and is then turned about all axes, from a seed.
    struct Turning {
        var hertz = 50.0
        var seconds = 14.0
        /// In rad/s.
        var strength = 1.5
        var offset = [0.0, 0.0, 0.0]
        var restSeconds = 3.0
        /// The accelerations of a shake, in m/s².
        var shake = 0.0

        func moments(_ row: (_ time: Double, _ acceleration: [Double], _ rate: [Double]) -> String) -> String {
            var random = SeededGenerator(seed: 11)
            func noise(_ size: Double) -> Double { size * Double.random(in: -1...1, using: &random) }
            var up = [0.2, 0.3, 0.93]
            func rate(_ time: Double) -> [Double] {
                guard time >= restSeconds else { return [0, 0, 0] }
                return [0.41, 0.67, 0.53].map { strength * sin(2 * .pi * $0 * (time - restSeconds)) }
            }
            func turn(_ time: Double, _ step: Double) {
                let w = rate(time)
                let change = [up[2] * w[1] - up[1] * w[2], up[0] * w[2] - up[2] * w[0], up[1] * w[0] - up[0] * w[1]]
                up = zip(up, change).map { $0 - $1 * step }
                let length = up.reduce(0) { $0 + $1 * $1 }.squareRoot()
                up = up.map { $0 / length }
            }
            var text = ""
            for index in 0..<Int(seconds * hertz) {
                let time = Double(index) / hertz
                text += row(
                    time, up.map { $0 * 9.80665 + noise(0.05) + noise(time < restSeconds ? 0 : shake) },
                    zip(rate(time), offset).map { $0 + $1 + noise(0.003) })
                for part in 0..<20 { turn(time + Double(part) / hertz / 20, 1 / hertz / 20) }
            }
            return text
        }

        func text(_ factor: Double, unit: String = "", isWhole: Bool = false) -> String {
            let names = ["x", "y", "z"].map { "a\($0)" } + ["x", "y", "z"].map { "g\($0)\(unit)" }
            return "t_s,\(names.joined(separator: ","))\n"
                + moments { time, a, w in
                    let rates = w.map { String(format: isWhole ? "%.0f" : "%.6f", $0 * factor) }
                    return (([time] + a).map { String(format: "%.6f", $0) } + rates).joined(separator: ",") + "\n"
                }
        }
    }

    static let degrees = 180 / Double.pi

    static let turnings: [(String, Turning, factor: Double, words: String)] = [
        ("rad/s", Turning(), 1, "rad/s, because then they turn as gravity does"),
        ("°/s", Turning(), degrees, "°/s, because"),
        ("m°/s", Turning(), degrees * 1000, "m°/s, because"),
        ("slow in °/s", Turning(strength: 0.15), degrees, "°/s, an assumption: rad/s would"),
        ("at rest in °/s", Turning(strength: 0, offset: [0.02, 0.035, 0.01]), degrees, "°/s, an assumption"),
        ("at rest in rad/s", Turning(strength: 0, offset: [0.02, 0.035, 0.01]), 1, "rad/s, an assumption"),
        ("at rest in rad/s, much offset", Turning(strength: 0, offset: [0.2, 0.28, 0.1]), 1, "rad/s, an assumption"),
        ("10 Hz in °/s", Turning(hertz: 10, seconds: 40), degrees, "°/s, because"),
        ("10 Hz in rad/s", Turning(hertz: 10, seconds: 40), 1, "rad/s, because"),
        ("shaken in °/s", Turning(shake: 5), degrees, "°/s, an assumption: rad/s would"),
        ("shaken in rad/s", Turning(shake: 5), 1, "rad/s"),
        ("fast in rad/s", Turning(strength: 5), 1, "rad/s"),
        ("fast in °/s", Turning(strength: 5), degrees, "°/s"),
    ]

    @Test(arguments: turnings)
    func gravityTellsTheUnitOfAGyroscope(name: String, turning: Turning, factor: Double, words: String) throws {
        let found = try opened([("recording.csv", turning.text(factor))])
        #expect(found.notices.contains { $0.contains("taken as \(words)") }, "\(name): \(found.notices)")
        let stream = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        let right = try opened([("recording.csv", turning.text(1, unit: "_rad_s"))])
        let difference = zip(found.samples[stream], right.samples[stream]).map { abs($0.y - $1.y) }.max() ?? 1
        #expect(difference < 1e-4, "\(name)")
        #expect(!found.notices.contains { $0.contains("left-handed") })
    }

    /// In 2 s at 100 Hz, the first rows, gravity only shows that rad/s is wrong.
    @Test(arguments: [1, degrees], [Turning(), Turning(hertz: 100, strength: 0.5, restSeconds: 0)])
    func axesThatTurnTheOtherWayAreToldAndNotReversed(factor: Double, turning: Turning) throws {
        let found = try opened([("recording.csv", turning.text(-factor))])
        let unit = factor == 1 ? "rad/s" : "deg/s"
        #expect(
            found.notices.contains { $0.contains("left-handed") && $0.contains("gx=-gx:\(unit)") }, "\(found.notices)")
        let right = try opened([("recording.csv", turning.text(1, unit: "_rad_s"))])
        let stream = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        #expect(abs(found.samples[stream][400].y + right.samples[stream][400].y) < 1e-4)
    }

    @Test func aStatedUnitOfAGyroscopeIsHeldAgainstGravity() throws {
        let wrong = try opened([("recording.csv", Turning().text(Self.degrees, unit: "_rad_s"))])
        #expect(wrong.notices.contains { $0.contains("the stated unit does not fit; °/s does") }, "\(wrong.notices)")
        for (factor, unit) in [(1, "_rad_s"), (Self.degrees, "_deg_per_s"), (Self.degrees, " (°/s)")] {
            let right = try opened([("recording.csv", Turning().text(factor, unit: unit))])
            #expect(!right.notices.contains { $0.contains("gx") }, "\(right.notices)")
        }
    }

    /// Counts of a common chip, and mrad/s.
    @Test(arguments: [
        (131 * degrees, "deg/s/131"), (65.5 * degrees, "deg/s/65.5"), (16.4 * degrees, "deg/s/16.4"), (1000, "mrad/s"),
    ])
    func aGyroscopeInNoKnownUnitIsLeftOut(factor: Double, unit: String) throws {
        let files = [("recording.csv", Turning().text(factor))]
        let found = try opened(files)
        #expect(found.streams.map(\.kind) == [.accelerometer])
        #expect(
            found.notices.contains { $0.contains("gx, gy, gz left out") && $0.contains("gx=gx:\(unit)") },
            "\(found.notices)")
        let map = try ColumnMap(["gx=gx:\(unit),gy=gy:\(unit),gz=gz:\(unit)"])
        #expect(try opened(files, TraceHints(map: map)).streams.count == 2)
    }

    /// Gravity that stays excludes larger units, and confirms no smaller one.
    @Test(arguments: [131, 65.5, 16.4])
    func countsOfAGyroscopeThatGravityDoesNotTurnAreLeftOut(perDegree: Double) throws {
        let resting = Turning(strength: 0, offset: [0.01, -0.02, 0.035])
        let files = [("recording.csv", resting.text(perDegree * Self.degrees, isWhole: true))]
        let found = try opened(files)
        #expect(found.streams.map(\.kind) == [.accelerometer], "\(found.notices)")
        let said = found.notices.filter { $0.contains("gx, gy, gz left out: they are whole numbers") }
        #expect(said.count == 1 && said[0].contains("gx=gx:deg/s/131"), "\(found.notices)")
        let map = try ColumnMap(["gx=gx:deg/s/131,gy=gy:deg/s/131,gz=gz:deg/s/131"])
        #expect(try opened(files, TraceHints(map: map)).streams.count == 2)
    }

    /// A turn about the vertical leaves gravity where it is, and 900 rad/s is no turn.
    @Test func aRateThatNoGyroscopeMeasuresIsInASmallerUnit() throws {
        let text =
            "time_s,ax,ay,az,gx,gy,gz\n"
            + Self.rows { "\(Double($0) / 50),0,0,9.81,0,0,\((100...110).contains($0) ? 900 : 0.5)" }
        let found = try opened([("recording.csv", text)])
        #expect(abs((found.samples[0].map(\.z).max() ?? 0) - 5 * .pi) < 1e-3, "\(found.notices)")
        #expect(found.notices.contains { $0.contains("taken as °/s, because no gyroscope measures") })
        // A garbled sample says nothing.
        let garbled = try opened([
            (
                "recording.csv",
                text.replacing("0,0,900", with: "0,0,1.5").replacing("0,0,1.5", with: "0,0,900", maxReplacements: 1)
            )
        ])
        #expect(!garbled.notices.contains { $0.contains("no gyroscope measures") }, "\(garbled.notices)")
    }

    @Test func wholeNumbersThatTurnAsGravityDoesAreUsed() throws {
        let found = try opened([("recording.csv", Turning().text(1000 * Self.degrees, isWhole: true))])
        #expect(found.streams.map(\.kind) == [.gyroscope, .accelerometer], "\(found.notices)")
        #expect(found.notices.contains { $0.contains("taken as m°/s, because") }, "\(found.notices)")
    }

    /// Sensor by sensor in files of their own, as apps export them; the gyroscope's file may come first.
    @Test(arguments: [false, true])
    func gravityMayBeInAnotherFile(isLast: Bool) throws {
        let head = "time_s,x,y,z\n"
        func row(_ time: Double, _ values: [Double]) -> String {
            ([time] + values).map { String(format: "%.6f", $0) }.joined(separator: ",") + "\n"
        }
        let files = [
            ("Gyroscope.csv", head + Turning().moments { row($0 + 0.004, $2.map { $0 * Self.degrees }) }),
            ("Accelerometer.csv", head + Turning().moments { time, a, _ in row(time, a) }),
        ]
        let found = try opened(isLast ? files.reversed() : files)
        #expect(found.notices.contains { $0.contains("taken as °/s, because") }, "\(found.notices)")
    }

    @Test func aPipeIsReadAsTheFile() throws {
        let text = Turning().text(Self.degrees)
        let pipe = UnusedPath()
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let writer = Thread { [path = pipe.path] in
            let file = open(path, O_WRONLY | O_CLOEXEC)
            try? FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
        }
        writer.start()
        let trace = try TraceFile(path: pipe.path)
        let piped = Collected(TraceSource([(file: trace, sensors: [Sensor(name: "a"), Sensor(name: "b")])])).samples
        let found = try opened([("recording.csv", text)])
        #expect(piped == found.samples)
        #expect(trace.notices.map(\.message) == found.notices)
    }

    // MARK: - Names and units

    @Test(arguments: [
        ("ax_m_per_s2", "gx_deg_per_s", "mx_uT"), ("ax_m_s2", "gx_deg_s", "mx_microtesla"),
        ("ax_m_s_2", "gx_rad_per_s", "mx_utesla"), ("ax_mps2", "gx_degps", "mx_gauss"),
        ("ax (m/s^2)", "gx (degrees per second)", "mx (in microteslas)"), ("ax_g", "gx_dps", "mx_milligauss"),
        ("Accel x m/s2", "Gyro x deg/s", "Mag x uT"), ("ax in m/s2", "gx_degrees/s", "mx [nanotesla]"),
        ("ax (metres per second squared)", "gx (radians/sec)", "mx [mG]"), ("ax_mg", "gx_mrad_s", "mx_nT"),
        ("ax_cm_s2", "gx_mdps", "mx_mT"), ("ax (m s^-2)", "gx (°·s⁻¹)", "mx (µT)"),
    ])
    func unitsInManySpellings(names: (a: String, g: String, m: String)) throws {
        func axes(_ name: String) -> [String] {
            ["x", "y", "z"].map { axis in
                name.contains(" x")
                    ? name.replacing(" x", with: " \(axis)") : name.replacing("x", with: axis, maxReplacements: 1)
            }
        }
        let header = (["t_s"] + [names.a, names.g, names.m].flatMap { name in axes(name).map { "\"\($0)\"" } })
            .joined(separator: ",")
        let found = try opened([("recording.csv", header + "\n" + Self.rows { "\(Double($0) / 50),1,2,3,4,5,6,7,8,9" })]
        )
        #expect(Set(found.streams.map(\.kind)) == Set(SampleKind.allCases), "\(found.notices)")
        #expect(!found.notices.contains { $0.contains("no unit") || $0.contains("left out") }, "\(found.notices)")
    }

    /// A rate in a file's name ends a word, which chance letters seldom do.
    @Test(arguments: ["walk_50Hz.csv", "walk50hz-2.csv", "xB50HzQk.csv"])
    func theRateInAName(name: String) throws {
        let text = "ax_g,ay_g,az_g\n" + Self.rows { _ in "0,0,1" }
        guard name != "xB50HzQk.csv" else {
            #expect(try refusal(text, name).description.contains("time"))
            return
        }
        let times = try opened([(name, text)]).samples[0].map(\.timeNanoseconds)
        #expect(times[1] - times[0] == 20_000_000)
    }

    /// What says that it is something else is refused without a command that would play it.
    @Test(arguments: [
        ("GPS.csv", "Time (s),Latitude (°),Longitude (°),Height (m)", "90,90.5,90.1"),
        ("track.csv", "Time (s),Latitude (°),Longitude (°),Height (m)", "90,90.5,90.1"),
        ("track.csv", "t_s,lat,lon,alt", "6,5,6"), ("attitude.csv", "t_s,qw,roll,pitch", "0.6,0.5,0.6"),
        ("Orientation.csv", "t_s,qw,roll,pitch", "0.6,0.5,0.6"), ("RotationVector.csv", "t_s,X,Y,Z", "0.6,0.5,0.6"),
        ("RotationVector.csv", "t_s,x,y,z", "5,6,6"), ("OrientationVector.csv", "t_s,x,y,z,w", "0.6,0.5,0.6,0.1"),
        ("log.csv", "t_s,azimuth (degrees),pitch (degrees),roll (degrees)", "70,60,80"),
        ("log.csv", "t_s,a (deg),b (deg),c (deg)", "5,6,6"), ("log.csv", "t_s,Temperature (C),b (C),c (C)", "22,21,30"),
        ("log.csv", "t_s,cos_a,sin_a,cos_b", "0.6,0.5,0.6"), ("log.csv", "t_s,u (V),v (V),w (mV)", "0.6,0.5,0.6"),
        ("log.csv", "t_s,yaw,pitch,roll", "0.6,0.5,0.6"), ("log.csv", "t_s,p (hPa),q (hPa),r (hPa)", "600,500,600"),
        ("log.csv", "t_s,x (degrees),y (degrees),z (degrees)", "5,6,6"),
        ("log.csv", "t_s,ax (rad),ay (rad),az (rad)", "0.6,0.5,0.6"),
        ("log.csv", "t_s,ax_g,ay_mg,az_g", "0.6,0.5,0.6"), ("log.csv", "t_s,mx (°C),my (°C),mz (°C)", "22,21,30"),
        ("log.csv", "t_s,AngX,AngY,AngZ", "6,5,6"), ("log.csv", "t_s,tilt_x,tilt_y,tilt_z", "0.6,0.5,0.6"),
        ("log.csv", "t_s,x_mm,y_mm,z_mm", "6,5,6"), ("log.csv", "t_s,T1_degC,T2_degC,T3_degC", "6,5,6"),
        ("log.csv", "t_s,vx,vy,vz", "6,5,6"), ("log.csv", "t_s,alpha,beta,gamma", "6,5,6"),
        ("log.csv", "t_s,hdg,spd,cog", "6,5,6"), ("log.csv", "t_s,torque_x,torque_y,torque_z", "6,5,6"),
        ("log.csv", "t_s,Mag X (A/m),Mag Y (A/m),Mag Z (A/m)", "30,20,30"),
        ("log.csv", "t_s,rpm_x,rpm_y,rpm_z", "6,5,6"),
        ("log.csv", "t_s,vibration.xAxis,vibration.yAxis,vibration.zAxis", "30,20,30"),
        ("log.csv", "t_s,Fx,Fy,Fz", "6,5,6"), ("log.csv", "t_s,red,green,blue", "20,30,40"),
    ])
    func nothingIsOfferedAsSomethingElse(file: (name: String, header: String, row: String)) throws {
        let values = file.row.split(separator: ",").compactMap { Double($0) }
        let error = try refusal(
            file.header + "\n"
                + Self.rows { row in
                    ([Double(row) / 50] + values.map { $0 * (1 + Double(row % 3) / 1000) }).map { "\($0)" }
                        .joined(separator: ",")
                }, file.name)
        #expect(error.remedy == nil, "\(error) \(String(describing: error.remedy))")
    }

    /// Names that say nothing are offered by their values as before, and so is a kind whose unit is unknown.
    @Test(arguments: [
        "foo,bar,baz", "mean_x,mean_y,mean_z", "a (raw),b (raw),c (raw)", "ax (flux),ay (flux),az (flux)",
    ])
    func whatSaysNothingIsOffered(names: String) throws {
        let error = try refusal(
            "t_s,\(names)\n" + Self.rows { "\(Double($0) / 50),3.\($0 % 3),2.\($0 % 2),9.\($0 % 4)" })
        guard case .options? = error.remedy else {
            Issue.record("\(error)")
            return
        }
    }

    /// Words of other quantities may say where a sensor is.
    @Test(arguments: ["ppg_acc_x,ppg_acc_y,ppg_acc_z", "beta_ax,beta_ay,beta_az"])
    func aPlaceMayBeNamedAsAQuantity(names: String) throws {
        let found = try opened([("log.csv", "t_s,\(names)\n" + Self.rows { "\(Double($0) / 50),0.\($0 % 2),0.3,9.81" })]
        )
        #expect(found.streams.map(\.kind) == [.accelerometer], "\(found.notices)")
    }

    /// Numbers of a sensor are whole: 45 with decimals is the Earth's field, and no acceleration in 45 parts of g.
    @Test(arguments: [(false, "mx=x:uT"), (true, "ax=x:g/45")])
    func aFieldIsNotOfferedAsCounts(isWhole: Bool, offered: String) throws {
        let tail = isWhole ? "" : ".25"
        let error = try refusal("t_s,x,y,z\n" + Self.rows { "\(Double($0) / 50),\(20 + $0 % 2)\(tail),0,-40" })
        guard case .options(let options)? = error.remedy else {
            Issue.record("\(error)")
            return
        }
        #expect(options.joined().contains(offered), "\(options)")
    }

    @Test func aStatedUnitIsNotOverridden() throws {
        let names = ["x", "y", "z"].map { "\($0) (in microteslas)" }.joined(separator: ",")
        let found = try opened([
            ("recording.csv", "t_s,\(names)\n" + Self.rows { "\(Double($0) / 50),300.\($0 % 3),300,220" })
        ])
        #expect(abs((found.samples[0].first?.x ?? 0) - 300) < 0.01)
    }

    // MARK: - The better of two

    private static let chips = [
        "lsm6dso_lsm6dso_accelerometer", "akm_akm09918_magnetometer_uncalibrated", "akm_akm09918",
        "lsm6dso_lsm6dso_gyroscope_uncalibrated", "lsm6dso_lsm6dso_gyroscope",
    ]

    private static func chips(_ names: [String], _ values: [String]) -> String {
        let header = names.flatMap { name in ["x", "y", "z"].map { "\(name).\($0)" } }.joined(separator: ",")
        return "Timestamp,\(header)\n" + rows { "\($0 * 20),\(values.joined(separator: ","))" }
    }

    @Test func aCalibratedChipIsPreferred() throws {
        let values = ["0,0,9.81", "70,50,-20", "20,10,-40", "0.5,0.4,0.3", "0.01,0,0"]
        let found = try opened([("recording.csv", Self.chips(Self.chips, values))])
        let field = try #require(found.streams.firstIndex { $0.kind == .magnetometer })
        #expect(found.samples[field].first?.x == 20)
        #expect(found.notices.count { $0.contains("left out (not calibrated)") } == 2, "\(found.notices)")
    }

    @Test func aChipOfUnknownNameIsNamedAsLeftOut() throws {
        let names = [Self.chips[0], Self.chips[1], "qux_4711"]
        let found = try opened([("recording.csv", Self.chips(names, ["0,0,9.81", "70,50,-20", "20,10,-40"]))])
        #expect(found.notices.contains { $0.contains("qux_4711.x") && $0.contains("left out") }, "\(found.notices)")
        #expect(found.notices.contains { $0.contains("not calibrated, as the name says") })
    }

    @Test(arguments: [(89.3, false), (19, false), (45, true), (0.89, false), (0.45, true), (450, true), (895, false)])
    func onlyAFieldOfTheEarthFits(length: Double, isFitting: Bool) throws {
        let found = try opened([("recording.csv", "t_s,mx,my,mz\n" + Self.rows { "\(Double($0) / 50),0,\(length),0" })])
        #expect(found.notices.contains { $0.contains("which the values fit (") } == isFitting, "\(found.notices)")
        #expect(isFitting || found.notices.contains { $0.contains("not calibrated, or iron is near") })
    }

    // MARK: - Gravity

    /// A run, from which an app has taken gravity away: as strong as gravity, and about nothing.
    private static func run(_ names: String, size: Double) -> String {
        var random = SeededGenerator(seed: 3)
        return "time_s,\(names)\n"
            + rows(900) { row in
                let calm = row / 60 % 3 == 0 ? 0.04 : 1.0
                return
                    ([Double(row) / 100]
                    + [0.21, 0.17, 0.29].map {
                        size * calm * sin($0 * Double(row)) + .random(in: -0.1...0.1, using: &random)
                    })
                    .map { "\($0)" }.joined(separator: ",")
            }
    }

    @Test(arguments: ["x,y,z", "x (m/s2),y (m/s2),z (m/s2)", "ax,ay,az"], [4.0, 9, 14])
    func aMovementAsStrongAsGravityIsNone(names: String, size: Double) throws {
        let error = try refusal(Self.run(names, size: size), "Accelerometer.csv")
        #expect(error.message.contains("without gravity") && error.remedy != nil, "\(error)")
    }

    @Test func aNamedAccelerationWithoutGravityIsToldWithItsRemedy() throws {
        let found = try opened([("recording.csv", Self.run("ax_m_s2,ay_m_s2,az_m_s2", size: 9))])
        #expect(found.notices.contains { $0.contains("--map acceleration=linear") }, "\(found.notices)")
    }

    /// A device that is shaken keeps gravity in its mean, and one that is turned in its calm moments.
    @Test(arguments: [0, 6.0, 15])
    func aShakenAccelerometerHasGravity(shake: Double) throws {
        let text = Turning(strength: shake == 0 ? 2 : 0, shake: shake).text(1)
        let found = try opened([("recording.csv", text)])
        #expect(!found.notices.contains { $0.contains("gravity is missing") })
    }

    // MARK: - Times

    @Test(arguments: [("time_s", 24e-6), ("time", 24e-6), ("timestamp", 24_000.0), ("time_us", 24)])
    func anImplausibleRateIsTold(name: String, step: Double) throws {
        let start = name == "timestamp" ? 1_700_000_000_000_000_000 : 0.0
        let found = try opened([
            (
                "recording.csv",
                "\(name),ax_g,ay_g,az_g\n" + Self.rows { "\(String(format: "%.6f", start + Double($0) * step)),0,0,1" }
            )
        ])
        #expect(found.notices.contains { $0.contains("µs between samples (41") }, "\(found.notices)")
    }

    @Test func rowsInBatchesAreToldWithARateThatPlaysThemEvenly() throws {
        let text =
            "time_s,ax_g,ay_g,az_g\n"
            + Self.rows { "\(String(format: "%.6f", Double($0 / 10) * 0.2 + Double($0 % 10) * 24e-6)),0,0,1" }
        let found = try opened([("recording.csv", text)])
        #expect(found.notices.contains { $0.contains("batches") && $0.contains("--rate 52") }, "\(found.notices)")
        let even = try opened([("recording.csv", text)], TraceHints(rateHz: 50))
        #expect(even.samples[0][1].timeNanoseconds == 20_000_000)
        // A pause is no batch.
        let pause = try opened([
            ("recording.csv", "time_s,ax_g,ay_g,az_g\n" + Self.rows { "\(Double($0) / 50 + ($0 > 99 ? 60 : 0)),0,0,1" })
        ])
        #expect(pause.notices.isEmpty, "\(pause.notices)")
    }
}
