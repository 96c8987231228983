import Binnacle

/// The two ROS 2 messages that hold samples, and where their fields lie in CDR.
///
/// Sources: sensor_msgs of ROS 2 (names, units, and −1 in the first element of the covariance of what is not measured), the
/// OMG's DDSI-RTPS (encapsulation) and CDR (alignment by the size of a number), REP 103 (units) and REP 145 (names).
enum RosMessage: CaseIterable {
    case imu, magneticField

    init(of kind: SampleKind) {
        self = kind == .magnetometer ? .magneticField : .imu
    }

    var name: String { self == .imu ? "sensor_msgs/msg/Imu" : "sensor_msgs/msg/MagneticField" }
    var nameOfROS1: String { self == .imu ? "sensor_msgs/Imu" : "sensor_msgs/MagneticField" }
    var kinds: [SampleKind] { self == .imu ? [.accelerometer, .gyroscope] : [.magnetometer] }
    /// The last part of a topic's name.
    var topicSuffix: String { self == .imu ? "imu" : "mag" }

    /// The place of the x, y and z of a quantity, in bytes from the end of the header; its covariance follows it.
    static func vector(of kind: SampleKind) -> Int {
        switch kind {
        case .magnetometer: 0
        case .gyroscope: 104
        case .accelerometer: 200
        }
    }

    /// The bytes from a vector to the 9 Doubles of its covariance, which are 0 where it is not known.
    static let vectorCount = 24
    /// The covariances of all that the message may hold; the first is the orientation's, a quaternion of 4 Doubles.
    var covariances: [Int] { self == .imu ? [32, 128, 224] : [24] }

    /// The bytes behind the header.
    var bodyCount: Int { self == .imu ? 296 : 96 }
    /// The place of w of the orientation, which is the identity where it is not known.
    static let orientationW = 24
    /// The first bytes: CDR, little-endian, no options.
    static let encapsulation: [UInt8] = [0, 1, 0, 0]

    /// The bytes from the encapsulation to the first vector: a stamp of 8 bytes, and the name of the frame with its closing zero.
    static func headerCount(frame: String) -> Int { (8 + 4 + frame.utf8.count + 1 + 7) / 8 * 8 }

    /// The factor from the unit of the message to that of samples: a magnetic field is in tesla.
    static func factor(of kind: SampleKind) -> Double { kind == .magnetometer ? 1e6 : 1 }

    /// The definition in the encoding `ros2msg`: the message, and every message in it.
    var definition: String {
        let (fields, others) =
            self == .imu
            ? (
                ["Quaternion orientation", "Vector3 angular_velocity", "Vector3 linear_acceleration"],
                [("geometry_msgs/Quaternion", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n")]
            ) : (["Vector3 magnetic_field"], [])
        let own = fields.map { field in
            "geometry_msgs/\(field)\nfloat64[9] \(field.split(separator: " ")[1])_covariance\n"
        }
        let all =
            others + [
                ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"),
                ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"),
                ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"),
            ]
        return "std_msgs/Header header\n\(own.joined())"
            + all.map { "\(String(repeating: "=", count: 80))\nMSG: \($0)\n\($1)" }.joined()
    }
}
