import Binnacle
import Testing
import Traces

private func text(_ header: String, _ rows: [String]) -> String {
    ([header] + rows).map { $0 + "\n" }.joined()
}

@Suite struct CSVLayoutTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let kinds: [SampleKind]
        let sensors: [String]
        /// The first sample of each stream.
        let first: [Sample]
        var testDescription: String { name }
    }

    private static func accelerometer(_ name: String, _ text: String, time: Int64, _ x: Float, _ y: Float, _ z: Float)
        -> Case
    {
        Case(
            name: name, text: text, kinds: [.accelerometer], sensors: ["accelerometer"],
            first: [Sample(timeNanoseconds: time, x: x, y: y, z: z)])
    }

    private static func magnetometer(_ name: String, _ text: String, time: Int64, _ x: Float, _ y: Float, _ z: Float)
        -> Case
    {
        Case(
            name: name, text: text, kinds: [.magnetometer], sensors: ["magnetometer"],
            first: [Sample(timeNanoseconds: time, x: x, y: y, z: z)])
    }

    static let cases: [Case] = [
        accelerometer("a temperature T", "T,time,ax,ay,az\n21.5,1,1,2,3\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer(
            "a temperature T with its unit", "T (°C),time,ax,ay,az\n21,1,1,2,3\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer("a stray column", "t_s,ax,ay,az,by\n1,1,2,3,9\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer("seconds and m/s²", "t_s,ax,ay,az\n1.5,1,2,3\n", time: 1_500_000_000, 1, 2, 3),
        accelerometer(
            "quoted header, exponents",
            "\"Time (s)\",\"X (m/s^2)\",\"Y (m/s^2)\",\"Z (m/s^2)\"\n3.446083327E-3,-4.8E-1,1.5E0,9.25E0\n",
            time: 3_446_083, -0.48, 1.5, 9.25),
        accelerometer("g", "time_ms,acc_x_g,acc_y_g,acc_z_g\n10,1,0,-2\n", time: 10_000_000, 9.80665, 0, -19.6133),
        accelerometer("milli-g", "time_us,ax_mg,ay_mg,az_mg\n10,1000,0,500\n", time: 10_000, 9.80665, 0, 4.903325),
        accelerometer(
            "semicolon and CRLF", "t [ms];AccX [g];AccY [g];AccZ [g]\r\n5;0,5;0;1\r\n", time: 5_000_000, 4.903325, 0,
            9.80665),
        accelerometer(
            "tab", "timestamp_ns\taccel_x\taccel_y\taccel_z\n1700000000123456789\t1\t2\t3\n",
            time: 1_700_000_000_123_456_789, 1, 2, 3),
        accelerometer("byte-order mark", "\u{FEFF}t_s,ax,ay,az\n1,1,2,3\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer(
            "other order, other columns", "az;note;ay;gx;t_s;ax\n3;\"a;b\";2;7;1;1\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer(
            "quoted fields and blanks", "t_s,ax,ay,az\n\"1\", 1 ,\"2\", \"3\"\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer(
            "doubled quotes", "note,t_s,ax,ay,az\n\"say \"\"hi\"\", 7,8,9,6\",1,1,2,3\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer(
            "JSON in quotes", "note,t_s,ax,ay,az\n\"{\"\"a\"\":1,\"\"b\"\":2}\",1,1,2,3\n", time: 1_000_000_000, 1,
            2, 3),
        accelerometer(
            "decimal commas in quotes", "t_s,ax,ay,az\n\"0,05\",\"0,013\",\"-0,019\",\"9,81\"\n", time: 50_000_000,
            0.013, -0.019, 9.81),
        accelerometer(
            "a decimal comma in quotes beside whole numbers", "t_s,ax,ay,az\n1,\"0,5\",2,3\n", time: 1_000_000_000,
            0.5, 2, 3),
        accelerometer(
            "milliseconds since 1970", "timestamp,ax,ay,az\n1700000000123,1,2,3\n", time: 1_700_000_000_123_000_000, 1,
            2, 3),
        accelerometer(
            "comment and empty lines", "# logger 3\n\nt_s,ax,ay,az\n\n# start\n1,1,2,3\n", time: 1_000_000_000, 1, 2, 3),
        accelerometer("g-force", "time,gFx,gFy,gFz\n1,1,2,3\n", time: 1_000_000_000, 9.80665, 19.6133, 29.41995),
        magnetometer(
            "µT, micro sign", "t_s,Bx (\u{B5}T),By (\u{B5}T),Bz (\u{B5}T)\n1,20,-5,-40\n", time: 1_000_000_000, 20, -5,
            -40),
        magnetometer(
            "µT, Greek mu", "Time (s),X (\u{3BC}T),Y (\u{3BC}T),Z (\u{3BC}T)\n1,20,-5,-40\n", time: 1_000_000_000, 20,
            -5, -40),
        magnetometer(
            "gauss", "time_s,mag_x_gauss,mag_y_gauss,mag_z_gauss\n1,0.2,0,-0.4\n", time: 1_000_000_000, 20, 0, -40),
        magnetometer(
            "nanotesla", "time_s,mx [nT],my [nT],mz [nT]\n1,20000,0,-40000\n", time: 1_000_000_000, 20, 0, -40),
        Case(
            name: "all three kinds",
            text:
                "Time (s),Gyroscope X (deg/s),Gyroscope Y (deg/s),Gyroscope Z (deg/s),Accelerometer X (g),Accelerometer Y (g),Accelerometer Z (g),Magnetometer X (uT),Magnetometer Y (uT),Magnetometer Z (uT)\n0.5,9,9,9,0,0,1,20,0,-40\n",
            kinds: [.gyroscope, .magnetometer, .accelerometer],
            sensors: ["gyroscope", "magnetometer", "accelerometer"],
            first: [
                Sample(timeNanoseconds: 500_000_000, x: 0.15707963, y: 0.15707963, z: 0.15707963),
                Sample(timeNanoseconds: 500_000_000, x: 20, y: 0, z: -40),
                Sample(timeNanoseconds: 500_000_000, x: 0, y: 0, z: 9.80665),
            ]),
        Case(
            name: "our own recordings with a gyroscope",
            text:
                "time_ns,box.gx_rad_s,box.gy_rad_s,box.gz_rad_s,box.ax_m_s2,box.ay_m_s2,box.az_m_s2\n5,1,-2,3,4,5,6\n",
            kinds: [.gyroscope, .accelerometer], sensors: ["box", "box"],
            first: [Sample(timeNanoseconds: 5, x: 1, y: -2, z: 3), Sample(timeNanoseconds: 5, x: 4, y: 5, z: 6)]),
        Case(
            name: "our own recordings",
            text:
                "time_ns,chassis.ax_m_s2,chassis.ay_m_s2,chassis.az_m_s2,compass.mx_uT,compass.my_uT,compass.mz_uT\n-7,1,2,3,,,\n-3,,,,4,5,6\n",
            kinds: [.magnetometer, .accelerometer], sensors: ["compass", "chassis"],
            first: [Sample(timeNanoseconds: -3, x: 4, y: 5, z: 6), Sample(timeNanoseconds: -7, x: 1, y: 2, z: 3)]),
    ]

    @Test(arguments: cases)
    func columnsAndUnitsAreRecognised(example: Case) throws {
        let file = try TemporaryFile(example.text)
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.kind) == example.kinds)
        #expect(source.streams.map(\.sensor.name) == example.sensors)
        let collected = Collected(source)
        for (stream, expected) in example.first.enumerated() {
            let sample = try #require(collected.samples[stream].first)
            #expect(sample.timeNanoseconds == expected.timeNanoseconds)
            for (value, wanted) in [(sample.x, expected.x), (sample.y, expected.y), (sample.z, expected.z)] {
                #expect(abs(value - wanted) <= 1e-6 * max(1, abs(wanted)))
            }
        }
        #expect(source.repairs.isEmpty)
    }

    /// A spreadsheet writes days since 1900; rates of a machine's sensor that fit as seconds stay seconds.
    @Test(arguments: [
        ("time,ax,ay,az", 45_992.5, 0.01 / 86_400, 0.01), ("Time;ax;ay;az", 45_992.5, 0.02 / 86_400, 0.02),
        ("time,ax,ay,az", 45_992.5, 0.01, 0.01), ("time,ax,ay,az", 0.5, 1e-5, 1e-5),
        ("time_s,ax,ay,az", 45_992.5, 1e-6, 1e-6),
    ])
    func daysOfASpreadsheetAreRecognised(header: String, start: Double, step: Double, seconds: Double) throws {
        let separator = header.contains(";") ? ";" : ","
        let rows = (0..<50).map { "\(start + Double($0) * step)\(separator)0\(separator)0\(separator)9.8\n" }
        let file = try TemporaryFile(header + "\n" + rows.joined())
        let stamps = Collected(try TraceSource(paths: [file.path])).samples[0].map(\.timeNanoseconds)
        #expect(stamps.count == 50)
        #expect(abs(Double(stamps[49] - stamps[0]) * 1e-9 - 49 * seconds) < 1e-5)
    }

    @Test func daysOfASpreadsheetAreDates() throws {
        let rows = (0..<50).map { "\(45_992.5 + Double($0) * 0.01 / 86_400),0,0,9.8\n" }
        let file = try TemporaryFile("time,ax_m_s2,ay_m_s2,az_m_s2\n" + rows.joined())
        let notices = try TraceFile(path: file.path).notices.map(\.message)
        #expect(notices.contains { $0.contains("taken as days of a spreadsheet") }, "\(notices)")
        // 1 December 2025, at noon.
        let first = Collected(try TraceSource(paths: [file.path])).samples[0].first
        #expect(first?.timeNanoseconds == 1_764_590_400_000_000_000)
    }

    /// Names and units of gyroscopes that telephones, loggers and programs write.
    @Test(
        arguments: [
            ("gx,gy,gz", 1), ("wx,wy,wz", 1), ("omega_x,omega_y,omega_z", 1), ("gyroX,gyroY,gyroZ", 1),
            ("gyr_x,gyr_y,gyr_z", 1), ("GYROX,GYROY,GYROZ", 1), ("Gyroscope x,Gyroscope y,Gyroscope z", 1),
            ("rotationRateX,rotationRateY,rotationRateZ", 1), ("AngularVelocityX,AngularVelocityY,AngularVelocityZ", 1),
            ("angular_velocity.x,angular_velocity.y,angular_velocity.z", 1),
            ("gyroRotationX(rad/s),gyroRotationY(rad/s),gyroRotationZ(rad/s)", 1),
            ("motionRotationRateX(rad/s),motionRotationRateY(rad/s),motionRotationRateZ(rad/s)", 1),
            ("Gyroscope x (rad/s),Gyroscope y (rad/s),Gyroscope z (rad/s)", 1), ("x (rad/s),y (rad/s),z (rad/s)", 1),
            ("gx_dps,gy_dps,gz_dps", Double.pi / 180), ("gx [deg/s],gy [deg/s],gz [deg/s]", .pi / 180),
            ("Gyr_X (°/s),Gyr_Y (°/s),Gyr_Z (°/s)", .pi / 180), ("gyro_x_mdps,gyro_y_mdps,gyro_z_mdps", .pi / 180e3),
            ("GyrX [mrad/s],GyrY [mrad/s],GyrZ [mrad/s]", 1e-3),
        ] as [(String, Double)])
    func gyroscopesAreRecognised(names: String, factor: Double) throws {
        let file = try TemporaryFile("t_s,ax,ay,az,\(names)\n1,0,0,9.81,1,-2,3\n")
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.kind) == [.gyroscope, .accelerometer])
        let sample = try #require(Collected(source).samples.first?.first)
        for (value, wanted) in [(sample.x, 1), (sample.y, -2), (sample.z, 3)] as [(Float, Double)] {
            #expect(abs(Double(value) - wanted * factor) <= 1e-6 * factor * 3)
        }
    }

    /// What turns otherwise, or is no rate, is no gyroscope.
    @Test(arguments: [
        "rotation_vector_x,rotation_vector_y,rotation_vector_z", "orientationX,orientationY,orientationZ",
        "velocity_x,velocity_y,velocity_z", "gyro_bias_x,gyro_bias_y,gyro_bias_z",
        "gyroX (lsb),gyroY (lsb),gyroZ (lsb)",
        "angle_x (deg),angle_y (deg),angle_z (deg)",
    ])
    func otherColumnsAreNoGyroscope(names: String) throws {
        let file = try TemporaryFile("t_s,ax,ay,az,\(names)\n1,0,0,9.81,1,-2,3\n")
        #expect(try TraceSource(paths: [file.path]).streams.map(\.kind) == [.accelerometer])
    }

    @Test func whatTheHeaderDoesNotSayIsAssumedAndSaid() throws {
        let file = try TemporaryFile("time,ax,ay,az\n1,1,2,3\n")
        let notices = try TraceFile(path: file.path).notices.map(\.message)
        #expect(notices.count == 2)
        #expect(notices[0].contains("taken as m/s²"))
        #expect(notices[1].contains("taken as seconds"))
        let said = try TemporaryFile("time_s,ax_g,ay_g,az_g\n1,1,2,3\n")
        #expect(try TraceFile(path: said.path).notices.isEmpty)
    }

    @Test(arguments: [
        "time=when:ms,ax=a:g,ay=b:g,az=c:g", "time=#1:ms,ax=#2:g,ay=#3:g,az=#4:g",
    ])
    func aMapNamesWhatCannotBeRecognised(map: String) throws {
        let file = try TemporaryFile("when;a;b;c\n2;1;0;0\n")
        #expect(throws: TraceError.self) { try TraceSource(paths: [file.path]) }
        let source = try TraceSource(paths: [file.path], map: ColumnMap([map]))
        #expect(Collected(source).samples == [[Sample(timeNanoseconds: 2_000_000, x: 9.80665, y: 0, z: 0)]])
    }

    @Test func aMapSaysOnlyWhatTheHeaderDoesNot() throws {
        let file = try TemporaryFile("when,ax (g),ay (g),az (g),x2,y2,z2\n1,1,0,0,20,0,-40\n")
        let source = try TraceSource(paths: [file.path], map: ColumnMap(["time=when:ms,mx=x2:uT,my=y2:uT,mz=z2:uT"]))
        let samples = Collected(source).samples
        #expect(samples[1] == [Sample(timeNanoseconds: 1_000_000, x: 9.80665, y: 0, z: 0)])
        #expect(samples[0] == [Sample(timeNanoseconds: 1_000_000, x: 20, y: 0, z: -40)])
        // The unit in a name holds unless the map has another.
        let named = try TemporaryFile("t_s,one (g),two (g),three (g)\n1,1,0,0\n")
        for (unit, expected) in [("", Float(9.80665)), (":m/s2", 1)] {
            let map = try ColumnMap(["ax=one (g)\(unit),ay=two (g)\(unit),az=three (g)\(unit)"])
            let source = try TraceSource(paths: [named.path], map: map)
            #expect(Collected(source).samples[0].first?.x == expected)
        }
        for map in ["ax=nope:g", "time=nope:s", "az=#9:g"] {
            let wrong = try ColumnMap([map])
            let error = #expect(throws: TraceError.self) { try TraceSource(paths: [file.path], map: wrong) }
            #expect(error?.message.contains("--map wants column") == true)
        }
    }

    @Test func columnsOfOneNameAreToldApartByTheirNumbers() throws {
        let file = try TemporaryFile(
            text("t_s,t_s,ax (g),ay (g),az (g),note,note", (1...3).map { "9,\($0),1,2,3,4,5" }))
        let trace = try TraceFile(path: file.path)
        #expect(
            trace.notices.map(\.message) == [
                "several columns 't_s': #2 is taken as the time (override with --map time=#NUMBER)"
            ])
        let error = #expect(throws: TraceError.self) {
            try TraceSource(paths: [file.path], map: ColumnMap(["time=#2,ax=note:g,ay=#4:g,az=#5:g"]))
        }
        #expect(error?.message.contains("say which by its number, as in ax=#6 or ax=#7") == true)
        let source = try TraceSource(paths: [file.path], map: ColumnMap(["time=#2,ax=#7:m/s2,ay=#4:m/s2,az=#5:m/s2"]))
        #expect(Collected(source).samples[0].map(\.x) == [5, 5, 5])
    }

    @Test func aFileOfCommentsIsNotCalledEmpty() throws {
        let file = try TemporaryFile(String(repeating: "# x\n", count: 5000) + "t_s,ax,ay,az\n1,1,2,3\n")
        let error = #expect(throws: TraceError.self) { try TraceFile(path: file.path) }
        #expect(error?.message.contains("no header and no sample in its first") == true, "\(error?.message ?? "")")
    }

    @Test func severalFilesShareAMap() throws {
        let map = try ColumnMap(["time=t:s,ax=a:g,ay=b:g,az=c:g,mx=d:uT,my=e:uT,mz=f:uT"])
        let files = [try TemporaryFile("t,a,b,c\n1,0,0,1\n"), try TemporaryFile("t,d,e,f\n1,20,0,-40\n")]
        let source = try TraceSource(paths: files.map(\.path), map: map)
        #expect(source.streams.map(\.kind) == [.magnetometer, .accelerometer])
    }

    @Test func aMapWithNumbersServesAFileWithoutAHeader() throws {
        let file = try TemporaryFile("2,1,0,0\n3,1,0,0\n")
        let source = try TraceSource(paths: [file.path], map: ColumnMap(["time=#1:s", "mx=#2,my=#3,mz=#4"]))
        #expect(source.streams.map(\.kind) == [.magnetometer])
        #expect(Collected(source).samples[0].map(\.timeNanoseconds) == [2_000_000_000, 3_000_000_000])
    }

    @Test func aColumnsNameMayContainACommaAndAColon() throws {
        let map = try ColumnMap(["time=t, all:s,ax=a:1:g,ay=b:g,az=c:g"])
        let file = try TemporaryFile("\"t, all\",a:1,b,c\n1,1,0,0\n")
        let source = try TraceSource(paths: [file.path], map: map)
        #expect(Collected(source).samples[0].count == 1)
    }

    @Test(arguments: [
        ("time=#1,ax=#1", "mapped to the same column"), ("mx=a:m/s2", "does not measure mx"),
        ("time=#1:g", "does not measure time"), ("time=#1,ax=#2:parsec", "is not a unit"), ("foo=#1", "is not TARGET"),
        ("time=#0", "not a column number"), ("time=#1,time=#2", "mapped twice"), ("", "is not TARGET"),
    ])
    func aWrongMapIsRefused(map: String, message: String) throws {
        let error = #expect(throws: ColumnMap.ParseError.self) { try ColumnMap([map]) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test func bareAxesWithoutAUnitNeedToBeSaid() throws {
        let file = try TemporaryFile("seconds_elapsed,z,y,x\n1,3,2,1\n")
        #expect(throws: TraceError.self) { try TraceFile(path: file.path) }
        let gauss = try TemporaryFile("t_s,x (G),y (G),z (G)\n1,3,2,1\n")
        #expect(try TraceFile(path: gauss.path).contents.map(\.kind) == [.accelerometer])
        #expect(
            try TraceFile(path: gauss.path, hints: TraceHints(assumedKind: .magnetometer)).contents.map(\.kind) == [
                .magnetometer
            ])
        let trace = try TraceFile(path: file.path, hints: TraceHints(assumedKind: .magnetometer))
        #expect(trace.contents.map(\.kind) == [.magnetometer])
    }
}

