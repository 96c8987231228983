import Binnacle
import Foundation
import Testing
import Traces

/// What the names of columns say, and tables that hold more than one recording.
@Suite struct NamedColumnTests {
    private struct Read {
        var streams: [(kind: SampleKind, name: String)] = []
        var samples: [[Sample]] = []
        var notices: [String] = []
        var counts: [TraceRepairs.Kind: Int] = [:]
        var failures: [String] = []
    }

    private func read(_ text: String, map: String? = nil, rateHz: Double? = nil) throws -> Read {
        let file = try TemporaryFile(text)
        var hints = TraceHints()
        hints.map = try map.map { try ColumnMap([$0]) }
        hints.rateHz = rateHz
        let trace = try TraceFile(path: file.path, hints: hints)
        let source = TraceSource([
            (file: trace, sensors: TraceSource.nameSensors(of: [trace], given: [trace.contents.map { _ in nil }])[0])
        ])
        let collected = Collected(source)
        return Read(
            streams: source.streams.map { ($0.kind, $0.sensor.name) }, samples: collected.samples,
            notices: trace.notices.map(\.message), counts: source.repairs.counts,
            failures: collected.failures.map { "\($0)" })
    }

    private func refusal(_ text: String, map: String? = nil, rateHz: Double? = nil) throws -> String {
        do {
            _ = try read(text, map: map, rateHz: rateHz)
        } catch let error as TraceError {
            return "\(error.message) \(error.remedy.map { "\($0)" } ?? "")"
        }
        return "read"
    }

    private func rows(_ count: Int = 300, _ row: (Int) -> String) -> String {
        (0..<count).map { row($0) + "\n" }.joined()
    }

    // MARK: - Names with dots

