import Binnacle
import Foundation
import TestSupport
import Testing
import Traces

/// What the first rows of a table show that its header does not say, and what is refused for it.
@Suite struct FirstRowsTests {
    private func read(
        _ text: String, map: String? = nil, rateHz: Double? = nil
    ) throws -> (streams: [SampleKind], samples: [[Sample]], notices: [String]) {
        let file = try TemporaryFile(text)
        var hints = TraceHints()
        hints.map = try map.map { try ColumnMap([$0]) }
        hints.rateHz = rateHz
        let trace = try TraceFile(path: file.path, hints: hints)
        let sensors = TraceSource.nameSensors(of: [trace], given: [trace.contents.map { _ in nil }])[0]
        let source = TraceSource([(file: trace, sensors: sensors)])
        return (source.streams.map(\.kind), Collected(source).samples, trace.notices.map(\.message))
    }

    private func refusal(_ text: String, map: String? = nil, rateHz: Double? = nil) throws -> TraceError {
        try #require(throws: TraceError.self) { try read(text, map: map, rateHz: rateHz) }
    }

    private static func rows(_ count: Int = 120, _ row: (Int) -> String) -> String {
        (0..<count).map { row($0) + "\n" }.joined()
    }

    /// Gravity that turns slowly, in g, from a direction of its own for each device.
    private static func vector(_ row: Int, device: Int = 0, size: Double = 1) -> String {
        let angle = Double(row) / 400 + Double(device)
        return [0.3 * sin(angle), 0.95 * sin(angle + 1), 0.95 * cos(angle + 1)]
            .map { String(format: "%.4f", size * $0) }.joined(separator: ",")
    }

    // MARK: - Rows of several devices

    @Test(arguments: [
        ("TagID", ["S1", "S2"]), ("foot", ["L", "R"]), ("address", ["0x50", "0x51"]), ("cow_id", ["11", "12"]),
        ("board", ["0", "1"]), ("placement", ["hip", "wrist", "back"]), ("subject", ["1", "2", "3", "4"]),
    ])
    func aColumnWhoseValuesHaveTheirOwnCourseTellsDevicesApart(name: String, values: [String]) throws {
        let count = values.count
        // At the same time, one after the other, and after pauses of a device.
        for stamp in [{ $0 / count * 10 }, { $0 * 5 }, { $0 / count * 10 + $0 % count }] as [(Int) -> Int] {
            let error = try refusal(
                "time_ms,\(name),acc_x,acc_y,acc_z\n"
                    + Self.rows { row in
                        let device = row > 50 ? (row + 1) % count : row % count
                        return "\(stamp(row)),\(values[device]),\(Self.vector(row, device: device))"
                    })
            #expect(error.message.contains("several devices or sensors, as '\(name)' says"), "\(error)")
            #expect("\(error.remedy.map { "\($0)" } ?? "")".contains("NR <= 1 || f == "))
        }
    }

    /// Devices that lie alike are told apart by words, and not by numbers, which may count the samples of a packet.
    @Test func devicesThatLieAlikeAreToldApartByWords() throws {
        func text(_ values: [String]) -> String {
            "time_ms,foot,ax,ay,az\n" + Self.rows { "\($0 / 2 * 10),\(values[$0 % 2]),0.01,0.0\($0 % 3),1" }
        }
        #expect(try refusal(text(["left", "right"])).message.contains("several devices"))
        #expect(try read(text(["0", "1"])).samples[0].count == 120)
    }