@Suite struct BadInputTests {
    private func error(_ bytes: [UInt8]) throws -> TraceError {
        let file = try TemporaryFile(bytes)
        do {
            let collected = Collected(try TraceSource(paths: [file.path]))
            return try #require(collected.failures.first as? TraceError)
        } catch let error as TraceError {
            return error
        }
    }

    @Test func filesThatAreNone() throws {
        #expect(throws: TraceError.self) { try TraceSource(paths: ["/nonexistent/x.csv"]) }
        let missing = #expect(throws: TraceError.self) { try TraceSource(paths: ["/nonexistent/x.csv"]) }
        #expect(missing?.category == .noInput)
        let directory = #expect(throws: TraceError.self) { try TraceSource(paths: ["/tmp"]) }
        #expect(directory?.message.contains("is a directory") == true)
    }

    @Test(
        arguments: [
            ("", "is empty", nil, nil), ("\n\n# nothing\n", "is empty", nil, nil),
            ("t_s,ax,ay,az\n", "no sample", 1, nil),
            ("t_s,ax,ay,az\n\n\n", "no sample", 3, nil),
            ("1,2,3,4\n2,2,3,4\n", "where the columns' names should be", 1, nil),
            ("foo,bar\n1,2\n", "no column holds the time", 1, nil),
            ("t_s,foo\n1,2\n", "neither an accelerometer", 1, nil),
            ("t_s,ax,ay\n1,2,3\n", "no column for z", 1, nil),
            ("t_s,ax,ay,az,accel_x,accel_y,accel_z\n1,2,3,4,5,6,7\n", "both look like", 1, nil),
            ("t_s,ax_g,ay_g,az\n1,2,3,4\n", "different units", 1, nil),
            ("Time (s),X (rad/s)\n1,2\n", "the gyroscope has no column for y and z", 1, nil),
            ("t_s,linear acc x,linear acc y,linear acc z\n1,2,3,4\n", "without gravity", 1, nil),
            ("ab\u{0}c,d\n", "0x00", 1, 3),
            ("\u{1B}[2J\n", "0x1b", 1, 1),
            ("Time (weeks),ax,ay,az\n1,2,3,4\n", "'weeks' is no unit of time", 1, nil),
            ("t_s,ax (ft/s2),ay (ft/s2),az (ft/s2)\n1,2,3,4\n", "'ft/s2' is no unit", 1, nil),
            ("t_s,ax (rad/s),ay (rad/s),az (rad/s)\n1,2,3,4\n", "no unit of acceleration", 1, nil),
            ("t_s,ax,ay,az\rnext", "CR alone", 1, nil), ("PK\u{3}\u{4}x\n", "zip archive", nil, nil),
            ("time,ax,ay,az\n0,00,0,1,0,2,9,8\n", "8 fields, the header 4", 1, nil),
            ("t_s,ax,ay,az\nx,1,2,3\ny,1,2,3\n", "none of its 2 rows", 3, nil),
        ] as [(String, String, Int?, Int?)])
    func headersThatSayTooLittle(text: String, message: String, line: Int?, column: Int?) throws {
        let error = try error(Array(text.utf8))
        #expect(error.category == .data)
        #expect(error.message.contains(message), "\(error)")
        #expect(error.line == line)
        #expect(error.column == column)
    }