    @Test func wordsBeforeADotSayWhatIsMeasured() throws {
        let linear =
            "time_s,Linear Acceleration.x (m/s^2),Linear Acceleration.y (m/s^2),Linear Acceleration.z (m/s^2),"
            + "Accelerometer.x (m/s^2),Accelerometer.y (m/s^2),Accelerometer.z (m/s^2)\n"
        let both = try read(linear + rows { "\(Double($0) / 100),0.1,0.2,0.3,0,0,9.8" })
        #expect(both.samples.count == 1 && both.samples[0][0].z == 9.8)
        let user = "timestamp(s),userAcceleration.x(G),userAcceleration.y(G),userAcceleration.z(G)\n"
        #expect(
            try refusal(user + rows { "\(Double($0) / 100),0.01,0.02,0.03" }).contains("acceleration without gravity"))
        let gravity = "timestamp(s),gravity.x(G),gravity.y(G),gravity.z(G)\n"
        let alone = try read(gravity + rows { "\(Double($0) / 100),0,0,-1" })
        #expect(alone.notices.contains { $0.contains("gravity alone") })
        #expect(alone.notices.contains { $0.contains("iOS") && $0.contains("--map acceleration=gravity") })
    }

    @Test func onlyARecordingByBinnacleIsBelieved() throws {
        let table = rows { "\(Double($0) / 100),0,0,9.81" }
        // mg cannot be right, and only a recording by Binnacle has units that are certain.
        #expect(
            try refusal("time_s,Imu.ax (mg),Imu.ay (mg),Imu.az (mg)\n" + table).contains("without gravity"))
        let named = try read("time_s,left.ax,left.ay,left.az\n" + table)
        #expect(named.streams.map(\.name) == ["left"] && named.notices.contains { $0.contains("no unit for left.ax") })
        let own = try read("time_ns,left.ax_m_s2,left.ay_m_s2,left.az_m_s2\n" + rows { "\($0)0000000,0,0,0.1" })
        #expect(own.notices.isEmpty && own.streams.map(\.name) == ["left"])
    }

    // MARK: - Axes by number

    @Test func flightControllersNumberTheAxes() throws {
        func axes(_ name: String) -> String { (0..<3).map { "\(name)[\($0)]" }.joined(separator: ",") }
        // The accelerometer's time relative to the row's is no time of its own.
        let names = [
            "timestamp", axes("gyro_rad"), "gyro_integral_dt", "accelerometer_timestamp_relative",
            axes("accelerometer_m_s2"), axes("magnetometer_ga"), axes("motor"), "clip_counter[0]",
        ]
        let found = try read(
            names.joined(separator: ",") + "\n"
                + rows { "\($0 * 5000),0.1,0.2,0.3,5000,0,0,0,-9.8,0.2,0.01,-0.43,1000,1001,1002,0" })
        func samples(_ kind: SampleKind) throws -> [Sample] {
            found.samples[try #require(found.streams.firstIndex { $0.kind == kind })]
        }
        #expect(found.streams.count == 3)
        #expect(try samples(.gyroscope)[1].timeNanoseconds == 5_000_000)
        #expect(try samples(.gyroscope)[0].y == 0.2 && samples(.accelerometer)[0].z == -9.8)
        #expect(try abs(samples(.magnetometer)[0].x - 20) < 1e-4)
        // An array of more values has no axes, and neither have those of one axis or of times.
        let long = (0..<4).map { "gyro[\($0)]" }.joined(separator: ",")
        let beside = try read("time_s,ax,ay,az,\(long)\n" + rows { "\(Double($0) / 100),0,0,9.8,1,2,3,4" })
        #expect(beside.streams.map(\.kind) == [.accelerometer])
        let times = try read("accel_timestamp[0],ax_m_s2,ay_m_s2,az_m_s2\n" + rows { "\($0 * 5000),0,0,9.8" })
        #expect(times.samples[0].count == 300)
        let units = "time_s,accSmooth[0] (g),accSmooth[1] (g),accSmooth[2] (g)\n"
        #expect(try read(units + rows { "\(Double($0) / 100),0,0,1" }).samples[0].count == 300)
        #expect(try refusal("time_s,acc_x[0],acc_x[1],acc_x[2]\n" + rows { "\(Double($0) / 100),0,0,9.8" }) != "read")
    }

    @Test(arguments: [("gyro_rad", 1), ("gyro_deg", Double.pi / 180)] as [(String, Double)])
    func anAngleOfAGyroscopeIsThatOfASecond(name: String, factor: Double) throws {
        let names = (0..<3).map { "\(name)[\($0)]" }.joined(separator: ",")
        let found = try read(
            "time_s,ax_m_s2,ay_m_s2,az_m_s2,\(names)\n" + rows { "\(Double($0) / 100),0,0,9.81,0,12,0" })
        let stream = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        #expect(abs(Double(found.samples[stream][0].y) - 12 * factor) < 1e-5)
        #expect(!found.notices.contains { $0.contains("no unit") }, "\(found.notices)")
    }

    // MARK: - Rates of turn

    @Test(arguments: ["Rate X [deg/s]", "rate_x (dps)", "X rate (deg/s)", "rotation X (deg/s)"])
    func aRateInAUnitOfTurnIsAGyroscope(name: String) throws {
        let names = ["x", "y", "z"].map { axis in
            name.replacing("X", with: axis.uppercased()).replacing("_x", with: "_\(axis)")
        }
        let found = try read(
            "time_s,ax_m_s2,ay_m_s2,az_m_s2,\(names.joined(separator: ","))\n"
                + rows { "\(Double($0) / 100),0,0,9.81,0,1,0" })
        let stream = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        #expect(abs(Double(found.samples[stream][0].y) - .pi / 180) < 1e-6)
    }

    @Test func aUnitOfASensorThatIsNotPlayedIsSaid() throws {
        let found = try read(
            "time_s,ax_m_s2,ay_m_s2,az_m_s2,Yaw rate (deg/s),Roll rate (deg/s)\n"
                + rows { "\(Double($0) / 100),0,0,9.81,0,1" })
        #expect(found.streams.map(\.kind) == [.accelerometer])
        #expect(
            found.notices.contains { $0.contains("'Yaw rate (deg/s)', 'Roll rate (deg/s)' left out") },
            "\(found.notices)")
    }

    // MARK: - Headers

    @Test(arguments: [
        ("t_s,ay_m_s2,ax_m_s2,az_m_s2", true), ("t_s,ax_g,ay_g,az_g", true), ("t_s,ax_m_s2,ay_m_s2,az_m_s2", false),
    ])
    func anotherHeaderEndsTheReading(header: String, isOther: Bool) throws {
        let first = "t_s,ax_m_s2,ay_m_s2,az_m_s2\n" + rows { "\(Double($0) / 100),0,0,9.81" }
        let found = try read(first + header + "\n" + rows { "\(Double($0 + 300) / 100),0,0,9.81" })
        #expect(isOther ? found.samples[0].count <= 300 : found.samples[0].count == 600)
        let ends = found.failures.contains { $0.contains(":302:1: another header, with other columns") }
        #expect(ends == isOther, "\(found.failures)")
        #expect(isOther || found.counts == [.notANumber: 1])
    }

    // MARK: - Times in two columns, durations

    /// Seconds since 1970 of rows at 100 Hz that begin before a full second, whole and the rest.
    private func parts(_ row: Int) -> (seconds: Int, nanoseconds: Int) {
        let hundredths = 1_700_000_000_35 + row
        return (hundredths / 100, hundredths % 100 * 10_000_000)
    }

    @Test(arguments: [
        ("secs,nsecs", 1), ("header.stamp.sec,header.stamp.nanosec", 1), ("tv_sec,tv_usec", 1000),
    ])
    func secondsAndTheirFractionAreOneTime(_ names: String, divisor: Int) throws {
        let found = try read(
            "receiver_time,\(names),ax_m_s2,ay_m_s2,az_m_s2,gx_rad_s,gy_rad_s,gz_rad_s\n"
                + rows { row in
                    let time = parts(row)
                    return "\(time.seconds),\(time.seconds),\(time.nanoseconds / divisor),0,0,9.81,0,0,0.1"
                })
        #expect(found.samples.map(\.count) == [300, 300] && found.counts.isEmpty && found.notices.isEmpty)
        let expected: [Int64] = (0..<300).map { 1_700_000_000_350_000_000 + Int64($0) * 10_000_000 }
        #expect(found.samples[0].map(\.timeNanoseconds) == expected)
    }

    @Test func aCountOfItsOwnIsNoFraction() throws {
        // In rows of 4 ms.
        let tables: [(names: String, times: (Int) -> String)] = [
            // Milliseconds of their own, beside seconds and stamps with another name.
            ("elapsed_s,elapsed_ms", { "\($0 / 250),\($0 * 4)" }),
            ("epoch_s,uptime_ms", { "\(1_700_000_000 + $0 / 250),\($0 * 4)" }),
            ("timestamp,time_since_last_ms", { "\(1_700_000_000_000 + $0 * 4),4" }),
            // A column that has all of the time.
            (
                "time_us,hour,minute,second,millisecond",
                { "\($0 * 4000),1,2,\($0 / 250 % 60),\($0 * 4 % 1000)" }
            ),
            ("time,nsec", { "\(Double($0) / 250),\($0 * 4_000_000 % 1_000_000_000)" }),
        ]
        for (names, times) in tables {
            let found = try read("\(names),ax_m_s2,ay_m_s2,az_m_s2\n" + rows(1000) { "\(times($0)),0,0,9.81" })
            let stamps = found.samples[0].map(\.timeNanoseconds)
            let expected: [Int64] = (0..<1000).map { stamps[0] + Int64($0) * 4_000_000 }
            #expect(stamps == expected, "\(names)")
        }
    }

    @Test func aFractionIsFoundWithAnEmptyRowAndWithinTheFirstSecond() throws {
        for (hertz, first) in [(100, 1_700_000_000), (400, 0)] {
            let found = try read(
                "sec,seq,nanosec,ax_m_s2,ay_m_s2,az_m_s2\n"
                    + rows(1000) { row in
                        guard row != 7 else { return ",,,,," }
                        return "\(first + row / hertz),\(row),\(row % hertz * 1_000_000_000 / hertz),0,0,9.81"
                    })
            let stamps = found.samples[0].map(\.timeNanoseconds)
            #expect(stamps.count == 999)
            let step = Int64(1_000_000_000 / hertz)
            let last = Int64(first) * 1_000_000_000 + 999 * step
            #expect(stamps.last == last)
        }
    }

    /// Hours, minutes and seconds of a clock are one time, over midnight as well, and the fractions of its seconds may have a column.
    @Test(arguments: [
        "Hour,Minute,Second", "Year,Month,Day,Hour,Minute,Second,Millisecond", "Time,ms", "Date,Time,Millis",
        "Hour,Minute,Second,Millisecond",
    ])
    func theTimeOfAClockMayBeInSeveralColumns(names: String) throws {
        let found = try read(
            names + ",ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows { row in
                    let milliseconds = (86_400_000 - 4_321 + 70 * row) % 86_400_000
                    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000)
                    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
                    let clock = String(format: "%02d:%02d:%02d", hour, minute, second)
                    let time =
                        switch names {
                        case "Time,ms": "\(clock),\(rest)"
                        case "Date,Time,Millis": "2024-05-\(row < 62 ? 13 : 14),\(clock),\(rest)"
                        case "Year,Month,Day,Hour,Minute,Second,Millisecond":
                            "2024,5,1,\(hour),\(minute),\(second),\(rest)"
                        case "Hour,Minute,Second,Millisecond": "\(hour),\(minute),\(second),\(rest)"
                        default: "\(hour),\(minute),\(Double(second) + Double(rest) / 1000)"
                        }
                    return "\(time),0,0,9.81"
                })
        #expect(found.counts.isEmpty, "\(found.notices)")
        let stamps = found.samples[0].map(\.timeNanoseconds)
        #expect(stamps.count == 300)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $1 - $0 == 70_000_000 }, "\(stamps.prefix(80))")
    }

    /// Times of a counter go on behind its end, behind which rows are read one by one; a recording that began again does not.
    @Test(arguments: [
        ("micros", 1 << 32, 5_000), ("millis", 1 << 32, 5), ("ticks_us", 1 << 30, 5_000), ("time_ms", 1 << 16, 10),
        ("seconds_of_day_s", 86_400, 1), ("GPS TOW (s)", 604_800, 2),
    ])
    func theTimesOfACounterGoOnBehindItsEnd(name: String, length: Int, step: Int) throws {
        for place in [3, 1500, 2999] {
            let text =
                "\(name),ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows(3000) { row in
                    "\((2 * length + (row - place) * step) % length),0,0,9.81"
                }
            let found = try read(text)
            let stamps = found.samples[0].map(\.timeNanoseconds)
            #expect(stamps.count == 3000 && found.counts == [.continued: 1], "\(found.notices)")
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $1 - $0 == stamps[1] - stamps[0] })
        }
        let restarted =
            "\(name),ax_m_s2,ay_m_s2,az_m_s2\n"
            + rows(300) { "\(length / 100 * 98 + ($0 == 299 ? -length / 2 : $0 * step)),0,0,9.81" }
        #expect(try read(restarted).counts == [.backwards: 1])
    }

    /// The rows of a second sensor may stand behind those of the first; its times begin where the others did.
    @Test(arguments: [60.0, 65.5, 3_598]) func rowsInBlocksAreNoLap(seconds: Double) throws {
        let count = Int(seconds)
        let found = try read(
            "time_s,ax_m_s2,ay_m_s2,az_m_s2,gx_rad_s,gy_rad_s,gz_rad_s\n"
                + rows(count) { "\(Double($0) * seconds / Double(count)),0,0,9.81,,," }
                + rows(count) { "\(Double($0) * seconds / Double(count)),,,,0,0,0.1" })
        #expect(found.counts.isEmpty, "\(found.notices)")
        #expect(found.samples[0].map(\.timeNanoseconds) == found.samples[1].map(\.timeNanoseconds))
    }

    /// One stray stamp moves no later one, nor does a flaw in the row where a counter begins again go unnoticed.
    @Test func aLapIsConfirmedByTheNextRow() throws {
        func text(_ row: (Int) -> String) -> String { "millis,ax_m_s2,ay_m_s2,az_m_s2\n" + rows(7_000, row) }
        let stray = try read(text { "\($0 == 6_553 ? 0 : $0 * 10),0,0,9.81" })
        #expect(stray.counts == [.backwards: 1] && stray.samples[0].last?.timeNanoseconds == 69_990_000_000)
        let flawed = try read(text { "\($0 * 10 % 65_536),\($0 == 6_554 ? "abc" : "0"),0,9.81" })
        #expect(flawed.counts == [.continued: 1, .notANumber: 1], "\(flawed.notices)")
        #expect(flawed.samples[0].last?.timeNanoseconds == 69_990_000_000)
    }

    /// A clock of UTC loses no hour at the end of summer time.
    @Test(arguments: ["Z", "+02:00", " UTC"]) func aClockWithAZoneIsSetBack(zone: String) throws {
        let text =
            "time,ax_m_s2,ay_m_s2,az_m_s2\n"
            + rows {
                "2024-11-03T0\($0 < 150 ? 2 : 1):59:\(String(format: "%05.2f", 58 + Double($0 % 150) / 100))\(zone),0,0,9.81"
            }
        #expect(try read(text).failures.contains { $0.contains("the clock was set back") })
    }

    /// Microseconds behind a colon without their leading zeros look like milliseconds.
    @Test func aFractionBehindAColonHasOneUnit() throws {
        func clock(_ row: Int, _ fraction: String) -> String { "12:00:0\(row / 100):\(fraction),0,0,9.81" }
        let header = "time,ax_m_s2,ay_m_s2,az_m_s2\n"
        let padded = try read(header + rows { clock($0, String(format: "%06d", $0 % 100 * 10_000 + 250)) })
        #expect(padded.counts.isEmpty && padded.samples[0].count == 300, "\(padded.notices)")
        let bare = try read(header + rows { clock($0 + 40, "\(($0 + 40) % 100 * 10_000 + 250)") })
        #expect(Set(bare.counts.keys) == [.notANumber], "\(bare.counts)")
        #expect(bare.failures.isEmpty && bare.samples[0].count == 270, "\(bare.failures)")
        let steps = zip(bare.samples[0], bare.samples[0].dropFirst()).map { $1.timeNanoseconds - $0.timeNanoseconds }
        #expect(steps.allSatisfy { $0 > 0 && $0 % 10_000_000 == 0 })
    }

    @Test(arguments: ["Time", "Minute,Second", "local_time"]) func timesGoOnBehindTheHour(names: String) throws {
        let found = try read(
            names + ",ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows(900) { row in
                    let clock = String(
                        format: "%02d:%04.1f", (3_530 + row / 10) / 60 % 60, Double((35_300 + row) % 600) / 10)
                    let text =
                        switch names {
                        case "Time": clock
                        case "local_time": "2024-11-03 02:\(clock)"
                        default: clock.split(separator: ":").joined(separator: ",")
                        }
                    return "\(text),0,0,9.81"
                })
        let stamps = found.samples[0].map(\.timeNanoseconds)
        #expect(stamps.count == 900 && found.counts == [.continued: 1], "\(found.notices)")
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $1 - $0 == 100_000_000 })
    }

    // MARK: - Names and units of programs

    @Test func namesOfLabViewStandBehindItsHeaders() throws {
        for end in ["", "\t"] {
            let found = try read(
                "LabVIEW Measurement\t\nSeparator\tTab\nDate\t2024/05/17\n***End_of_Header***\t\n\t\nChannels\t3\t\t\t\n"
                    + "Y_Unit_Label\tg\tg\tg\t\nX0\t0.0\t0.0\t0.0\t\nDelta_X\t0.02\t0.02\t0.02\t\n***End_of_Header***\t\t\t\t\n"
                    + "X_Value\tAcceleration_x\tAcceleration_y\tAcceleration_z\tComment\n"
                    + rows { "\(Double($0) / 50)\t0\t0\t1\(end)" })
            #expect(found.samples[0].count == 300 && found.notices.isEmpty, "\(found.notices)")
            #expect(abs(found.samples[0][50].z - 9.80665) < 1e-5)
            #expect(found.samples[0][50].timeNanoseconds == 1_000_000_000)
        }
    }

    /// The units are those of the channels, also between times of their own; a table without times has the step of its header; and a second
    /// segment is not the first.
    @Test(arguments: ["Multi", "No", "One"]) func theHeadersOfLabViewAreUsed(times: String) throws {
        let header =
            "***End_of_Header***\n\nChannels\t3\nY_Unit_Label\tg\tg\tg\nX0\t0\t0\t0\nDelta_X\t0.02\t0.02\t0.02\n***End_of_Header***\n"
        let names =
            times == "Multi"
            ? "X_Value\tAccX\tX_Value\tAccY\tX_Value\tAccZ\tComment\n" : "X_Value\tAccX\tAccY\tAccZ\tComment\n"
        func row(_ number: Int) -> String {
            let time = "\(Double(number) / 50)"
            return switch times {
            case "Multi": "\(time)\t0\t\(time)\t0\t\(time)\t1"
            case "No": "\t0\t0\t1"
            default: "\(time)\t0\t0\t1"
            }
        }
        let first = "LabVIEW Measurement\nSeparator\tTab\nX_Columns\t\(times)\n" + header + names + rows(100, row)
        let found = try read(first)
        #expect(found.samples[0].count == 100 && abs(found.samples[0][50].z - 9.80665) < 1e-5, "\(found.notices)")
        #expect(found.samples[0][50].timeNanoseconds == 1_000_000_000)
        guard times == "One" else { return }
        let both = try read(first + "\n" + header.dropFirst(21) + names + rows(100) { row($0 + 100) })
        #expect(both.samples[0].count == 200 && both.counts.isEmpty == false, "\(both.counts)")
    }

    @Test func theScalesOfGyroflowAreUsed() throws {
        let found = try read(
            "GYROFLOW IMU LOG\nversion,1.3\nid,logger\norientation,XYZ\ntscale,0.001\ngscale,0.00053263\nascale,0.00048828125\n"
                + "t,gx,gy,gz,ax,ay,az\n" + rows { "\($0 * 20),100,0,0,0,0,2048" })
        let place = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        #expect(abs(found.samples[place][50].x - 0.053263) < 1e-6, "\(found.notices)")
        #expect(abs(found.samples[1 - place][50].z - 9.80665) < 1e-5)
        #expect(found.samples[place][50].timeNanoseconds == 1_000_000_000)
    }

    /// A scale of the time that is no unit is not guessed, and a small scale of rates is read.
    @Test func otherScalesOfGyroflow() throws {
        func text(_ scale: String) -> String {
            "GYROFLOW IMU LOG\nversion,1.3\ntscale,\(scale)\ngscale,1e-05\nascale,0.00048828125\nt,gx,gy,gz,ax,ay,az\n"
                + rows { "\($0 * 20),100,0,0,0,0,2048" }
        }
        let found = try read(text("0.001"))
        let place = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        #expect(abs(found.samples[place][50].x - 0.001) < 1e-8, "\(found.notices)")
        #expect(try refusal(text("0.0001")).contains("0.0001"))
    }

    @Test func theOrderOfAxesMayBeInAName() throws {
        let found = try read(
            "\"cts\",\"date\",\"Accelerometer (z,x,y) [m/s2]\",\"1\",\"2\",\"temperature [°C]\"\n"
                + rows { "\($0 * 20),2024-05-17T14:22:\(10 + $0 / 50).\(100 + $0 % 50 * 2)Z,9.8,0.1,0.2,28" })
        #expect(
            found.samples[0][0] == Sample(timeNanoseconds: found.samples[0][0].timeNanoseconds, x: 0.1, y: 0.2, z: 9.8))
        let scaled = try read("time_s,AccX(0.01g),AccY(0.01g),AccZ(0.01g)\n" + rows { "\(Double($0) / 50),0,0,100" })
        #expect(abs(scaled.samples[0][0].z - 9.80665) < 1e-5)
    }

    /// A number from 1 on before a unit is the range of the sensor, not a factor.
    @Test(arguments: ["250 deg/s", "245dps", "2000 dps"]) func aRangeIsNoFactor(range: String) throws {
        let found = try read(
            "time_s,ax_m_s2,ay_m_s2,az_m_s2,GyrX (\(range)),GyrY (\(range)),GyrZ (\(range))\n"
                + rows { "\(Double($0) / 50),0,0,9.81,1,2,3" })
        #expect(found.streams.map(\.kind) == [.accelerometer], "\(found.notices)")
        let blank = try read("time_s,Acc X (4 g),Acc Y (4 g),Acc Z (4 g)\n" + rows { "\(Double($0) / 50),0,0,1" })
        #expect(abs(blank.samples[0][0].z - 9.80665) < 1e-5, "\(blank.notices)")
    }

    // MARK: - Several of a kind

    /// The sensors of one body are played, whichever comes first.
    @Test(arguments: [["chest", "ankle"], ["ankle", "chest"]]) func sensorsOfOneBodyBelongTogether(bodies: [String])
        throws
    {
        let axes = { (name: String) in ["x", "y", "z"].map { "\(name)_\($0)" }.joined(separator: ",") }
        let found = try read(
            "time_s,\(bodies.map { axes("acc_\($0)") }.joined(separator: ",")),\(axes("gyro_ankle")),\(axes("mag_ankle"))\n"
                + rows {
                    "\(Double($0) / 50),\(bodies[0] == "ankle" ? "0,9.81,0,0,0,9.81" : "0,0,9.81,0,9.81,0"),0,0,0,20,0,-40"
                })
        let place = try #require(found.streams.firstIndex { $0.kind == .accelerometer })
        #expect(found.samples[place][0].y == 9.81)
        #expect(found.notices.contains { $0.contains("acc_chest_x, acc_chest_y, acc_chest_z left out") })
    }

    @Test func numbersInAUnitComeBeforeRawOnes() throws {
        let found = try read(
            "time_s,ax_g,ay_g,az_g,gx_raw,gy_raw,gz_raw,gx_dps,gy_dps,gz_dps\n"
                + rows { "\(Double($0) / 50),0,0,1,131,0,0,1,0,0" })
        let place = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        #expect(abs(found.samples[place][0].x - .pi / 180) < 1e-6)
    }

    /// Beside an accelerometer `foot_a` the letters are those of sensors, and beside none those of frames.
    @Test(arguments: ["foot", "phone", "imu"]) func lettersOfSensorsOnABody(body: String) throws {
        let names = ["a", "w", "b"].flatMap { letter in ["x", "y", "z"].map { "\(body)_\(letter)_\($0)" } }
        let found = try read(
            "t_s,\(names.joined(separator: ","))\n"
                + rows { "\(Double($0) / 100),0,0,9.81,0.01,\(sin(Double($0) / 10)),0.01,20,0,-40" })
        #expect(Set(found.streams.map(\.kind)) == [.accelerometer, .gyroscope, .magnetometer], "\(found.notices)")
        let place = try #require(found.streams.firstIndex { $0.kind == .magnetometer })
        #expect(found.samples[place][0].z == -40)
    }

    /// Light of a sensor B, the point of a tool in the frame b, and a magnetometer that was never read.
    @Test(arguments: ["als_B.%", "Tip_B_% (mm)", "wrist_w_%", "m%"]) func whatIsNoFieldIsLeftOut(name: String) throws {
        let names = ["x", "y", "z"].map { name.replacing("%", with: $0) }
        let value = name == "m%" ? 0 : 45
        let found = try read(
            "time_s,acc_x_g,acc_y_g,acc_z_g,\(names.joined(separator: ","))\n"
                + rows { "\(Double($0) / 50),0,0,1,\(value),\(value),\(value)" })
        #expect(found.streams.map(\.kind) == [.accelerometer])
        #expect(found.notices.contains { $0.hasPrefix(names[0]) && $0.contains("left out") }, "\(found.notices)")
    }

    @Test func ratesPerHourAreThose() throws {
        let found = try read(
            "time_s,ax_g,ay_g,az_g,gx_deg_h,gy_deg_h,gz_deg_h\n" + rows { "\(Double($0) / 50),0,0,1,3600,0,0" })
        let place = try #require(found.streams.firstIndex { $0.kind == .gyroscope })
        #expect(abs(found.samples[place][0].x - .pi / 180) < 1e-6, "\(found.notices)")
        let other = try read(
            "time_s,ax_g,ay_g,az_g,gyro_x_rpm,gyro_y_rpm,gyro_z_rpm\n" + rows { "\(Double($0) / 50),0,0,1,60,0,0" })
        #expect(other.streams.map(\.kind) == [.accelerometer])
    }

    /// Exports of single signals have their seconds before each, which are no distances of samples.
    @Test func secondsBeforeASignalAreItsTime() throws {
        let found = try read(
            ["X", "Y", "Z"].map { "X [s],\"Sensor 1: Acc \($0) [g]\"" }.joined(separator: ",") + "\n"
                + rows { row in
                    let time = Double(row) / 148
                    return "\(time),0,\(time),0,\(time),1"
                })
        #expect(abs(found.samples[0][148].timeNanoseconds - 1_000_000_000) < 2, "\(found.notices)")
    }

    @Test func daysSinceTheYear0AreNamed() throws {
        let message = try refusal(
            "time,ax_g,ay_g,az_g\n" + rows { String(format: "%.10f,0,0,1", 739_389.6 + Double($0) / 50 / 86_400) })
        #expect(message.contains("days since the year 0") && message.contains("\"50\""), "\(message)")
    }

    /// What goes on while the seconds of the clock rise counts from the start, and is the time.
    @Test(arguments: ["Time,ms", "Time,Time (ms)", "Date,Time,Millis"])
    func aCounterBesideAClockIsNoFraction(names: String) throws {
        for count in [240, 1000] {
            let found = try read(
                names + ",ax_m_s2,ay_m_s2,az_m_s2\n"
                    + rows(count) { row in
                        let clock = String(format: "14:45:%02d", 10 + (500 + 4 * row) / 1000)
                        return "\(names.hasPrefix("Date") ? "2024-11-21," : "")\(clock),\(17 + 4 * row),0,0,9.81"
                    })
            let stamps = found.samples[0].map(\.timeNanoseconds)
            #expect(stamps.count == count && found.counts.isEmpty, "\(found.notices)")
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $1 - $0 == 4_000_000 })
        }
    }

    @Test func whatStandsBesideAClockAndIsNotReadIsSaid() throws {
        let half = try read(
            "Date,Time,AM/PM,ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows { "11/21/2024,02:45:\(String(format: "%05.2f", 10 + Double($0) / 10)),PM,0,0,9.81" })
        #expect(half.notices.contains { $0.contains("AM and PM in 'AM/PM' are not read") }, "\(half.notices)")
        let days = try read(
            "Year,Month,Day,Hour,Minute,Second,ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows { "2024,11,21,14,45,\(10 + Double($0) / 10),0,0,9.81" })
        #expect(days.notices.contains { $0.contains("'Day' is not read with the hours") }, "\(days.notices)")
    }

    /// Minutes and seconds of one elapsed time are not added, unless the seconds begin again.
    @Test func minutesOfTheSameTimeAreNoPartOfIt() throws {
        let found = try read(
            "elapsed_min,elapsed_s,ax_m_s2,ay_m_s2,az_m_s2\n" + rows { "\($0 / 120),\(Double($0) / 2),0,0,9.81" })
        #expect(found.samples[0].last?.timeNanoseconds == 149_500_000_000, "\(found.notices)")
    }

    @Test func aFractionBeyondASecondIsSkipped() throws {
        let found = try read(
            "sec,nsec,ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows { row in
                    let time = parts(row)
                    return "\(time.seconds),\(row == 250 ? 1_000_000_000 : time.nanoseconds),0,0,9.81"
                })
        #expect(found.samples[0].count == 299 && found.counts == [.notANumber: 1])
    }

    @Test(arguments: [("0 days ", "1 days "), ("", "1 day, ")])
    func durationsOfPandasAndPythonAreTimes(_ first: String, second: String) throws {
        // Rows in steps of a tenth, of which the last hundred lie behind the first day.
        let found = try read(
            "time,ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows { row in
                    let text = row < 200 ? "23:59:\(40 + row / 10)" : "0:00:0\(row / 10 - 20)"
                    return "\"\(row < 200 ? first : second)\(text).\(row % 10)\",0,0,9.81"
                })
        #expect(found.counts.isEmpty)
        let expected: [Int64] = (0..<300).map { 86_380_000_000_000 + Int64($0) * 100_000_000 }
        #expect(found.samples[0].map(\.timeNanoseconds) == expected)
    }

    @Test func aDurationBeyondAllTimesIsNone() throws {
        #expect(
            try refusal("time,ax,ay,az\n" + rows { "999999999 days 00:00:0\($0 % 9),0,0,9.81" }).contains("is none"))
    }

    @Test func aNarrowBlankBeforePMIsABlank() throws {
        let found = try read(
            "time,ax_m_s2,ay_m_s2,az_m_s2\n"
                + rows(100) { "\"10/17/2024, 7:22:00.\($0 < 10 ? "0" : "")\($0)\u{202F}PM\",0,0,9.81" })
        #expect(found.samples[0].count == 100)
        #expect(found.samples[0][0].timeNanoseconds == 1_729_192_920_000_000_000)
    }

    // MARK: - Rows without values

    @Test func rowsWithoutAnyValueAreCounted() throws {
        let found = try read(
            "time_s,ax,ay,az\n" + rows { $0 % 2 == 1 ? "\(Double($0) / 100),,," : "\(Double($0) / 100),0,0,9.81" })
        #expect(found.samples[0].count == 150 && found.counts == [.empty: 150])
        // Those of one of several sensors are usual.
        let two = try read(
            "time_s,ax,ay,az,mx,my,mz\n"
                + rows { $0 % 2 == 0 ? "\(Double($0) / 100),,,,20,0,-40" : "\(Double($0) / 100),0,0,9.81,,," })
        #expect(two.counts.isEmpty && two.samples.map(\.count) == [150, 150])
        // However many there are, the file is no damaged one.
        let rest = try read(
            "time_s,ax,ay,az\n"
                + rows(3000) { 0 < $0 && $0 <= 2500 ? "\(Double($0) / 100),,," : "\(Double($0) / 100),0,0,9.81" })
        #expect(rest.samples[0].count == 500 && rest.counts == [.empty: 2500])
    }

    // MARK: - Several recordings in one table

    @Test(arguments: [
        ("sensor_id", "1", "2"), ("device", "left", "right"), ("I", "0", "1"), ("IMU", "0", "1"),
        ("deviceId", "d1x", "d2x"),
    ])
    func rowsOfSeveralDevicesAreRefused(name: String, one: String, other: String) throws {
        let text = try refusal(
            "time_ms,\(name),ax,ay,az\n" + rows { "\($0 * 5),\($0 % 2 == 0 ? one : other),0,0,9.81" })
        #expect(
            text.contains("several devices") && text.contains("awk") && text.contains("f == \\\"\(one)\\\""), "\(text)")
        // One device, or one after the other.
        let whole = try read("time_ms,\(name),ax,ay,az\n" + rows { "\($0 * 5),\($0 < 150 ? one : other),0,0,9.81" })
        #expect(whole.samples[0].count == 300)
    }

    /// The printed command keeps all lines before the rows.
    @Test func theNamesOfSeveralDevicesMayStandFurtherDown() throws {
        let head = "Recorder 7\n\ntime_ms,device,ax,ay,az\n"
        let text = try refusal(head + rows { "\($0 * 5),\($0 % 2 == 0 ? "left" : "right"),0,0,9.81" })
        #expect(text.contains("several devices") && text.contains("NR <= 3 ||"), "\(text)")
    }

    @Test(arguments: ["label", "count", "activity", "index"])
    func whatTellsNoDevicesApartIsIgnored(name: String) throws {
        let found = try read("time_ms,\(name),ax,ay,az\n" + rows { "\($0 * 5),\($0 % 10),0,0,9.81" })
        #expect(found.samples[0].count == 300)
    }

    @Test func blocksWithTimesOfTheirOwnArePlayedOneByOne() throws {
        let text =
            "acc_time_s,acc_x,acc_y,acc_z,mag_time_s,mag_x,mag_y,mag_z\n"
            + rows { row in "\(Double(row) / 100),0,0,9.81" + (row < 120 ? ",\(Double(row) / 20),20,0,-45" : ",,,,") }
        let first = try read(text)
        #expect(first.streams.map(\.kind) == [.accelerometer] && first.samples[0].count == 300)
        #expect(
            first.notices.contains { $0.contains("'mag_x', 'mag_y', 'mag_z' left out") && $0.contains("'time=#5'") })
        let second = try read(text, map: "time=#5")
        #expect(second.streams.map(\.kind) == [.magnetometer])
        #expect(second.samples[0].last?.timeNanoseconds == 5_950_000_000)
        // A second time that agrees is no other.
        let same =
            "acc_time_s,acc_x,acc_y,acc_z,mag_time_ms,mag_x,mag_y,mag_z\n"
            + rows { "\(Double($0) / 100),0,0,9.81,\($0 * 10 + 3),20,0,-45" }
        #expect(try read(same).streams.count == 2)
    }

    // MARK: - Times

    /// A printed `time=NAME` without a unit would be read up to the colon.
    @Test func aNameWithAColonIsOfferedByItsNumber() throws {
        let text = try refusal(
            "Time hh:mm:ss,x,y,z\n" + rows { "10:00:\(10 + $0 / 10).\($0 % 10),20.25,0,-40" })
        #expect(text.contains("time=#1,mx=x:uT"), "\(text)")
    }

    @Test func aFractionOfASecondIsNotOfferedAsTheTime() throws {
        let text = try refusal(rows { "\(1_729_192_942 + $0 / 50),\($0 % 50 * 20_000_000),0.1,0.2,9.8" })
        #expect(text.contains("--rate") && !text.contains("time=#2"), "\(text)")
    }

    @Test(arguments: [
        ("timestamp (+0200)", true), ("Time (UTC-7)", true), ("Time (UTC)", false), ("timestamp (+00:00)", false),
    ])
    func aZoneInANameIsSaidNotToBeApplied(name: String, isSaid: Bool) throws {
        let found = try read("\(name),ax,ay,az\n" + rows { "2025-07-01 14:56:\(10 + $0 / 10).\($0 % 10),0,0,9.81" })
        #expect(found.samples[0].first?.timeNanoseconds == 1_751_381_770_000_000_000)
        #expect(found.notices.contains { $0.contains("is not applied") } == isSaid, "\(found.notices)")
    }

    /// An app's event before the first sample has a time and no number.
    @Test func aTimeWithoutANumberBelowTheNamesIsARow() throws {
        let found = try read(
            "TimeStamp,Accelerometer_X,Accelerometer_Y,Accelerometer_Z,Elements\n"
                + "2025-07-01 14:56:04.422,,,,/muse/event/connected\n"
                + rows { "2025-07-01 14:56:\(10 + $0 / 10).\($0 % 10),0.1,0.2,0.97," })
        #expect(found.samples[0].count == 300 && found.counts == [.empty: 1])
    }

    @Test func namesBelowATimeWithoutANumberAreTheHeader() throws {
        let found = try read(
            "Time,X,Y,Z\n10:00:00,Start,,\nTime,AccX (g),AccY (g),AccZ (g)\n"
                + rows { "10:00:\(10 + $0 / 10).\($0 % 10),0.01,0.02,1" })
        #expect(found.samples[0].count == 300 && found.counts.isEmpty, "\(found.notices)")
    }

    @Test(arguments: [
        ("Time ms", 1_000_000), ("timeMs", 1_000_000), ("time-ms", 1_000_000), ("time.ms", 1_000_000),
        ("ms", 1_000_000),
        ("TimeUS", 1000), ("elapsedMs", 1_000_000), ("time us", 1000), ("timestampNs", 1),
    ])
    func shortUnitsOfTimesCount(name: String, nanoseconds: Int64) throws {
        let found = try read("\(name),ax,ay,az\n" + rows { "\($0 * 5000),0,0,9.81" })
        #expect(found.samples[0][1].timeNanoseconds - found.samples[0][0].timeNanoseconds == 5000 * nanoseconds)
        #expect(!found.notices.contains { $0.contains("no unit for '\(name)'") })
    }

    /// As many milliseconds are those of a device that is up for weeks, and no sensor is read every few seconds.
    @Test func whatMayBeSecondsSince1970IsSaid() throws {
        let found = try read("timestamp,ax,ay,az\n" + rows { "\(1_700_000_000 + $0 * 5),0,0,9.81" })
        #expect(found.samples[0][0].timeNanoseconds == 1_700_000_000_000_000)
        #expect(found.notices.contains { $0.contains("seconds since 1970 would be as large") })
        #expect(
            try read("timestamp,ax,ay,az\n" + rows { "\(9_000_000 + $0 * 5),0,0,9.81" }).notices.allSatisfy {
                !$0.contains("1970")
            })
    }

    @Test(arguments: [400, 256, 150])
    func aRateThatNothingShowsIsAPlaceholder(hertz: Int) throws {
        let text = try refusal("Time,ax,ay,az\n" + rows(900) { "19:22:\(20 + $0 / hertz),0,0,9.81" })
        #expect(text.contains("the same time") && text.contains("placeholder"), "\(text)")
    }

    @Test func aTemperatureIsNoTime() throws {
        let table = rows { "\($0),0,0,9.81,\(23.18 + Double($0) * 0.005)" }
        let refused = try refusal("n,ax,ay,az,T (°C)\n" + table)
        #expect(refused.contains("no column holds the time") && !refused.contains("time=T"), "\(refused)")
        #expect(try read("n,ax,ay,az,T\n" + table, rateHz: 50).samples[0][1].timeNanoseconds == 20_000_000)
        #expect(try !refusal("Time (0.1ms),ax,ay,az\n" + rows { "\($0 * 100),0,0,9.81" }).contains(":ms"))
        #expect(try refusal("Time,ax,ay,az\n" + rows { "\($0) sec,0,0,9.81" }).contains("no field of 'Time' is a time"))
    }

    @Test func aRowOutOfOrderAtMidnightBeginsNoDay() throws {
        let times = ["23:59:59.97", "23:59:59.98", "00:00:00.00", "23:59:59.99", "00:00:00.01"]
        let found = try read("time,ax_g,ay_g,az_g\n" + times.map { "\($0),0,0,1\n" }.joined())
        #expect(
            found.samples[0].map { $0.timeNanoseconds / 10_000_000 } == [8_639_997, 8_639_998, 8_640_000, 8_640_001])
        #expect(found.counts == [.backwards: 1])
    }

    @Test(arguments: [("12:30", "00:00:00"), ("10:00", "23:00:00")])
    func aStrayTimeBeginsNoDay(start: String, stray: String) throws {
        func time(_ row: Int) -> String { "\(start):\(10 + row / 10).\(row % 10)" }
        let found = try read("time,ax_g,ay_g,az_g\n" + rows { "\($0 == 50 ? stray : time($0)),0,0,1" })
        let stamps = found.samples[0].map(\.timeNanoseconds)
        #expect(stamps.count == 299 && found.counts == [.outlier: 1])
        #expect(stamps[298] - stamps[0] == 29_900_000_000)
    }

    /// Hostile clocks and rates end in a message.
    @Test(arguments: [
        "time,ax,ay,az\n2024-01-01 00:00:31+9999999,0,0,9.8\n", "time,ax,ay,az\n14:05:33-20240101,0,0,9.8\n",
        "time,ax,ay,az\n2024-01-01T00:00:31-25:00,0,0,9.8\n", "time,ax,ay,az\n2024-01-01T00:00:31+01:60,0,0,9.8\n",
    ])
    func impossibleZonesAreNoTimes(text: String) throws {
        let good = rows(20) { "2024-01-01 00:00:\(10 + $0)+05:30,0,0,9.8" }
        let found = try read(text.replacing("az\n", with: "az\n" + good))
        #expect(found.samples[0].first?.timeNanoseconds == 1_704_047_410_000_000_000)
        #expect(found.samples[0].count == 20 && found.counts == [.notANumber: 1])
    }

    @Test func aRateOfACommentIsOneOfASensor() throws {
        #expect(
            try refusal("# 0.000000001 Hz\nax,ay,az\n" + rows { _ in "0,0,9.8" }).contains("no column holds the time"))
        let days = rows(330_000) { "\([23, 8, 16][$0 % 3]):00:00,0,0,9.8" }
        #expect(try read("time,ax,ay,az\n" + days.prefix(400)).samples[0].count > 10)
        let file = try TemporaryFile("time,ax,ay,az\n" + days)
        #expect(!Collected(try TraceSource(paths: [file.path])).failures.isEmpty)
    }

    // MARK: - Thousands

    @Test func pointsBesideDecimalCommasSeparateThousands() throws {
        let head = "Zeit (s);ax (mg);ay (mg);az (mg)\n"
        func time(_ row: Int) -> String { "\(row / 100),\(String(row % 100 + 100).dropFirst())" }
        let text = head + rows { "\(time($0));\($0 == 250 ? "1.402" : "12");3;985" }
        let found = try read(text)
        #expect(found.samples[0].count == 299 && found.counts == [.notANumber: 1])
        // Values with points as the decimal mark beside times with commas.
        let mixed = try read(head + rows { "\(time($0));\($0 == 250 ? "1.402" : "12.5");3;985" })
        #expect(mixed.samples[0].count == 300 && mixed.counts.isEmpty)
        // Beside decimal points a comma separates them.
        let points = try read(
            "Time (s)\tax (mg)\tay (mg)\taz (mg)\n"
                + rows { "\(Double($0) / 100)\t12\t3\t\($0 == 250 ? "1,850" : "985")" })
        #expect(points.samples[0].count == 299 && points.counts == [.notANumber: 1])
        let small = try read(head.replacing("mg", with: "g") + rows { "\(time($0));0.012;0.003;0.985" })
        #expect(small.samples[0].count == 300)
    }
}
