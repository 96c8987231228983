import Binnacle
package import CSDBus

/// An interface at a path: its members, a row each, from which the library's table is made.
package struct BusInterface {
    package enum Member {
        /// A method, its argument types, and the type and the name of its result.
        case method(String, arguments: String = "", result: (type: String, name: String)? = nil)
        case property(String, type: String)
        case signal(String, type: String, names: [String])
    }

    package let name: String
    package let path: String
    let members: [Member]

    package init(name: String, path: String, members: [Member]) {
        self.name = name
        self.path = path
        self.members = members
    }

    /// The well-known name of the service that desktops use.
    package static let proxyName = "net.hadess.SensorProxy"
    /// The well-known name of our own interface.
    package static let ownName = "org.binnacle.Binnacle1"

    /// The interface of iio-sensor-proxy 3.9, unchanged.
    package static let proxy = BusInterface(
        name: proxyName, path: "/net/hadess/SensorProxy",
        members: [.accelerometer, .light, .proximity].flatMap(claims) + [
            .property("HasAccelerometer", type: "b"),
            .property("AccelerometerOrientation", type: "s"),
            .property("AccelerometerTilt", type: "s"),
            .property("HasAmbientLight", type: "b"),
            .property("LightLevelUnit", type: "s"),
            .property("LightLevel", type: "d"),
            .property("HasProximity", type: "b"),
            .property("ProximityNear", type: "b"),
        ])

    package static let compass = BusInterface(
        name: "net.hadess.SensorProxy.Compass", path: "/net/hadess/SensorProxy/Compass",
        members: claims(.compass) + [.property("HasCompass", type: "b"), .property("CompassHeading", type: "d")])

    /// Our own: a signal for each kind of event, and the daemon's status.
    package static let own = BusInterface(
        name: ownName, path: "/org/binnacle/Binnacle1",
        members: [
            .method("Status", result: ("a{sv}", "status")), .method("GetStatus", result: ("s", "json")),
            .property("Version", type: "s"),
        ]
            + EventKind.allCases.filter { !EventKind.repeated.contains($0) }.map {
                .signal($0.busName, type: eventType, names: eventNames)
            })

    private static let eventType = "tssxa{sv}"
    private static let eventNames = ["seq", "detector", "sensor", "time_ns", "figures"]

    private static func claims(_ sensor: DesktopSensor) -> [Member] {
        [.method("Claim" + sensor.rawValue), .method("Release" + sensor.rawValue)]
    }

    /// Makes the library's table, which is never freed.
    package func makeTable(
        call: @escaping sd_bus_message_handler_t, get: @escaping sd_bus_property_get_t
    ) -> UnsafePointer<sd_bus_vtable> {
        let rows = members.map { member in
            let (kind, name, type, result, names): (Unicode.Scalar, String, String, String, [String])
            switch member {
            case .method(let method, let arguments, let value):
                (kind, name, type, result) = ("m", method, arguments, value?.type ?? "")
                names = arguments.isEmpty ? value.map { [$0.name] } ?? [] : []
            case .property(let property, let value): (kind, name, type, result, names) = ("p", property, value, "", [])
            case .signal(let signal, let values, let parts):
                (kind, name, type, result, names) = ("s", signal, values, "", parts)
            }
            return csdbus_member(
                kind: CChar(UInt8(ascii: kind)), name: Self.keep([name]), signature: Self.keep([type]),
                result: Self.keep([result]), names: Self.keep(names))
        }
        return csdbus_vtable(rows, rows.count, call, get)
    }

    /// Texts, each with a terminating zero byte, and one more after the last; never freed, like the table.
    private static func keep(_ texts: [String]) -> UnsafePointer<CChar> {
        let bytes: [CChar] = texts.flatMap { Array($0.utf8CString) } + [0]
        let place = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        place.initialize(from: bytes, count: bytes.count)
        return UnsafePointer(place)
    }
}

extension EventKind {
    /// The name of its signal: `OrientationChanged` for `orientation.changed`.
    package var busName: String {
        rawValue.split { $0 == "." || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

extension DesktopValues {
    /// The value of a property of ``BusInterface/proxy`` or ``BusInterface/compass``.
    func value(of property: String) -> BusValue? {
        switch property {
        case "HasAccelerometer": .boolean(present.contains(.accelerometer))
        case "AccelerometerOrientation": .text(orientation.rawValue)
        case "AccelerometerTilt": .text(tilt.rawValue)
        case "HasAmbientLight": .boolean(present.contains(.light))
        case "LightLevelUnit": .text(lightUnit == .lux ? "lux" : "vendor")
        case "LightLevel": .number(lightLevel)
        case "HasProximity": .boolean(present.contains(.proximity))
        case "ProximityNear": .boolean(isNear)
        case "HasCompass": .boolean(present.contains(.compass))
        case "CompassHeading": .number(headingDegrees)
        default: nil
        }
    }
}

extension DesktopSensor {
    package var interface: BusInterface { self == .compass ? .compass : .proxy }

    /// The properties sent to all clients in one signal.
    var publicProperties: [String] {
        switch self {
        case .accelerometer: ["HasAccelerometer"]
        case .light: ["HasAmbientLight", "LightLevelUnit"]
        case .proximity: ["HasProximity"]
        case .compass: ["HasCompass"]
        }
    }

    /// The properties sent only to claimers, each in a separate signal, because some clients read only the first of a signal.
    var claimedProperties: [String] {
        switch self {
        case .accelerometer: ["AccelerometerOrientation", "AccelerometerTilt"]
        case .light: ["LightLevel"]
        case .proximity: ["ProximityNear"]
        case .compass: ["CompassHeading"]
        }
    }
}