    @Test func aLineOfTenMegabytesIsRefusedEarly() throws {
        let long = [UInt8](repeating: UInt8(ascii: "1"), count: 10_000_000)
        #expect(try error(long).message.contains("longer than"))
        let later = try error(Array("t_s,ax,ay,az\n1,1,2,3\n".utf8) + long)
        #expect(later.line == 3 && later.message.contains("longer than"))
    }

    @Test func utf16IsNamed() throws {
        let error = try error([0xFF, 0xFE] + "t_s,ax".utf8.flatMap { [$0, 0] })
        #expect(error.message.contains("UTF-16"))
    }

    @Test func rubbishAfterAGoodBeginningEndsWithAnError() throws {
        var random = SystemRandomNumberGenerator()
        let junk = (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let lines = [UInt8]("t_s,ax,ay,az\n1,1,2,3\n".utf8) + Array(String(repeating: "x\n", count: 2000).utf8) + junk
        let error = try error(lines)
        #expect(error.message.contains("no usable sample"), "\(error)")
        #expect(error.line == 1003)
    }

    @Test func aClockSetBackForGoodIsNotPassedOver() throws {
        var rows = (0..<2000).map { "\($0 + 5000),1,2,3" }
        rows += (0..<2000).map { "\($0),1,2,3" }
        let error = try error(Array(text("t_s,ax,ay,az", rows).utf8))
        #expect(error.message.contains("split the file at line 2002"), "\(error)")
    }

    @Test func aClockSetBackNearTheEndIsNotPassedOverEither() throws {
        let rows = (0..<100).map { "\($0),1,2,3" } + (0..<20).map { "\($0),1,2,3" }
        let error = try error(Array(text("t_s,ax,ay,az", rows).utf8))
        #expect(error.message.contains("split the file at line 102"), "\(error)")
    }

    /// 145959 is followed by 150000 a second later.
    @Test func hoursMinutesAndSecondsInOneNumberAreRefused() throws {
        let times: [Int] = (0..<30).map { $0 < 10 ? 145_950 + $0 : 149_990 + $0 }
        let rows = times.map { "\($0).0,0,0,9.8" }
        let error = try error(Array(text("time,ax,ay,az", rows).utf8))
        #expect(error.message.contains("write them as hh:mm:ss") && error.line == 12, "\(error)")
        let stated = try TemporaryFile(text("time_s,ax,ay,az", rows))
        #expect(Collected(try TraceSource(paths: [stated.path])).samples[0].count == 30)
        // A pause that begins at another time.
        let paused = try TemporaryFile(text("time,ax,ay,az", rows.map { $0.replacing("1459", with: "1458") }))
        #expect(Collected(try TraceSource(paths: [paused.path])).samples[0].count == 30)
    }

    @Test func oneCorruptStampTakesNothingElseWithIt() throws {
        let rows = (0..<3000).map { $0 == 100 ? "99999,1,2,3" : "\($0),1,2,3" }
        let file = try TemporaryFile(text("t_s,ax,ay,az", rows))
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples[0].count == 2999)
        #expect(source.repairs.counts == [.outlier: 1])
        // A step ahead that stays is a gap and no fault.
        let later = (0..<200).map { "\($0 < 100 ? $0 : $0 + 90000),1,2,3" }
        let night = try TemporaryFile(text("t_s,ax,ay,az", later))
        let believed = try TraceSource(paths: [night.path])
        #expect(Collected(believed).samples[0].count == 200)
        #expect(believed.repairs.isEmpty)
    }

