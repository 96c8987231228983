import Binnacle
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import Traces

/// What is found out about recordings whose headers say little.
@Suite struct RecognitionTests {
    private static func rows(_ count: Int = 60, _ row: (Int) -> String) -> String {
        (0..<count).map { row($0) + "\n" }.joined()
    }

    private func opened(_ text: String, _ hints: TraceHints = TraceHints()) throws -> (
        samples: [[Sample]], notices: [String], repairs: TraceRepairs
    ) {
        let file = try TemporaryFile(text)
        let trace = try TraceFile(path: file.path, hints: hints)
        let source = TraceSource([
            (file: trace, sensors: TraceSource.nameSensors(of: [trace], given: [trace.contents.map { _ in nil }])[0])
        ])
        return (Collected(source).samples, trace.notices.map(\.message), source.repairs)
    }

    private func refusal(_ text: String, _ hints: TraceHints = TraceHints()) throws -> TraceError {
        let file = try TemporaryFile(text)
        return try #require(throws: TraceError.self) { try TraceFile(path: file.path, hints: hints) }
    }

    @Test(arguments: ["x,y,z,x,y,z", "acc_x,acc_y,acc_z,x,y,z"])
    func axesOfWhichNothingIsKnownAreNamed(names: String) throws {
        let found = try opened("t_s,\(names)\n" + Self.rows { "\(Double($0) / 50),0,0,9.81,20,\($0),-40" })
        #expect(found.samples.count == 1)
        #expect(
            found.notices.contains { $0.contains("left out: their names do not say what they measure") },
            "\(found.notices)")
    }

    // MARK: - Units

    @Test(
        arguments: [
            ("0,0,9.81", "m/s²", 9.81), ("0,0,1.002", "g", 9.826), ("0,0,-1003", "mg", -9.836),
            ("0.3,0.1,9.7", "m/s²", 9.7),
        ] as [(String, String, Float)])
    func aUnitIsTakenFromTheValues(row: String, unit: String, z: Float) throws {
        let found = try opened("t_s,ax,ay,az\n" + Self.rows { "\(Double($0) / 50),\(row)" })
        #expect(found.notices.contains { $0.contains("taken as \(unit), which the values fit") }, "\(found.notices)")
        #expect(abs((found.samples[0].first?.z ?? 0) - z) < 0.01)
    }

    @Test(arguments: [
        ("20,0,-40", "µT"), ("0.2,0,-0.4", "gauss"), ("200,0,-400", "mgauss"), ("20000,0,-40000", "nT"),
        ("0.00002,0,-0.00004", "T"),
    ])
    func aFieldsUnitIsTakenFromTheValues(row: String, unit: String) throws {
        let found = try opened("t_s,mx,my,mz\n" + Self.rows { "\(Double($0) / 50),\(row)" })
        #expect(found.notices.contains { $0.contains("taken as \(unit), which") }, "\(found.notices)")
        #expect(abs((found.samples[0].first?.z ?? 0) + 40) < 0.01)
    }

    @Test(arguments: [("g", "9.81"), ("m_s2", "1"), ("mg", "1")])
    func aStatedUnitCountsAndIsHeldAgainstTheValues(unit: String, z: String) throws {
        let text = "t_s,ax_\(unit),ay_\(unit),az_\(unit)\n"
        let found = try opened(text + Self.rows { "\(Double($0) / 50),0,0,\(z)" })
        #expect(found.notices.count == 1)
        #expect(found.notices.first?.contains("in the unit that is stated") == true)
        #expect(found.samples[0].count == 60)
    }

    @Test(arguments: ["Shimmer_B7F8_Accel_LN_% (m/(s^2))", "H5 acc % (m/s2)", "Unit G Acceleration %"])
    func aWordDecidesAgainstALetter(name: String) throws {
        let names = ["X", "Y", "Z"].map { name.replacingOccurrences(of: "%", with: $0) }
        let found = try opened("t_s,\(names.joined(separator: ","))\n" + Self.rows { "\(Double($0) / 50),0,0,9.81" })
        #expect(found.samples[0].count == 60)
    }

    @Test func numbersWithTheirNamesAreMadeATable() throws {
        let file = try TemporaryFile(Self.rows { "ax:\(Double($0 % 3) / 50),ay: -0.20,az:9.80" })
        let error = try #require(throws: TraceError.self) { try TraceFile(path: file.path) }
        guard case .file(let result, .filter(let filter), let options)? = error.remedy else {
            Issue.record("\(error)")
            return
        }
        defer { try? FileManager.default.removeItem(atPath: result) }
        let shell = try Process.run(
            URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", "\(filter) < '\(file.path)' > '\(result)'"])
        shell.waitUntilExit()
        #expect(options == ["--rate", "100"] && error.message.contains("100 in --rate 100 is a placeholder"))
        let trace = try TraceFile(path: result, hints: TraceHints(rateHz: 50))
        #expect(trace.notices.map(\.message).contains { $0.contains("m/s²") })
        // Settings before the rows are none.
        let settings = try opened("fs=50,n=60\nt_s,ax,ay,az\n" + Self.rows { "\(Double($0) / 50),0,0,9.81" })
        #expect(settings.samples[0].count == 60)
    }

    @Test func rawCountsAreRefusedWithTheirScale() throws {
        let text = "t_s,ax,ay,az\n" + Self.rows { "\(Double($0) / 50),100,\($0 % 3),8150" }
        let error = try refusal(text)
        #expect(error.remedy == .options(["--map", "time=t_s:s,ax=ax:g/8192,ay=ay:g/8192,az=az:g/8192"]))
        for scale in ["g/8192", "8192/g", "0.0001220703125g"] {
            let map = try ColumnMap(["ax=ax:\(scale),ay=ay:\(scale),az=az:\(scale)"])
            let found = try opened(text, TraceHints(map: map))
            #expect(abs((found.samples[0].first?.z ?? 0) - 9.756) < 0.01)
        }
    }

    @Test func countsNearNoPowerOfTwoAreTakenAsTheyAre() throws {
        let error = try refusal("t_s,ax,ay,az\n" + Self.rows { "\(Double($0) / 50),0,\($0 % 2),341" })
        #expect(error.remedy == .options(["--map", "time=t_s:s,ax=ax:g/341,ay=ay:g/341,az=az:g/341"]))
    }

    @Test func countsWithoutTheirSignAreRefusedWithoutACommand() throws {
        let error = try refusal(
            "t_s,ax,ay,az\n" + Self.rows { "\(Double($0) / 50),\([3, 65525, 18][$0 % 3]),7,4099" })
        #expect(error.remedy == nil && error.message.contains("without their sign"), "\(error)")
    }

    @Test(arguments: [
        "ax,ay,az", "user_x,user_y,user_z",
        "linear acceleration x (g),linear acceleration y (g),linear acceleration z (g)",
    ])
    func anAccelerationWithoutGravityIsRefused(names: String) throws {
        let error = try refusal("t_s,\(names)\n" + Self.rows { "\(Double($0) / 50),0.0\($0 % 7),0.02,-0.01" })
        #expect(error.message.contains("without gravity"))
    }

    @Test(arguments: ["ax,ay,az", "linear acc x (m/s^2),linear acc y (m/s^2),linear acc z (m/s^2)"])
    func theCommandOfARefusalPlaysAnAccelerationWithoutGravity(names: String) throws {
        let text = "t_s,\(names)\n" + Self.rows { "\(Double($0) / 50),0.0\($0 % 7),0.02,-0.01" }
        let error = try refusal(text)
        #expect(error.remedy == .options(["--map", "acceleration=linear"]))
        let found = try opened(text, TraceHints(map: ColumnMap(["acceleration=linear"])))
        #expect(found.samples[0].count == 60)
        #expect(found.samples[0][3].x == 0.03 && abs(found.samples[0][3].z - 9.79665) < 1e-5)
        #expect(found.notices.contains { $0.contains("1 g is added along z") }, "\(found.notices)")
    }

    /// Movements of some tenths of m/s² have the length of a field in gauss or mT, and change as no field does.
    @Test(arguments: [0.03, 0.3])
    func bareAxesOfAMovementAreNoField(size: Double) throws {
        let text =
            "t_s,x,y,z\n"
            + Self.rows { row in
                let strength = size * Double(row % 10) / 5
                return "\(Double(row) / 50),\(strength * (row % 2 == 0 ? 1 : -1)),\(strength / 7),0.001"
            }
        let error = try refusal(text)
        #expect(error.message.contains("without gravity"))
        guard case .options(let options)? = error.remedy, let map = options.last else {
            Issue.record("\(error)")
            return
        }
        #expect(map.hasSuffix("acceleration=linear"), "\(options)")
        let found = try opened(text, TraceHints(map: ColumnMap([map])))
        #expect(abs((found.samples[0].first?.z ?? 0) - 9.80765) < 1e-4)
    }

    /// Letters of a file's name say nothing, whatever their case.
    @Test(arguments: ["M", "runM", "OQyTz4", "m1", "B_run2", "ax", "4mK", "myRun"])
    func lettersInAFilesNameAreNoKind(name: String) throws {
        let folder = try TemporaryFolder([
            "\(name).csv": "t_s,x,y,z\n" + Self.rows { "\(Double($0) / 50),0.2,0.1,-0.4" }
        ])
        let error = try #require(throws: TraceError.self) { try TraceFile(path: "\(folder.path)/\(name).csv") }
        #expect(error.message.contains("could be an accelerometer or a magnetometer"), "\(error)")
    }

    /// A field keeps its length, also beside the iron of its device.
    @Test func bareAxesOfAFieldInGaussAreAField() throws {
        let text =
            "t_s,x,y,z\n"
            + Self.rows { row in
                let angle = Double(row) / 10
                return "\(Double(row) / 50),\(0.2 * cos(angle) + 0.05),\(0.2 * sin(angle)),0.42"
            }
        let error = try refusal(text)
        guard case .options(let options)? = error.remedy, let map = options.last else {
            Issue.record("\(error)")
            return
        }
        #expect(map.contains("mx=x:gauss"), "\(options)")
    }

    /// The parts of a quaternion have a length of 1, as gravity in g has.
    @Test func partsOfAQuaternionAreNotOfferedAsAnAcceleration() throws {
        let text =
            "row,q9_w,q9_x,q9_y,q9_z\n" + Self.rows { "\($0),0.\(70 + $0 % 3),0.\(70 - $0 % 3),0.0\($0 % 3 + 1),0.01" }
        let error = try refusal(text)
        #expect(error.remedy == nil, "\(error)")
    }

    @Test func gravityIsNotAddedTwice() throws {
        let text = "t_s,ax,ay,az\n" + Self.rows { "\(Double($0) / 50),0.1,0.2,9.8" }
        let found = try opened(text, TraceHints(map: ColumnMap(["acceleration=linear"])))
        #expect(found.samples[0][0].z == 9.8)
        #expect(found.notices.contains { $0.contains("the values have gravity") }, "\(found.notices)")
    }

    @Test func aPlaceholderForTheRateIsCalledOne() throws {
        let error = try refusal("ax_g,ay_g,az_g\n" + Self.rows { "0.0\($0 % 3),0,1" })
        #expect(error.remedy == .options(["--rate", "100"]))
        #expect(error.message.contains("the 100 in --rate 100 is a placeholder"))
    }

    /// A pipe whose header states everything is played at once; its values come later.
    @Test(arguments: [("0,0,1", true), ("0,0,9.81", false)])
    func theUnitsOfAPipeAreHeldAgainstItsFirstSamples(row: String, isTold: Bool) throws {
        let pipe = UnusedPath()
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let writer = open(pipe.path, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        func feed(_ text: String) {
            let bytes = Array(text.utf8)
            #expect(write(writer, bytes, bytes.count) == bytes.count)
        }
        feed("t_s,ax_m_s2,ay_m_s2,az_m_s2\n" + Self.rows(2) { "\(Double($0) / 50),\(row)" })
        let isCancelled = Mutex(false)
        let trace = try TraceFile(path: pipe.path, isCancelled: { isCancelled.withLock { $0 } })
        #expect(trace.notices.isEmpty)
        let source = TraceSource([(file: trace, sensors: [Sensor(name: "s")])])
        feed(Self.rows(300) { "\(Double($0 + 2) / 50),\(row)" })
        let delivery = SampleDelivery(streams: source.streams, capacity: 1000)
        var count = 0
        while count < 302 {
            delivery.removeAll()
            #expect(!source.fill(delivery).isEnd)
            count += delivery.batches[0].count
        }
        isCancelled.withLock { $0 = true }
        #expect(source.repairs.counts == (isTold ? [.contradicted: 1] : [:]))
        #expect(!isTold || source.repairs.notices.first?.message.contains("that would fit g") == true)
    }

    @Test func ofSeveralAccelerationsTheOneWithGravityIsTaken() throws {
        let names = "t_s,linear_x,linear_y,linear_z,gFx,gFy,gFz,ax,ay,az"
        let found = try opened(names + "\n" + Self.rows { "\(Double($0) / 50),0.01,0,0,0,0,1,0.1,0,0" })
        #expect(abs((found.samples[0].first?.z ?? 0) - 9.807) < 0.01)
        #expect(found.notices.count { $0.contains("left out") } == 2)
    }

    // MARK: - Time

    @Test(
        arguments: [
            ("timestamp", 10.0, "milliseconds"), ("Time", 5000, "microseconds"), ("t", 1e7, "nanoseconds"),
            ("sec", 0.01, nil), ("Milliseconds", 10, nil),
        ] as [(String, Double, String?)])
    func aUnitOfTimeIsTakenFromTheDistanceOfTheSamples(name: String, step: Double, unit: String?) throws {
        let found = try opened("\(name),ax_g,ay_g,az_g\n" + Self.rows { "\(Double($0) * step),0,0,1" })
        let times = found.samples[0].map(\.timeNanoseconds)
        #expect(times[1] - times[0] == (name == "Time" ? 5_000_000 : 10_000_000))
        #expect(found.notices.count == (unit == nil ? 0 : 1))
        if let unit { #expect(found.notices[0].contains("taken as \(unit)")) }
    }

    /// Nanoseconds of a device that is up for 30 h, and for weeks.
    @Test(arguments: [108_000_000_000_000, 2_160_000_000_000_000] as [Int64])
    func aLongUptimeIsNoDate(start: Int64) throws {
        let found = try opened("timestamp,ax_g,ay_g,az_g\n" + Self.rows { "\(start + Int64($0) * 20_000_000),0,0,1" })
        #expect(found.samples[0].first?.timeNanoseconds == start, "\(found.notices)")
    }

    @Test func ticksOfWindowsAreRefusedWithTheirRate() throws {
        let error = try refusal(
            "Timestamp,ax_g,ay_g,az_g\n" + Self.rows { "\(133_592_112_000_000_000 + $0 * 200_000),0,0,1" })
        #expect(error.remedy == .options(["--rate", "50"]), "\(error)")
    }

    @Test func aClockOfTwoLikelyUnitsIsSaidWithBoth() throws {
        let found = try opened("time,ax_g,ay_g,az_g\n" + Self.rows { "\(1000 + $0 * 998),0,0,1" })
        #expect(found.notices.contains { $0.contains("microseconds would be 1002") && $0.contains("time=#1:us") })
    }

    @Test(arguments: [("min", 60.0), ("h", 3600), ("days", 86_400)])
    func longUnitsOfTime(unit: String, seconds: Double) throws {
        let found = try opened("Time (\(unit)),ax_g,ay_g,az_g\n" + Self.rows { "\(Double($0) / seconds / 50),0,0,1" })
        let last = try #require(found.samples[0].last).timeNanoseconds
        #expect(abs(last - 59 * 20_000_000) < 1000)
    }

    @Test func aUnitOfTimeThatTheValuesContradictIsSaid() throws {
        let found = try opened("time_s,ax_g,ay_g,az_g\n" + Self.rows { "\($0 * 20),0,0,1" })
        #expect(found.notices.first?.contains("20.0 s between samples") == true, "\(found.notices)")
    }

    @Test(
        arguments: [
            ("2024-10-17T19:22:22Z", 1_729_192_942_000_000_000), ("2024-10-17 19:22:22.5", 1_729_192_942_500_000_000),
            ("2024-10-17T21:22:22.123456789+02:00", 1_729_192_942_123_456_789),
            ("2024-10-17T14:22:22-0500", 1_729_192_942_000_000_000),
            ("17.10.2024 19:22:22,25", 1_729_192_942_250_000_000),
            ("10/17/2024 7:22:22.5 PM", 1_729_192_942_500_000_000), ("17/10/2024 19:22:22", 1_729_192_942_000_000_000),
            ("17-Oct-2024 19:22:22.001", 1_729_192_942_001_000_000),
            ("2024-10-17 19:22:22:007", 1_729_192_942_007_000_000),
            ("20241017T192222.5", 1_729_192_942_500_000_000), ("2024-10-17_19-22-22.500", 1_729_192_942_500_000_000),
            ("2024-10-17 19:22:22 UTC", 1_729_192_942_000_000_000),
            ("2024-10-17T19:22:22GMT", 1_729_192_942_000_000_000),
            ("2024-10-17 21:22:22 GMT+02:00", 1_729_192_942_000_000_000),
            ("19:22:22.5", 69_742_500_000_000), ("22:22.5", 1_342_500_000_000),
        ] as [(String, Int64)])
    func timesOfAClock(text: String, nanoseconds: Int64) throws {
        let found = try opened("time\tax_g\tay_g\taz_g\n\(text)\t0\t0\t1\n")
        #expect(found.samples[0].first?.timeNanoseconds == nanoseconds, "\(found.repairs.notices)")
    }

    @Test(arguments: [
        "2024-13-17 19:22:22", "2024-10-17 19:62:22", "19:22:22x", "noon", "2024-10-17 25:00:00 PM",
        "2023-02-29 19:22:22", "2024-10-17 19:22:30 CET",
    ])
    func noTimesOfAClock(text: String) throws {
        let good = Self.rows(12) { "2024-10-17 19:22:\($0 + 10),0,0,1" }
        let found = try opened("time,ax_g,ay_g,az_g\n" + good + "\(text),0,0,1\n")
        #expect(found.samples[0].count == 12)
        #expect(found.repairs.counts == [.notANumber: 1])
    }

    @Test func aClockWithoutADateGoesOnAfterMidnight() throws {
        let found = try opened("time,ax_g,ay_g,az_g\n23:59:59.5,0,0,1\n23:59:59.9,0,0,1\n00:00:00.3,0,0,1\n")
        #expect(found.samples[0].map { $0.timeNanoseconds / 100_000_000 } == [863_995, 863_999, 864_003])
        #expect(found.repairs.isEmpty)
    }

    /// A column of dates before that of the clock belongs to it: nothing else says that days have passed.
    @Test(arguments: [",", ";", "\t", "\",\""])
    func datesInAColumnBeforeTheClockCount(separator: String) throws {
        let quote = separator.count > 1 ? "\"" : ""
        let rows = [("2024-10-17", "19:22:22.5"), ("2024-10-17", "19:22:22.75"), ("2024-10-20", "08:00:00")].map {
            quote + [$0, $1, "0", "0", "1"].joined(separator: separator) + quote + "\n"
        }
        let head = quote + ["date", "time", "ax_g", "ay_g", "az_g"].joined(separator: separator) + quote + "\n"
        let found = try opened(head + rows.joined())
        #expect(
            found.samples[0].map { $0.timeNanoseconds / 1_000_000 } == [
                1_729_192_942_500, 1_729_192_942_750, 1_729_411_200_000,
            ])
        let apart = try opened("date,ax_g,ay_g,az_g,time\n2024-10-17,0,0,1,19:22:22\n2024-10-17,0,0,1,19:22:23\n")
        #expect(apart.notices.contains { $0.contains("the dates in 'date' are not used") }, "\(apart.notices)")
    }

    @Test func numbersThatRiseAreABetterTimeThanWholeSeconds() throws {
        let found = try opened(
            "Timestamp,Milliseconds,ax_g,ay_g,az_g\n"
                + Self.rows { "2019-05-13 08:45:\(17 + $0 / 50),\($0 * 20),0,0,1" })
        #expect(found.samples[0][1].timeNanoseconds == 20_000_000)
    }

    @Test func wholeSecondsAloneAreRefusedWithTheirRate() throws {
        let error = try refusal("time,ax_g,ay_g,az_g\n" + Self.rows(200) { "08:45:\(17 + $0 / 40),0,0,1" })
        #expect(error.remedy == .options(["--rate", "40"]))
    }

    @Test func stampsThatASpreadsheetHasCutAreNotPassedOver() throws {
        let cut = try refusal("timestamp,ax_g,ay_g,az_g\n" + Self.rows { _ in "1.70000E+18,0,0,1" })
        #expect(cut.message.contains("a spreadsheet has cut off"))
        let some = try opened("time_s,ax_g,ay_g,az_g\n" + Self.rows { "\(Double($0 / 2) / 25),0,0,1" })
        #expect(some.notices.contains { $0.contains("51 % of the samples have the same time") }, "\(some.notices)")
    }

    @Test func kindsWithRowsOfTheirOwnMayShareATime() throws {
        let header = "time_s,ax_m_s2,ay_m_s2,az_m_s2,gx_rad_s,gy_rad_s,gz_rad_s\n"
        func notices(_ step: Int) throws -> [String] {
            let rows = Self.rows(200) { row in
                "\(Double(row / step) / 25)," + (row % 2 == 0 ? "0.1,0.2,9.81,,," : ",,,0.01,0,0")
            }
            return try opened(header + rows).notices.filter { $0.contains("the same time") }
        }
        #expect(try notices(2) == [])
        #expect(try notices(4).count == 1)
    }

    // MARK: - Files without times

    @Test(arguments: [false, true])
    func aRateStandsForTheTime(isLineByLine: Bool) throws {
        let file = try TemporaryFile("ax_g,ay_g,az_g\n" + Self.rows { $0 == 30 ? "0,x,1" : "0,0,1" })
        let trace = try TraceFile(path: file.path, hints: TraceHints(rateHz: 40), isLineByLine: isLineByLine)
        let source = TraceSource([(file: trace, sensors: [Sensor(name: "a")])])
        let times = Collected(source).samples[0].map(\.timeNanoseconds)
        // A row without a usable sample has taken its time, too.
        let expected: [Int64] = (0..<60).filter { $0 != 30 }.map { Int64($0) * 25_000_000 }
        #expect(times == expected)
    }

    @Test func aRateIsTakenFromALineBeforeTheRows() throws {
        let found = try opened("Device: X\nSampling Rate: 25 Hz\nax_g,ay_g,az_g\n" + Self.rows { _ in "0,0,1" })
        #expect(found.samples[0][1].timeNanoseconds == 40_000_000)
        #expect(found.notices.first?.contains("25 samples a second, as line 2 says") == true)
        let error = try refusal("ax_g,ay_g,az_g\n" + Self.rows { _ in "0,0,1" })
        #expect(error.remedy == .options(["--rate", "100"]))
        #expect(error.message.contains("Nothing says how many samples a second"))
    }

    @Test(
        arguments: [
            ("sampling rate: 20 ms", 20), ("100 Hz cutoff filter, sampled at 50 Hz", 20), ("Sample rate (Hz): 50", 20),
            ("rate 50 Hz; low pass 12.5 Hz", 20), ("low pass 12.5 Hz", nil), ("25 Hz, 50 Hz", nil),
            ("made by a recorder at 50 Hz", 20), ("Excitation 50 Hz", nil), ("I2C clock rate 400 kHz", nil),
            ("Frame rate: 30 fps", nil), ("Sampling frequency (clock corrected): 50 Hz", 20),
            ("vibration at 24.7 Hz", nil), ("GPS rate: 50 Hz", nil), ("Sampling rate of GPS: 50 Hz", nil),
            ("Flow rate: 12 l/min", nil), ("Data rate: 250 kbps", nil), ("Sampling rate: 6000 per minute", nil),
            ("Refresh rate 50 Hz", nil), ("Sampling rate: 5e1 Hz", 20), ("IMU rate: 50", 20),
            ("Output data rate (ODR): 50 Hz", 20), ("Sampling frequency (fs): 50 Hz", 20), ("Gyro rate: 50 Hz", 20),
            ("LSM6DSO ODR: 50 Hz", 20), ("Values in g. Rate: 50 Hz", 20), ("GNSS/INS output rate: 50 Hz", 20),
            ("Sampling rate: 50 fps", 20), ("left_wrist_fs50hz", 20), ("Data rate 50 Hz", 20),
        ] as [(String, Int64?)])
    func onlyTheRateOfSamplesCounts(line: String, milliseconds: Int64?) throws {
        let text = "# \(line)\nax_g,ay_g,az_g\n" + Self.rows { _ in "0,0,1" }
        guard let milliseconds else {
            #expect(try refusal(text).message.contains("no column holds the time"))
            return
        }
        #expect(try opened(text).samples[0][1].timeNanoseconds == milliseconds * 1_000_000)
    }

    /// A number in Hz that may be another quantity's is the placeholder alone.
    @Test func aRateOfUnknownMeaningIsOffered() throws {
        let error = try refusal("# Excitation 25 Hz\nax_g,ay_g,az_g\n" + Self.rows { _ in "0,0,1" })
        #expect(error.remedy == .options(["--rate", "25"]))
        #expect(error.message.contains("the 25 in --rate 25 is a placeholder"), "\(error)")
    }

    @Test func aStatedRateStandsForTimesThatAreNone() throws {
        let text = "time,ax_g,ay_g,az_g\n" + Self.rows { "2024-03-31 01:59:\($0).000000 CET,0,0,1" }
        #expect(try refusal(text).message.contains("CET' is none"))
        #expect(try opened(text, TraceHints(rateHz: 50)).samples[0][1].timeNanoseconds == 20_000_000)
    }

    // MARK: - Signs

    @Test func aNumberForAMissingValueIsNoSign() throws {
        let text = Self.rows { "\(Double($0) / 50)," + ($0 == 30 ? "-9999,-9999,-9999" : "0.1,0.2,9.8") }
        let found = try opened("t_s,ax,ay,az\n" + text)
        #expect(!found.notices.contains { $0.contains("reads downwards") }, "\(found.notices)")
        #expect(found.samples[0].count == 59 && found.repairs.counts == [.placeholder: 1])
    }

    @Test func anAxisMayBeTurnedAbout() throws {
        let text = "t_s,X,Y,Z\n" + Self.rows { "\(Double($0) / 50),0.1,0.2,-0.97" }
        let turned = try opened(text, TraceHints(map: ColumnMap(["ax=-X:g,ay=Y:g,az=-Z:g"])))
        let first = try #require(turned.samples[0].first)
        #expect(first.x < -0.9 && first.y > 1.9 && first.z > 9)
        let all = try opened(text, TraceHints(map: ColumnMap(["ax=X:g,ay=Y:g,az=Z:g,acceleration=gravity"])))
        #expect(all.samples[0].first?.y ?? 0 < -1.9 && all.samples[0].first?.z ?? 0 > 9)
        var hints = TraceHints(map: try ColumnMap(["ax=X:g,ay=Y:g,az=Z:g"]))
        hints.gravitySensors = ["phone"]
        #expect(try opened(text, hints).samples[0].first?.z ?? 0 > 9)
    }

    @Test(arguments: [
        ("time=-#1", "a time has no sign"), ("acceleration=down", "has to be acceleration=gravity"),
        ("ax=a:g/0", "is not a unit"),
    ])
    func wrongSignsAndScalesAreRefused(map: String, message: String) throws {
        let error = try #require(throws: ColumnMap.ParseError.self) { try ColumnMap([map]) }
        #expect(error.description.contains(message), "\(error.description)")
    }

    // MARK: - Lines

    @Test(arguments: [
        "# t_s,ax_g,ay_g,az_g\n", "%\n% made by x\n\nt_s,ax_g,ay_g,az_g\n",
        "name;value\nrate;50\n\n// t_s,ax_g,ay_g,az_g\n",
        "t,ax,ay,az\ns,g,g,g\n", "sep=,\nt_s;ax_g;ay_g;az_g\n",
    ])
    func theHeaderIsTheLastLineBeforeTheRows(head: String) throws {
        let found = try opened(head + Self.rows { "\(Double($0) / 50),0,0,1" })
        #expect(found.samples[0].count == 60)
        #expect(abs(found.samples[0][1].z - 9.80665) < 1e-4)
        #expect(found.repairs.isEmpty)
    }

    @Test(arguments: [1, 7, 4096])
    func blanksAndEndsOfLines(capacity: Int) throws {
        let plain = try TemporaryFile("t_s,ax_g,ay_g,az_g\n" + Self.rows { "\(Double($0) / 50),0.\($0),-1,2" })
        let expected = Collected(try TraceSource(paths: [plain.path]), capacity: capacity).samples
        for text in [
            "t_s ax_g  ay_g az_g\n" + Self.rows { "  \(Double($0) / 50)   0.\($0) -1 2  " },
            "t_s,ax_g,ay_g,az_g\n" + Self.rows { "\(Double($0) / 50),0.\($0),-1,2;" },
            "t_s,ax_g,ay_g,az_g,\n" + Self.rows { "\(Double($0) / 50),0.\($0),-1,2," },
            "t_s|ax_g|ay_g|az_g\n" + Self.rows { "\(Double($0) / 50)|0.\($0)|-1|2" },
        ] {
            let file = try TemporaryFile(text)
            let source = try TraceSource(paths: [file.path])
            #expect(Collected(source, capacity: capacity).samples == expected)
            #expect(source.repairs.isEmpty)
        }
    }

    @Test(
        arguments: [
            ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "Excel (.xls)"),
            (Array("SQLite format 3\0".utf8), "SQLite"),
            (Array("{\"a\":1}".utf8), "is JSON"), (Array("%PDF-1.4".utf8), "PDF"),
            (Array("<!DOCTYPE html>".utf8), "web page"),
            ([0x1F, 0x8B, 8, 0], "gzip"),
        ] as [([UInt8], String)])
    func otherFormatsAreNamed(bytes: [UInt8], words: String) throws {
        let file = try TemporaryFile(bytes + [UInt8](repeating: 0x0A, count: 600))
        let error = try #require(throws: TraceError.self) { try TraceFile(path: file.path) }
        #expect(error.message.contains(words), "\(error)")
    }
}
