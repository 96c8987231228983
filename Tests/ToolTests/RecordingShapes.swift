import Foundation
import Testing

/// Recordings as apps and loggers write them, all of the same movement: three seconds of rest, then two of shaking.
struct RecordingShape: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable {
        /// The file plays right as it is, or with the command that its refusal prints.
        case plays
        /// There is nothing in it that could be played, and the refusal says so.
        case refused(String)
    }

    let name: String
    /// The file's name, from which programs infer what is in it.
    let file: String
    let contents: Data
    var outcome = Outcome.plays
    /// The sign of the acceleration that is played, where the file does not give it away.
    var sign = 1.0
    /// Whether there is an accelerometer, or else a magnetometer.
    var isAccelerometer = true
    /// Whether gravity is missing: the command of the refusal adds it along z, and says so.
    var isLinear = false {
        didSet { told = "1 g is added along z" }
    }
    /// The samples a second that are played where the file does not say them.
    var rateHz = RecordingShape.rate
    /// What a message has to contain, at the beginning and in the summary.
    var told: String?
    var testDescription: String { name }

    static let rate = 50.0
    static let gravity = 9.80665
    /// The acceleration at rest: every axis differs, so that no two can be confused.
    static let rest = [1.3, 2.6, (gravity * gravity - 1.3 * 1.3 - 2.6 * 2.6).squareRoot()]
    static let field = [18.0, 5.5, -42.0]

    /// One moment of the movement.
    struct Moment {
        let number: Int
        var t: Double { Double(number) / RecordingShape.rate }
        /// Without gravity, in m/s².
        var user: [Double] {
            guard t >= 3, t < 5 else {
                let noise = Double((number * 7919) % 13 - 6) / 400
                return [noise, -noise / 2, noise / 3]
            }
            let phase = sin(2 * .pi * 3 * (t - 3))
            return [7 * phase, -3 * phase, 2 * phase]
        }
        /// As an accelerometer measures it, in m/s².
        var a: [Double] { zip(RecordingShape.rest, user).map { $0 + $1 } }
        var g: [Double] { a.map { $0 / RecordingShape.gravity } }
        var w: [Double] { t < 3 ? [0.001, -0.002, 0.001] : [0.4, -0.2, 0.1].map { $0 * sin(20 * t) } }
        var m: [Double] {
            let noise = Double((number * 104729) % 11 - 5) / 50
            return RecordingShape.field.map { $0 + noise }
        }
    }

    static let moments = (0..<400).map { Moment(number: $0) }

    static func f(_ values: [Double], _ separator: String = ",", digits: Int = 5, comma: Bool = false) -> String {
        values.map { String(format: "%.\(digits)f", $0) }.map {
            comma ? $0.replacingOccurrences(of: ".", with: ",") : $0
        }
        .joined(separator: separator)
    }

    private static func s(_ value: Double, _ digits: Int = 4) -> String { String(format: "%.\(digits)f", value) }

    private static func clock(_ t: Double) -> String { "12:30:" + String(format: "%06.3f", 10 + t) }

    private static func make(
        _ name: String, _ file: String = "recording.csv", head: String, end: String = "\n", row: (Moment) -> String
    ) -> RecordingShape {
        let text = head + moments.map { row($0) + end }.joined()
        return RecordingShape(name: name, file: file, contents: Data(text.utf8))
    }

    private static func clock(_ t: Double, _ format: (Int, Int, Int, Int) -> String) -> String {
        let ms = Int((t * 1000).rounded())
        return format(15 + (58 * 60 + ms / 1000) / 3600, (58 * 60 + ms / 1000) / 60 % 60, ms / 1000 % 60, ms % 1000)
    }

    private func with(_ change: (inout RecordingShape) -> Void) -> RecordingShape {
        var copy = self
        change(&copy)
        return copy
    }

    static let all: [RecordingShape] = facts + others

    /// The shapes that were found first.
    private static let facts: [RecordingShape] = [
        make(
            "phyphox linear, by the file's name", "Linear Accelerometer.csv",
            head: "\"Time (s)\",\"X (m/s^2)\",\"Y (m/s^2)\",\"Z (m/s^2)\"\n"
        ) {
            String(format: "%.9E,", $0.t) + f($0.user)
        }.with { $0.isLinear = true },
        make(
            "phyphox linear, by the header", "Raw.csv",
            head:
                "\"Time (s)\",\"Linear Acceleration x (m/s^2)\",\"Linear Acceleration y (m/s^2)\",\"Linear Acceleration z (m/s^2)\",\"Absolute acceleration (m/s^2)\"\n"
        ) { s($0.t) + "," + f($0.user) + ",0.5" }.with { $0.isLinear = true },
        make("Sensor Logger without gravity", "Accelerometer.csv", head: "time,seconds_elapsed,z,y,x\n") {
            "\(1_679_068_247_354_694_100 + Int64($0.number) * 20_000_000),\(s($0.t)),\(f($0.user.reversed()))"
        }.with { $0.isLinear = true },
        make("Sensor Logger with gravity", "TotalAcceleration.csv", head: "time,seconds_elapsed,z,y,x\n") {
            "\(1_679_068_247_354_694_100 + Int64($0.number) * 20_000_000),\(s($0.t)),\(f($0.a.reversed()))"
        },
        make("Sensor Logger with gravity in g", "Accelerometer.csv", head: "time,seconds_elapsed,z,y,x\n") {
            "\(1_679_068_247_354_694_100 + Int64($0.number) * 20_000_000),\(s($0.t)),\(f($0.g.reversed()))"
        }.with { $0.told = "taken as g" },
        make("Sensor Logger magnetometer", "MagnetometerUncalibrated.csv", head: "time,seconds_elapsed,z,y,x\n") {
            "\(1_679_068_247_354_694_100 + Int64($0.number) * 20_000_000),\(s($0.t)),\(f($0.m.reversed()))"
        }.with {
            $0.isAccelerometer = false
            $0.told = "not calibrated"
        },
        make(
            "an iOS logger", head: "Date;Timestamp;DeviceOrientation;AccelerationX;AccelerationY;AccelerationZ;Label\n"
        ) {
            "2024-10-17 19:22:22;\(String(format: "%.6f", 1_729_182_142.548472 + $0.t));faceUp;\(f($0.g.map { -$0 }, ";"));"
        }.with { $0.told = "turned about" },
        make(
            "an Android raw logger",
            head:
                "accelerometer-icm20690,invensense,2020-02-15_19-30-56.600_865914035260724\ntimestamp,accuracy(more=better),acc_x[m/s^2],acc_y[m/s^2],acc_z[m/s^2]\n"
        ) { "\(1_279_034_942 + $0.number * 20),3,\(f($0.a, digits: 3))" }.with { $0.told = "milliseconds" },
        make("Physics Toolbox", head: "\ntime,gFx,gFy,gFz,ax,ay,az,wx,wy,wz,\n") {
            "\(s($0.t)),\(f($0.g)),\(f($0.user)),\(f($0.w)),"
        },
        make(
            "AndroSensor, renamed",
            head:
                "ACCEX,ACCEY,ACCEZ,GRAVX,GRAVY,GRAVZ,LACCX,LACCY,LACCZ,GYROX,GYROY,GYROZ,MAFIX,MAFIY,MAFIZ,ORIEZ,ORIEX,ORIEY,SATE,TIME,DATE\n"
        ) {
            f($0.a) + "," + f(rest) + "," + f($0.user) + "," + f($0.w) + "," + f($0.m)
                + ",10.1,2.2,3.3,0 / 21,\($0.number * 20),"
                + clock($0.t) { String(format: "2018-08-06 %02d:%02d:%02d:%03d", $0, $1, $2, $3) }
        },
        make("Sensor Record", "Accelerometer.csv", head: "Timestamp,Milliseconds,X,Y,Z\n") {
            clock($0.t) { h, m, s, _ in String(format: "2019-05-13 %02d:%02d:%02d", h, m, s) }
                + ",\(1 + $0.number * 20),\(f($0.a))"
        },
        make("Sensor Record, gravity alone", "Gravity.csv", head: "Timestamp,Milliseconds,X,Y,Z\n") {
            clock($0.t) { h, m, s, _ in String(format: "2019-05-13 %02d:%02d:%02d", h, m, s) }
                + ",\(1 + $0.number * 20),\(f($0.a))"
        }.with { $0.told = "gravity alone" },
        make("Sensor Record, compass", "Compass.csv", head: "Timestamp,Milliseconds,X,Y,Z\n") {
            clock($0.t) { h, m, s, _ in String(format: "2019-05-13 %02d:%02d:%02d", h, m, s) }
                + ",\(1 + $0.number * 20),\(f($0.m))"
        }.with { $0.isAccelerometer = false },
        make(
            "EuRoC",
            head:
                "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]\n"
        ) { "\(1_403_636_579_758_555_392 + Int64($0.number) * 20_000_000),\(f($0.w)),\(f($0.a))" },
        make(
            "EuRoC after a spreadsheet",
            head:
                "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]\n"
        ) {
            String(format: "1.4036365%07dE+018,", Int($0.t * 1e5) + 797_585) + f($0.w) + "," + f($0.a)
        },
        make("SisFall", "SA01_50Hz.txt", head: "", end: ";\n") { moment in
            let first = moment.g.map { String(format: "%4d", Int(($0 * 256).rounded())) }.joined(separator: ",")
            let last = moment.g.map { String(format: "%4d", Int(($0 * 1024).rounded())) }.joined(separator: ",")
            return " \(first), -18,-504,-352,\(last)"
        }.with { $0.rateHz = 50 },
    ]

    /// Shapes of other apps and loggers.
    private static let others: [RecordingShape] = [
        make("a serial monitor with times", "monitor.txt", head: "") { "\(clock($0.t)) -> \(f($0.a))" },
        make("a serial monitor with times and names", "monitor.txt", head: "") {
            "\(clock($0.t)) -> X:\(s($0.a[0])) Y:\(s($0.a[1])) Z:\(s($0.a[2]))"
        },
        make("a serial plotter", "plotter.txt", head: "") {
            "t:\(s($0.t)),ax:\(s($0.a[0])),ay:\(s($0.a[1])),az:\(s($0.a[2]))"
        },
        make(
            "phyphox, German, semicolons",
            head: "\"Zeit (s)\";\"Beschleunigung x (m/s²)\";\"Beschleunigung y (m/s²)\";\"Beschleunigung z (m/s²)\"\n"
        ) {
            f([$0.t] + $0.a, ";", comma: true)
        },
        make("French", head: "Temps (s);Accélération x (m/s^2);Accélération y (m/s^2);Accélération z (m/s^2)\n") {
            f([$0.t] + $0.a, ";", comma: true)
        },
        make(
            "SensorLog of iOS",
            head:
                "loggingTime(txt),accelerometerTimestamp_sinceReboot(s),accelerometerAccelerationX(G),accelerometerAccelerationY(G),accelerometerAccelerationZ(G),motionUserAccelerationX(G),motionUserAccelerationY(G),motionUserAccelerationZ(G),motionGravityX(G),motionGravityY(G),motionGravityZ(G),locationHeadingX(µT),locationHeadingY(µT),locationHeadingZ(µT)\n"
        ) {
            clock($0.t) { String(format: "2021-03-04 %02d:%02d:%02d.%03d +0100", $0, $1, $2, $3) }
                + ",\(s(81_000 + $0.t)),"
                + f($0.g.map { -$0 }) + "," + f($0.user.map { -$0 / 9.80665 }) + "," + f(rest.map { -$0 / 9.80665 })
                + "," + f($0.m)
        }.with {
            $0.sign = -1
            $0.told = "the other sign"
        },
        make("MATLAB Mobile, a timetable", head: "Timestamp,X,Y,Z\n") {
            clock($0.t) { String(format: "13-May-2019 %02d:%02d:%02d.%03d", $0, $1, $2, $3) } + "," + f($0.a)
        },
        make("MbientLab", head: "epoch (ms),time (-13:00),elapsed (s),x-axis (g),y-axis (g),z-axis (g)\n") {
            "\(1_604_000_000_000 + $0.number * 20),"
                + clock($0.t) { String(format: "2020-10-29T%02d:%02d:%02d.%03d", $0, $1, $2, $3) }
                + ",\(s($0.t, 3)),\(f($0.g))"
        },
        make(
            "ActiGraph",
            head:
                "------------ Data File Created By ActiGraph GT3X+ ActiLife v6.13.3 Firmware v1.9.2 date format d.M.yyyy at 50 Hz  Filter Normal -----------\nSerial Number: MOS2D12345678\nStart Time 00:00:00\nStart Date 1.1.2020\nEpoch Period (hh:mm:ss) 00:00:00\nDownload Time 12:00:00\n--------------------------------------------------\nAccelerometer X,Accelerometer Y,Accelerometer Z\n"
        ) { f($0.g, digits: 3) },
        make(
            "GENEActiv",
            head: (0..<97).map { "Device Property \($0),Value \($0)\n" }.joined()
                + "Measurement Frequency,50.0 Hz\n\n\n"
        ) {
            clock($0.t) { String(format: "2019-05-13 %02d:%02d:%02d:%03d", $0, $1, $2, $3) } + ",\(f($0.g)),0,0,24.5"
        },
        make(
            "Empatica", "ACC.csv",
            head: "1544027337.000000, 1544027337.000000, 1544027337.000000\n50.000000, 50.000000, 50.000000\n"
        ) {
            $0.g.map { "\(Int(($0 * 64).rounded()))" }.joined(separator: ",")
        },
        make(
            "Shimmer",
            head:
                "\"sep=\\t\"\nShimmer_9DC6_Timestamp_Unix_CAL\tShimmer_9DC6_Accel_LN_X_CAL\tShimmer_9DC6_Accel_LN_Y_CAL\tShimmer_9DC6_Accel_LN_Z_CAL\tShimmer_9DC6_Mag_X_CAL\tShimmer_9DC6_Mag_Y_CAL\tShimmer_9DC6_Mag_Z_CAL\t\nms\tm/(s^2)\tm/(s^2)\tm/(s^2)\tlocal_flux\tlocal_flux\tlocal_flux\t\n"
        ) {
            "\(String(format: "%.3f", 1_604_000_000_000 + $0.t * 1000))\t\(f($0.a, "\t"))\t\(f($0.m.map { $0 / 100 }, "\t"))\t"
        },
        make("blanks, no header", "total_acc.txt", head: "") {
            " " + $0.g.map { String(format: "%16.7e", $0) }.joined(separator: " ")
        }.with { $0.rateHz = 100 },
        make("WISDM", "WISDM_raw.txt", head: "", end: ";\n") {
            "33,Jogging,\(49_105_962_326_000 + Int64($0.number) * 20_000_000),\(f($0.a, digits: 2))"
        },
        make(
            "OpenSignals",
            head:
                "# OpenSignals Text File Format. Version 1\n# {\"device\": \"x\", \"sampling rate\": 50}\n# EndOfHeader\n"
        ) {
            "\($0.number % 16)\t0\t" + $0.a.map { String(format: "%.4f", $0) }.joined(separator: "\t") + "\t"
        },
        make("a logger in g and µT without units", head: "millis,ax,ay,az,gx,gy,gz,mx,my,mz\n") {
            "\(1000 + $0.number * 20),\(f($0.g)),\(f($0.w)),\(f($0.m))"
        },
        make("a logger in mg and gauss", head: "t_us,ax,ay,az,gx,gy,gz,mx,my,mz\n") {
            "\($0.number * 20_000),\(f($0.g.map { $0 * 1000 }, digits: 1)),\(f($0.w)),\(f($0.m.map { $0 / 100 }))"
        },
        make("raw counts", head: "time_ms,ax,ay,az,gx,gy,gz\n") {
            "\($0.number * 20),\($0.g.map { "\(Int(($0 * 16384).rounded()))" }.joined(separator: ",")),1,2,3"
        },
        make("sep= of Excel", head: "sep=;\r\nTime;Acc X;Acc Y;Acc Z\r\n", end: "\r\n") {
            f([$0.t] + $0.a, ";", comma: true)
        },
        make("a byte-order mark", head: "\u{FEFF}time (s),acc_x (m/s2),acc_y (m/s2),acc_z (m/s2)\n") {
            f([$0.t] + $0.a)
        },
        RecordingShape(
            name: "UTF-16", file: "recording.csv",
            contents: Data([0xFF, 0xFE])
                + ("Time,Acc X,Acc Y,Acc Z\n" + moments.map { f([$0.t] + $0.a) + "\n" }.joined()).utf8.flatMap {
                    [$0, 0]
                }),
        RecordingShape(
            name: "UTF-16 without a mark", file: "recording.csv",
            contents: Data(
                ("Time,Acc X,Acc Y,Acc Z\n" + moments.map { f([$0.t] + $0.a) + "\n" }.joined()).utf8.flatMap {
                    [0, $0]
                })),
        make(
            "everything in quotes", head: "\"timestamp\",\"accelerometer.x\",\"accelerometer.y\",\"accelerometer.z\"\n"
        ) {
            "\"" + f([$0.t] + $0.a, "\",\"") + "\""
        },
        make("units in a second line", head: "Time,Acc_x,Acc_y,Acc_z\n[ms],[g],[g],[g]\n") {
            "\($0.number * 20),\(f($0.g))"
        },
        make("Hebrew", head: "זמן (s),תאוצה x (m/s²),תאוצה y (m/s²),תאוצה z (m/s²)\n") { f([$0.t] + $0.a) },
        make("ISO 8601 with a zone", head: "timestamp,acc_x,acc_y,acc_z\n") {
            clock($0.t) { String(format: "2024-10-17T%02d:%02d:%02d.%03d+02:00", $0, $1, $2, $3) } + "," + f($0.a)
        },
        make("German clock time, decimal commas", head: "Datum;Beschleunigung X;Beschleunigung Y;Beschleunigung Z\n") {
            clock($0.t) { String(format: "13.05.2019 %02d:%02d:%02d,%03d", $0, $1, $2, $3) } + ";"
                + f($0.a, ";", comma: true)
        },
        make("whole seconds alone", head: "time,ax,ay,az\n") {
            clock($0.t) { h, m, s, _ in String(format: "%02d:%02d:%02d", h, m, s) } + "," + f($0.a)
        },
        make("names that say nothing", head: "a1,b2,c3,d4\n") { f([$0.t] + $0.a) },
        make(
            "attributes in lines of their own",
            head:
                "% a comment\n@relation motion\n@attribute time numeric\n@attribute acc_x real\n@attribute acc_y real\n@attribute acc_z real\n@data\n"
        ) {
            f([$0.t] + $0.a)
        },
        make(
            "key–value lines",
            head: "Device: X\nRate; 50\n// comment\n\ntime [s] ; a_x [m/s^2] ; a_y [m/s^2] ; a_z [m/s^2]\n"
        ) {
            f([$0.t] + $0.a, " ; ")
        },
        make("rows numbered by a program", head: "\"time\" \"acc_x\" \"acc_y\" \"acc_z\"\n") {
            "\"\($0.number + 1)\" " + f([$0.t] + $0.a, " ")
        },
        make("an index without a name", head: ",timestamp,accel_x,accel_y,accel_z\n") {
            "\($0.number),\(1_700_000_000_000 + $0.number * 20),\(f($0.a))"
        },
        make(
            "web browsers' names",
            head:
                "t,accelerationIncludingGravity.x,accelerationIncludingGravity.y,accelerationIncludingGravity.z,acceleration.x,acceleration.y,acceleration.z\n"
        ) {
            "\($0.number * 20),\(f($0.a)),\(f($0.user))"
        },
        make("a wrong unit in the header", head: "time_s,ax_g,ay_g,az_g\n") { f([$0.t] + $0.a) }.with {
            $0.told = "the unit that is stated"
        },
        make("seconds that are milliseconds", head: "time_s,ax (m/s2),ay (m/s2),az (m/s2)\n") {
            "\($0.number * 20),\(f($0.a))"
        }
        .with { $0.told = "between samples" },
    ]
}