    /// What may stand behind a corrupt stamp without hiding it.
    @Test(arguments: ["", "\n", "# comment\n\n", "101,nan,2,3\n", "101,,,\n"])
    func aCorruptStampIsSeenWhateverFollowsIt(next: String) throws {
        let before = (0..<101).map { "\($0),1,2,3\n" }.joined()
        let after = (102..<1500).map { "\($0),1,2,3\n" }.joined()
        let file = try TemporaryFile("t_s,ax,ay,az\n" + before + "99999,1,2,3\n" + next + after)
        let source = try TraceSource(paths: [file.path])
        let collected = Collected(source)
        #expect(collected.failures.isEmpty)
        #expect(collected.samples[0].count == 101 + 1398)
        #expect(source.repairs.counts[.outlier] == 1)
    }

    @Test func aCorruptStampIsSeenBetweenStreamsThatLag() throws {
        var text = "time_ms,a.ax_g,a.ay_g,a.az_g,m.mx_uT,m.my_uT,m.mz_uT\n"
        for i in 0..<300 {
            text += "\(i == 100 ? 5_000_000 : i * 10),0,0,1,,,\n\(i * 10 - 15),,,,20,0,-40\n"
        }
        let file = try TemporaryFile(text)
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples.map(\.count) == [300, 299])
    }

    @Test func aStreamSetBackIsNotHiddenByAnother() throws {
        var text = "time_ms,a.ax_g,a.ay_g,a.az_g,m.mx_uT,m.my_uT,m.mz_uT\n"
        for i in 0..<300 { text += "\(i < 200 ? i * 10 : i),0,0,1,,,\n\(i * 10),,,,20,0,-40\n" }
        #expect(try error(Array(text.utf8)).message.contains("split the file at line 402"))
    }

    @Test func aSensorThatDropsOutDamagesNothing() throws {
        for row in ["%,,,,1,2,3.5", "%,nan,nan,nan,1,2,3.5"] {
            var text = "t_ms,ax,ay,az,gx,gy,gz\n"
            for i in 0..<1400 {
                let isOut = (100..<1300).contains(i)
                text += isOut ? row.split(separator: "%").reduce("\(i)") { $0 + $1 } + "\n" : "\(i),1,2,3,1,2,3.5\n"
            }
            let file = try TemporaryFile(text)
            let collected = Collected(try TraceSource(paths: [file.path]))
            #expect(collected.failures.isEmpty)
            #expect(collected.samples.map(\.count) == [1400, 200])
        }
    }

    @Test func aRowWithoutItsTimeHasNoSample() throws {
        let file = try TemporaryFile("ax,ay,az,t_s\n1,2,3\n0,0,9.8,1\n50,0,0\n0,0,9.8,2\n")
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples[0].map(\.timeNanoseconds) == [1_000_000_000, 2_000_000_000])
        #expect(source.repairs.counts == [.incomplete: 2])
    }

    @Test func decimalCommasMayComeLate() throws {
        let file = try TemporaryFile("t (s);x (g);y (g);z (g)\n0;0;0;1\n0,5;0,25;0.25;1\n")
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples[0].map(\.timeNanoseconds) == [0, 500_000_000])
        #expect(source.repairs.isEmpty)
    }

    @Test func faultsAreRepairedCountedAndPlaced() throws {
        let file = try TemporaryFile(
            text(
                "t_s,ax,ay,az",
                [
                    "1,1,2,3", "2,1,n/a,3", "3,NaN,2,3", "4,1,2", "5,1,,3", "6,1,2,-inf", "7,1e99,2,3", "0.5,1,2,3",
                    "8,1,2,3", "8,1,2,4", "t_s,ax,ay,az", "9,1,2,3", "x", "9999999999999999,1,2,3",
                ]) + "10,1,2")
        let source = try TraceSource(paths: [file.path])
        let collected = Collected(source)
        #expect(collected.failures.isEmpty)
        #expect(collected.samples[0].map { $0.timeNanoseconds / 1_000_000_000 } == [1, 8, 8, 9])
        #expect(
            source.repairs.counts == [
                .notANumber: 3, .beyondTime: 1, .notFinite: 2, .beyondSensors: 1, .incomplete: 2, .backwards: 1,
                .repeated: 1, .torn: 1,
            ])
        let places = source.repairs.notices.map { "\($0.line ?? 0):\($0.column ?? 0)" }
        #expect(places.prefix(4) == ["3:5", "4:3", "5:6", "6:7"])
        #expect(source.repairs.notices[0].message == "'n/a' is not a number")
    }

    /// The same number in all axes, far from what a sensor measures.
    @Test func numbersForMissingValuesAreSkipped() throws {
        let file = try TemporaryFile(
            text(
                "t_s,ax,ay,az,gx,gy,gz",
                [
                    "1,0,0,9.8,0,0,0", "2,-9999,-9999,-9999,0,0,0", "3,0,0,9.8,999.99,999.99,999.99",
                    "4,-9999.00,-9999.0,-9999,-999,-999,-999", "5,-9999,-9999,9.8,0,0,0", "6,-1,-1,-1,0,0,0",
                ]))
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples.map(\.count) == [4, 4])
        #expect(source.repairs.counts == [.placeholder: 3])
        #expect(source.repairs.notices.map(\.line) == [3, 4, 5])
        #expect(source.repairs.notices[0].message.hasPrefix("-9999 in all axes of the accelerometer stands for"))
        // The end of 16 bits, where a blow is cut off.
        let counts = try TemporaryFile("t_s,x,y,z\n1,0,0,16384\n2,-32768,-32768,-32768\n")
        let map = try ColumnMap(["ax=x:g/16384,ay=y:g/16384,az=z:g/16384"])
        let trace = try TraceFile(path: counts.path, hints: TraceHints(map: map))
        #expect(Collected(TraceSource([(file: trace, sensors: [Sensor(name: "a")])])).samples[0].count == 2)
    }

    @Test func anEmptyStreamInARowIsNoFault() throws {
        let file = try TemporaryFile("t_s,ax,ay,az,mx,my,mz\n1,1,2,3,,,\n2,1,2,3,4,5,6\n3,,,,4,5,x\n4,1,2,3,4,5,\n")
        let source = try TraceSource(paths: [file.path])
        let collected = Collected(source)
        #expect(collected.samples.map(\.count) == [1, 3])
        #expect(source.repairs.counts == [.notANumber: 1, .incomplete: 1])
    }

    @Test func aLastLineWithoutItsEndIsKeptWhenItIsWhole() throws {
        let foreign = try TemporaryFile("t_s,ax,ay,az\n1,1,2,3\n2,1,2,3")
        #expect(Collected(try TraceSource(paths: [foreign.path])).samples[0].count == 2)
        // Our own recorder ends every line, so there a line without an end was torn.
        let own = try TemporaryFile("time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2\n1,1,2,3\n2,1,2,3")
        let source = try TraceSource(paths: [own.path])
        #expect(Collected(source).samples[0].count == 1)
        #expect(source.repairs.counts == [.torn: 1])
    }
}