    /// Kinds in rows of their own, with a header and without: the command has what their table needs.
    @Test(arguments: [
        ("MessageType,utcTimeMillis,MeasurementX,MeasurementY,MeasurementZ\n", "MessageType", "MeasurementX"),
        ("", "#1", "#3"),
    ])
    func theCommandForRowsOfSeveralKindsSuffices(header: String, column: String, x: String) throws {
        let kinds = ["UncalAccel,%,1.3@,2.6@,9.3@", "UncalGyro,%,0.00@,0.0@,0.01@", "UncalMag,%,6.1@,35.7@,-36.5@"]
        let error = try refusal(
            header
                + Self.rows { row in
                    kinds[row % 3].replacing("%", with: "\(1_668_473_633_000 + row / 3 * 10)")
                        .replacing("@", with: "\(row % 7)")
                })
        #expect(error.message.contains("several sensors, as '\(column)' says: 'UncalAccel'"), "\(error)")
        guard case .file(_, .filter(let filter), let options)? = error.remedy else {
            Issue.record("\(error)")
            return
        }
        #expect(filter.hasSuffix("|| f == \"UncalAccel\"'"))
        #expect(options.first == "--map" && options.last?.contains("ax=\(x):m/s2") == true, "\(options)")
    }

    /// Columns that alternate beside one device, at rest and while it is turned and shaken.
    @Test func columnsThatAlternateOfOneDeviceAreIgnored() throws {
        let columns: [(name: String, value: (Int) -> String)] = [
            ("battery", { $0 % 2 == 0 ? "98" : "99" }), ("counter", { "\($0 % 4)" }), ("hr_bpm", { "\(70 + $0 % 3)" }),
            ("step", { "\($0 % 3 == 0 ? 1 : 0)" }), ("gps_fix", { ["2D", "3D", "2D", "none", "3D"][$0 * $0 % 5] }),
            ("activity", { $0 % 40 < 20 ? "walk" : "run" }), ("label", { "\($0 * 7 % 5)" }),
            ("quality", { "\($0 * $0 % 3)" }),
        ]
        for column in columns {
            for shake in [0.0, 0.4] {
                var random = SeededGenerator(seed: 5)
                let found = try read(
                    "time_ms,\(column.name),ax,ay,az\n"
                        + Self.rows(300) { row in
                            let noise = Double.random(in: -shake...shake, using: &random)
                            return "\(row * 10),\(column.value(row)),\(String(format: "%.3f", noise)),"
                                + String(
                                    format: "%.3f,%.3f", noise / 2 + sin(Double(row) / 100), cos(Double(row) / 100))
                        })
                #expect(found.samples[0].count == 300, "\(column.name)")
            }
        }
    }

    // MARK: - Numbers of rows

    @Test(arguments: ["t", "Time", "Timestamp"])
    func aTimeThatCountsRowsIsNone(name: String) throws {
        let text = "\(name),ax,ay,az\n" + Self.rows { "\($0 + 5),\(Self.vector($0))" }
        let error = try refusal(text)
        #expect(error.remedy == .options(["--rate", "100"]))
        #expect(error.message.contains("rises by 1 with each row") && error.message.contains("'time=#1:s'"), "\(error)")
        let played = try read(text, rateHz: 50)
        #expect(played.samples[0][1].timeNanoseconds == 20_000_000)
        #expect(try read(text, map: "time=#1:s").samples[0][1].timeNanoseconds == 6_000_000_000)
        // A rate before the rows replaces them, and one of 1 Hz confirms them.
        #expect(try read("Sampling rate: 50 Hz\n" + text).samples[0][1].timeNanoseconds == 20_000_000)
        #expect(try read("Sampling rate: 1 Hz\n" + text).samples[0][1].timeNanoseconds == 6_000_000_000)
    }