@Suite struct MergingTests {
    private let accelerometer = "t_s,ax,ay,az\n" + (0..<50).map { "\(Double($0) / 10),1,2,3\n" }.joined()
    private let magnetometer = "t_s,mx,my,mz\n" + (0..<20).map { "\(Double($0) / 4),20,0,-40\n" }.joined()

    @Test(arguments: [1, 3, 7, 4096])
    func filesAreMergedByStampAndTiesGoToTheMagnetometer(capacity: Int) throws {
        let files = [try TemporaryFile(accelerometer), try TemporaryFile(magnetometer)]
        let source = try TraceSource(paths: files.map(\.path))
        let collected = Collected(source, capacity: capacity)
        #expect(collected.samples.map(\.count) == [20, 50])
        var expected = (0..<20).map { ($0 * 250, 0) } + (0..<50).map { ($0 * 100, 1) }
        expected.sort { $0 < $1 }
        #expect(collected.order == expected.map(\.1))
    }

    @Test(arguments: [1, 4096])
    func filesWithoutACommonTimeAreReported(capacity: Int) throws {
        let later = "t_s,mx,my,mz\n" + (0..<20).map { "\(7200 + $0),20,0,-40\n" }.joined()
        let files = [try TemporaryFile(accelerometer), try TemporaryFile(later)]
        let source = try TraceSource(paths: files.map(\.path))
        #expect(Collected(source, capacity: capacity).samples.map(\.count) == [20, 50])
        #expect(source.repairs.counts == [.apart: 1] && source.repairs.skippedCounts.isEmpty)
        let notice = try #require(source.repairs.notices.first)
        #expect(notice.path == files[1].path && notice.message.contains(files[0].path), "\(notice)")
        #expect(notice.message.contains("begins at 7200000000000 ns, 7195 s after"), "\(notice)")
        // A recording in parts.
        let others = [
            try TemporaryFile(magnetometer), try TemporaryFile("t_s,ax,ay,az\n7201,1,2,3\n7202,1,2,3\n"),
        ]
        let parts = try TraceSource(paths: (files + others).map(\.path))
        _ = Collected(parts)
        #expect(parts.repairs.isEmpty)
        // Sensors of one kind are not used together.
        let earlier = try TemporaryFile(magnetometer)
        let same = try TraceSource(paths: [files[1].path, earlier.path])
        #expect(Collected(same).samples.map(\.count) == [20, 20])
        #expect(same.repairs.isEmpty)
    }