    @Test func aRowASecondIsPlayed() throws {
        let times: [(name: String, stamp: (Int) -> String)] = [
            ("time_s", { "\($0)" }), ("t [s]", { "\($0)" }), ("seconds", { "\($0)" }), ("time", { "\($0).0" }),
            ("timestamp", { "\(1_700_000_000 + $0)" }), ("time", { "\($0 + $0 / 50)" }),
        ]
        for (name, stamp) in times {
            let found = try read("\(name),ax,ay,az\n" + Self.rows { "\(stamp($0)),\(Self.vector($0))" })
            #expect(
                found.samples[0][1].timeNanoseconds - found.samples[0][0].timeNanoseconds == 1_000_000_000, "\(name)")
        }
    }

    @Test(arguments: [("seq", 2), ("Packet number", 2), ("seq", 1), ("frame", 5)])
    func aCounterIsNotOfferedAsATime(name: String, step: Int) throws {
        let error = try refusal("\(name),ax,ay,az\n" + Self.rows { "\(115 + $0 * step + $0 % 2),\(Self.vector($0))" })
        #expect(error.remedy == .options(["--rate", "100"]), "\(error)")
        #expect(error.message.contains("Nothing says how many samples a second"))
        // Stamps since 1970, and longer steps, are times.
        let times = try refusal("seq,ax,ay,az\n" + Self.rows { "\($0 * 20),\(Self.vector($0))" })
        #expect(times.remedy == .options(["--map", "time=seq:ms"]))
    }

    @Test func anEmptyColumnIsNoTime() throws {
        let text =
            "PacketCounter,SampleTimeFine,Acc_X,Acc_Y,Acc_Z\n"
            + Self.rows { "\(65_400 + $0),,\(Self.vector($0, size: 9.81))" }
        #expect(try refusal(text).remedy == .options(["--rate", "100"]))
        #expect(try read(text, rateHz: 100).samples[0].count == 120)
    }

    // MARK: - Names that are not known

    @Test func anAxisMayStandInBracketsBehindTheUnit() throws {
        let names = ["z", "x", "y"].map { "\"Accelerometer [m/s2] (\($0))\"" }.joined(separator: ",")
        let found = try read("t_s,\(names)\n" + Self.rows { "\(Double($0) / 50),9.\($0 % 3),1,2" })
        #expect(found.samples[0][0].z == 9 && found.samples[0][0].x == 1 && found.notices.isEmpty, "\(found.notices)")
    }

    @Test(arguments: [
        ("foo_z,foo_x,foo_y", "ax=foo_x:m/s2,ay=foo_y:m/s2,az=foo_z:m/s2"),
        ("ch9,ch10,ch11", "ax=ch9:m/s2,ay=ch10:m/s2,az=ch11:m/s2"), ("u,v,w", "ax=u:m/s2,ay=v:m/s2,az=w:m/s2"),
        ("foo,bar,baz", "ax=foo:m/s2,ay=bar:m/s2,az=baz:m/s2"), ("foo,bar,baz,qux", nil),
        ("Acc (up/down),Acc (right/left),Acc (forward/back)", nil), ("ch1,ch2,ch4,ch8", nil),
        ("value_1,value_2,value_3,value_4", nil),
        (
            "Accel Channel 0,Accel Channel 1,Accel Channel 2,Analog Channel 0,Analog Channel 1,Analog Channel 2",
            "ax=Accel Channel 0:m/s2,ay=Accel Channel 1:m/s2,az=Accel Channel 2:m/s2"
        ),
        // The G of a telephone is an acceleration, and no rate of turn.
        ("G(x),G(y),G(z)", nil), ("FP1.CopX,FP1.CopY,FP1.CopZ,FP1.ForX,FP1.ForY,FP1.ForZ", nil),
    ])
    func onlyNamesOfOneFormAreOffered(names: String, map: String?) throws {
        let count = names.split(separator: ",").count
        let error = try refusal(
            "t_s,\(names)\n"
                + Self.rows { row in
                    let values = ["9.\(row % 4)", "3.\(row % 3)", "2.\(row % 2)", "0.4", "0.5", "0.3"].prefix(count)
                    return "\(Double(row) / 50)," + values.joined(separator: ",")
                })
        #expect(error.remedy == map.map { .options(["--map", "time=t_s:s,\($0)"]) }, "\(error)")
    }

    // MARK: - Names and fields

    @Test(arguments: [("name,time,ax,ay,az,temp", 6), ("time,ax,ay", 3)])
    func aHeaderOfAnotherLengthIsRefused(names: String, count: Int) throws {
        let text = names + "\n" + Self.rows { "\(Double($0) / 50 + 3),\(Self.vector($0))" }
        let error = try refusal(text)
        #expect(error.message.contains("the first row has 4 fields, the header \(count)"), "\(error)")
        #expect(error.message.contains("by their numbers") && error.remedy == nil)
        let found = try read(text, map: "time=#1:s,ax=#2:g,ay=#3:g,az=#4:g")
        #expect(found.samples.map(\.count) == [120] && found.streams == [.accelerometer])
    }

    @Test func aSentenceAboveTheRowsIsNoHeader() throws {
        let error = try refusal(
            "made by a recorder on a table in the hall\n" + Self.rows { "0.0\($0 % 3) 0.\($0 % 2) 9.8\($0 % 4)" })
        #expect(error.message.contains("where the columns' names should be") && error.remedy != nil, "\(error)")
    }

    @Test(arguments: [",", ";", "\t"])
    func rowsMayBeNumberedInAColumnWithoutAName(separator: String) throws {
        func line(_ text: String) -> String { text.replacing(",", with: separator) }
        let text =
            line("\"time_s\",\"ax_g\",\"ay_g\",\"az_g\",\"what\"\n")
            + Self.rows { line("\"\($0 + 1)\",\(Double($0) / 50),\(Self.vector($0)),\"walk\"") }
        let found = try read(text)
        #expect(found.samples[0].count == 120 && found.samples[0][1].timeNanoseconds == 20_000_000)
        // The name of the last column may be missing as well.
        let last = try read("index,ax_g,ay_g,az_g\n" + Self.rows { "\($0 + 1),\(Self.vector($0)),walk" }, rateHz: 50)
        #expect(abs((last.samples[0].first?.x ?? 0)) < 0.1)
    }

    // MARK: - Values

    @Test(arguments: ["0,0,0", "0.0,0.0,0.0", "0.02,0.01,0.03"])
    func aSensorThatWasNeverReadIsNoLinearAcceleration(row: String) throws {
        let error = try refusal("t_s,acc_x,acc_y,acc_z\n" + Self.rows { "\(Double($0) / 50),\(row)" })
        #expect(error.remedy == nil && error.message.contains("the sensor was never read"), "\(error)")
        // A device that lies still in coarse steps is read.
        let still = try read("t_s,acc_x,acc_y,acc_z\n" + Self.rows { "\(Double($0) / 50),0,0,1" })
        #expect(still.samples[0].count == 120)
    }

    @Test func zerosInAUnitAreNoMissingGravity() throws {
        let found = try read("t_s,ax_m_s2,ay_m_s2,az_m_s2\n" + Self.rows { "\(Double($0) / 50),0,0,0" })
        #expect(found.notices.contains { $0.contains("all values are 0") }, "\(found.notices)")
    }

    /// Of 10 and of 12 bits.
    @Test(arguments: ["347,356,401", "1953,2007,2281"])
    func analogueValuesWithTheirOffsetAreRefused(row: String) throws {
        let text = "time_ms,accX,accY,accZ\n" + Self.rows { "\($0 * 10),\(row.dropLast())\($0 % 2)" }
        let error = try refusal(text)
        #expect(error.remedy == nil && error.message.contains("half its supply at 0 g"), "\(error)")
        // In mg, and in counts, a device may lie on a corner.
        let corner = try read("time_ms,accX,accY,accZ\n" + Self.rows { "\($0 * 10),577,57\($0 % 2),577" })
        #expect(corner.notices.contains { $0.contains("taken as mg") })
        let counts = try refusal("time_ms,accX,accY,accZ\n" + Self.rows { "\($0 * 10),9459,945\($0 % 2),9459" })
        #expect("\(counts.remedy.map { "\($0)" } ?? "")".contains("g/16384"))
    }

    @Test(
        arguments: [
            ("2,4,1%", "g/16"), ("109,219,78%", "g/819"), ("3.1,4.2,14.%", "g/"), ("136,274,97%", nil), ("0,0,1%", nil),
            ("0.05,0.1,0.8%", nil), ("1,2,10.%", nil), ("20,30,90%", nil),
        ] as [(String, String?)])
    func aSteadyLengthIsGravityOnlyIfItIsAsLong(row: String, scale: String?) throws {
        // The last digit changes; 16 counts are one g in the first row.
        func value(_ number: Int) -> String {
            row.replacing("%", with: row == "2,4,1%" ? "5" : row == "0,0,1%" ? "0" : "\(1 + number % 2)")
        }
        let text = "time_ms,ax,ay,az\n" + Self.rows { "\($0 * 10),\(value($0))" }
        guard let scale else {
            #expect(try read(text).samples[0].count == 120)
            return
        }
        let error = try refusal(text)
        #expect("\(error.remedy.map { "\($0)" } ?? "")".contains(scale), "\(error)")
    }

    // MARK: - Times that go back

    @Test func timesThatGoBackAgainAndAgainAreRefused() throws {
        let unpadded =
            "Time,aX,aY,aZ\n"
            + Self.rows { row in
                let tenThousandths = row * 10_000 / 15
                return "13:16:\(10 + tenThousandths / 10_000).\(tenThousandths % 10_000),\(Self.vector(row))"
            }
        let error = try refusal(unpadded)
        #expect(error.message.contains("lie before an earlier one, first in row 3"), "\(error)")
        #expect(error.message.contains("leading zeros"))
        // A clock that is set back once, single rows out of order, and midnight.
        let set = try read(
            "time_s,ax,ay,az\n" + Self.rows { "\(Double($0 - ($0 > 60 ? 20 : 0)) / 50),\(Self.vector($0))" })
        #expect(set.samples[0].count == 101)
        let some = try read(
            "time_s,ax,ay,az\n" + Self.rows { "\(Double($0 % 30 == 7 ? $0 - 3 : $0) / 50),\(Self.vector($0))" })
        #expect(some.samples[0].count == 116)
        let days = try read(
            "time,ax,ay,az\n" + Self.rows { "\($0 * 7 % 24 < 10 ? "0" : "")\($0 * 7 % 24):00:00,\(Self.vector($0))" })
        #expect(days.samples[0].count == 120)
    }

    @Test func aFileOfCommentsSaysSo() throws {
        let error = try refusal(Self.rows(20) { _ in "#RAWIMUSXA,COM1,0,81.5,FINESTEERING,1691,410338.819" })
        #expect(error.message.contains("but for comments"), "\(error)")
    }

    // MARK: - Loggers

    private static func times(_ row: Int) -> String { String(format: "%.2f", Double(row) / 50) }

    @Test func aUnitMayStandBeforeOtherWords() throws {
        let names = ["x", "y", "z"]
        let header =
            ["Time (s) Run #1"] + names.map { "Acceleration - \($0) (m/s²) Run #1" }
            + names.map { "Angular Velocity - \($0) (°/s) Run #1" }
        let found = try read(
            header.joined(separator: ",") + "\n" + Self.rows { "\(Self.times($0)),0.1,0.2,9.8,0,0.9,0.\($0 % 2)" })
        #expect(found.streams == [.gyroscope, .accelerometer] && found.notices.isEmpty, "\(found.notices)")
        #expect(abs(found.samples[0][9].y - .pi / 200) < 1e-6)
        let ranges = try read(
            "Time (s),X (100g),Y (100g),Z (100g)\n" + Self.rows { "\(Self.times($0)),\(Self.vector($0))" })
        #expect(abs(ranges.samples[0][0].z - 9.80665 * 0.95 * cos(1)) < 1e-2)
        let counts = try refusal(
            "Time (s),X (2g),Y (2g),Z (2g)\n" + Self.rows { "\(Self.times($0)),10,20,1638\(4 + $0 % 2)" })
        #expect(counts.message.contains("says how far the sensor measures"), "\(counts)")
        // A place is no unit.
        let others = ["Acc (T)", "Acc (S)", "Acc (H)"].map { name in
            ["X", "Y", "Z"].map { "\(name) \($0)" }.joined(separator: ",")
        }
        for names in others {
            let found = try read("Time (s),\(names)\n" + Self.rows { "\(Self.times($0)),0.1,0.2,9.\(80 + $0 % 2)" })
            #expect(found.streams == [.accelerometer], "\(found.notices)")
        }
    }

    /// Gravity in g beside an acceleration says that this is in g as well.
    @Test(arguments: [1, 9.80665]) func anAccelerationHasTheUnitOfTheGravityBesideIt(size: Double) throws {
        let found = try read(
            "seconds_elapsed,gravityX,gravityY,gravityZ,accelerationX,accelerationY,accelerationZ\n"
                + Self.rows { "\(Self.times($0)),\(Self.vector($0, size: size)),\(0.4 * size * Double($0 % 2)),0,0" },
            map: "acceleration=linear")
        #expect(abs(found.samples[0][1].x - 0.4 * 9.80665) < 1e-3, "\(found.notices)")
        #expect(found.notices.contains { $0.contains("the unit of the gravity beside it") })
    }

    @Test(arguments: [
        ("Clock:Tick#,Clock:offsetTime", 90_000.0), ("%time,field.header.stamp", 0.03),
        ("Arrival_Time,Creation_Time", 0.03),
    ])
    func theTimeOfTheSampleIsPreferred(names: String, otherStep: Double) throws {
        let found = try read(
            "\(names),ax,ay,az\n"
                + Self.rows { "\(Double($0 / 2) * otherStep),\(Self.times($0)),\(Self.vector($0))" })
        #expect(found.samples[0][50].timeNanoseconds - found.samples[0][0].timeNanoseconds == 1_000_000_000)
    }

    @Test func ticksOfUnknownLengthAreNoTime() throws {
        func text(_ name: String, _ step: Int) -> String {
            "\(name),ax,ay,az\n" + Self.rows { "\(154_000 + step * $0),\(Self.vector($0))" }
        }
        let fine = try refusal(text("SampleTimeFine", 100))
        #expect(fine.message.contains("tenths of a millisecond"))
        #expect("\(fine.remedy.map { "\($0)" } ?? "")".contains("\"100\""), "\(fine)")
        #expect(try refusal(text("Shimmer_952D_Timestamp_RAW", 640)).message.contains("nothing says how long one is"))
        // Ticks of 1 ms, as usual.
        let ticks = try read(text("time tick", 10))
        #expect(ticks.samples[0][100].timeNanoseconds - ticks.samples[0][0].timeNanoseconds == 1_000_000_000)
    }

    /// A line says the unit that no turn confirms.
    @Test(arguments: ["Gyroscope in degrees/second", "Gyro unit: degrees per second"])
    func aLineBeforeTheRowsSaysTheUnitOfAGyroscope(line: String) throws {
        let found = try read(
            "\(line)\nt_s,ax,ay,az,gx,gy,gz\n" + Self.rows { "\(Self.times($0)),0.1,0.2,9.8,0.01,-0.02,0.0\($0 % 3)" })
        #expect(found.notices.contains { $0.contains("taken as °/s, as line 1 says") }, "\(found.notices)")
        #expect(abs(found.samples[0][9].x - 0.01 * .pi / 180) < 1e-7)
    }

    /// The range of a gyroscope and its errors are in units of their own, and a unit in which the values are impossible is none.
    @Test(
        arguments: [
            ("# Gyroscope full scale: ±2000 dps", 0.01, "rad/s"), ("# Gyroscope 2000 dps", 0.01, "rad/s"),
            ("# gyro_range = 250.0 dps", 0.01, "rad/s"), ("gyro bias (deg/s): 0.1", 0.01, "rad/s"),
            ("# Gyro rad/s", 300.5, "°/s"),
        ])
    func aLineAboutSomethingElseSaysNoUnitOfTheSamples(line: String, rate: Double, unit: String) throws {
        let found = try read("\(line)\nt_s,gx,gy,gz\n" + Self.rows { "\(Self.times($0)),\(rate),-0.02,0.0\($0 % 3)" })
        #expect(
            found.notices.contains { $0.contains("taken as \(unit)") && !$0.contains("as line") }, "\(found.notices)")
    }

    @Test func wholeNumbersOfAGyroscopeAtRestAreLeftOut() throws {
        func gyroscope(_ rate: (Int) -> String) throws -> [SampleKind] {
            try read("t_s,ax,ay,az,gx,gy,gz\n" + Self.rows(400) { "\(Self.times($0)),0.1,0.2,9.8,\(rate($0))" }).streams
        }
        #expect(try gyroscope { "0,\($0 % 9 / 8),0" } == [.accelerometer])
        // Zeros alone are those of a dead band as well, and decimals may come later.
        #expect(try gyroscope { _ in "0,0,0" } == [.gyroscope, .accelerometer])
        #expect(try gyroscope { $0 < 250 ? "0,0,0" : "0,0.01\($0 % 7),-0.02" } == [.gyroscope, .accelerometer])
        // Whole numbers that a line gives a unit.
        let stated = try read(
            "# gyro: deg/s\nt_s,ax,ay,az,gx,gy,gz\n" + Self.rows { "\(Self.times($0)),0.1,0.2,9.8,0,\($0 % 9 / 8),0" })
        #expect(stated.streams == [.gyroscope, .accelerometer], "\(stated.notices)")
        // Without gravity to compare them with, there is but the assumption.
        let alone = try read("t_s,gx,gy,gz\n" + Self.rows { "\(Self.times($0)),0,\($0 % 9 / 8),0" })
        #expect(alone.streams == [.gyroscope], "\(alone.notices)")
    }

    /// Rows of each sensor, whose columns a comment names.
    @Test func theCommandForOneSensorKeepsTheNamesOfItsColumns() throws {
        let error = try refusal(
            "# Header:\n# UncalAccel,utcTimeMillis,AccelXMps2,AccelYMps2,AccelZMps2\n"
                + "# UncalGyro,utcTimeMillis,GyroXRadPerSec,GyroYRadPerSec,GyroZRadPerSec\n#\n"
                + Self.rows { "\($0 % 2 == 0 ? "UncalAccel" : "UncalGyro"),\(1_718_000_000_000 + 5 * $0),0.1,0.2,9.8" })
        let remedy = "\(error.remedy.map { "\($0)" } ?? "")"
        #expect(remedy.contains("NR == 2 || f == "), "\(error) \(remedy)")
        #expect(!error.message.contains("Of that table"), "\(error)")
    }

    @Test func halvesOfARangeAreNoCounts() throws {
        for names in ["X,Y,Z", "ax,ay,az"] {
            let error = try refusal("t_s,\(names)\n" + Self.rows { "\(Self.times($0)),127,\(127 + $0 % 2),190" })
            #expect(error.message.contains("reads half its supply at 0 g") && error.remedy == nil, "\(error)")
        }
    }

    @Test func loadsInGAreAnAccelerometer() throws {
        let found = try read("Time,Gx,Gy,Gz\n" + Self.rows { "\(Self.times($0)),\(Self.vector($0))" })
        #expect(found.streams == [.accelerometer], "\(found.notices)")
        #expect(found.notices.contains { $0.contains("taken as an accelerometer, because") })
        // Beside an accelerometer the letter is a gyroscope's.
        let both = try read(
            "Time,Ax,Ay,Az,Gx,Gy,Gz\n" + Self.rows { "\(Self.times($0)),\(Self.vector($0)),\(Self.vector($0))" })
        #expect(both.streams == [.gyroscope, .accelerometer])
    }

    @Test func aFieldThatMayBeInTwoUnitsSaysBoth() throws {
        let found = try read(
            "Time,ax,ay,az,mx,my,mz\n"
                + Self.rows { "\(Self.times($0)),\(Self.vector($0)),-57.\($0 % 10),110.1,-112.9" })
        #expect(found.notices.contains { $0.contains("It may be µT as well") }, "\(found.notices)")
    }
}