    @Test(arguments: [1, 2, 4096])
    func oneFileKeepsItsOrderOfArrival(capacity: Int) throws {
        // The compass speaks late: its stamps lie before those of the rows above.
        let file = try TemporaryFile(
            "time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2,b.mx_uT,b.my_uT,b.mz_uT\n"
                + "10,1,1,1,,,\n20,1,1,1,,,\n15,,,,1,1,1\n20,,,,1,1,1\n30,1,1,1,,,\n30,,,,1,1,1\n")
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.kind) == [.magnetometer, .accelerometer])
        let collected = Collected(source, capacity: capacity)
        #expect(collected.order == [1, 1, 0, 0, 1, 0])
        #expect(source.repairs.isEmpty)
    }

    @Test func aFileThatFailsLeavesTheOthersGoing() throws {
        let bad = try TemporaryFile("t_s,mx,my,mz\n0,20,0,-40\n0.3,20,0,-40\n" + String(repeating: "9", count: 100_000))
        let good = try TemporaryFile(accelerometer)
        let source = try TraceSource(paths: [bad.path, good.path])
        let delivery = SampleDelivery(streams: source.streams, capacity: 8)
        var failed: [String] = []
        var counts = [0, 0]
        while true {
            delivery.removeAll()
            let answer = source.fill(delivery)
            for stream in 0..<2 { counts[stream] += delivery.batches[stream].count }
            if case .failed(let streams, _) = answer { failed += streams.map(\.sensor.name) }
            if answer.isEnd { break }
        }
        #expect(failed == ["magnetometer"])
        #expect(counts == [2, 50])
    }

    @Test func aFailureStandsAtTheSamePlaceWhateverTheDeliveries() throws {
        let good = try TemporaryFile("t_s,ax,ay,az\n" + (0..<1000).map { "\(Double($0) / 100),0,0,9.8\n" }.joined())
        let rows =
            (0..<280).map { "\(Double($0) / 100),20,0,-40\n" } + (0..<20).map { "\(Double($0) / 100),20,0,-40\n" }
        let bad = try TemporaryFile("t_s,mx,my,mz\n" + rows.joined())
        let runs = try [1, 50, 4096].map { capacity in
            let source = try TraceSource(paths: [good.path, bad.path])
            let router = Router()
            var lines: [String] = []
            router.add(ClosureHandler { lines.append($0.json.replacing(bad.path, with: "bad.csv")) })
            Pipeline(source: source, detectors: [], router: router, capacity: capacity).run()
            return lines
        }
        #expect(runs[0] == runs[1] && runs[1] == runs[2])
        #expect(runs[0].first?.contains(#""kind":"sensor.inactive""#) == true)
        #expect(runs[0].first?.contains(#""time_ns":2790000000"#) == true)
    }

    @Test func sensorsOfOneKindAreNumbered() throws {
        let files = [try TemporaryFile(accelerometer), try TemporaryFile(accelerometer)]
        let source = try TraceSource(paths: files.map(\.path))
        #expect(source.streams.map(\.sensor.name) == ["accelerometer", "accelerometer2"])
    }

    @Test func oneNamedDeviceMayCarryBothKinds() throws {
        let file = try TemporaryFile(
            "time_ns,box.ax_g,box.ay_g,box.az_g,box.mx_uT,box.my_uT,box.mz_uT\n1,0,0,1,20,0,-40\n")
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.sensor.name) == ["box", "box"])
        #expect(source.streams[0].sensor === source.streams[1].sensor)
    }
}
