public import Binnacle
import LinuxSystem

extension SensorDevice {
    /// Lists the accelerometers, magnetometers and gyroscopes of this machine, in a stable order.
    ///
    /// This may block until a sleeping device has woken up.
    ///
    /// - Parameter root: The folder that contains `/sys` and `/dev`; `nil` asks udev for the machine's own devices.
    /// - Returns: The devices.
    /// - Throws: ``SensorFailure`` when the devices cannot be listed.
    public static func all(root: String? = nil) throws(SensorFailure) -> [SensorDevice] {
        try mapError(SensorFailure.init) { () throws(SystemError) in try DeviceFinder(under: root).devices() }
    }
}

extension LiveSource {
    /// Starts to search for the sensors; the first samples may follow after a few milliseconds.
    ///
    /// A missing device, or one without permission, is no error: its streams fail, and the source tries again.
    ///
    /// - Parameters:
    ///   - requests: The sensors, each once, and of each every kind once.
    ///   - root: The folder that contains `/sys` and `/dev`; `nil` asks udev for the machine's own devices.
    /// - Throws: ``SensorFailure`` when a request is invalid, or the system refuses a resource that the source itself needs.
    public convenience init(_ requests: [SensorRequest], root: String? = nil) throws(SensorFailure) {
        try Self.check(requests)
        do throws(SystemError) {
            try self.init(requests, finder: DeviceFinder(under: root), waker: try Waker())
        } catch {
            throw SensorFailure(error)
        }
    }

    private static func check(_ requests: [SensorRequest]) throws(SensorFailure) {
        for request in requests {
            guard let problem = request.settings.problems().first else { continue }
            throw SensorFailure(.invalid, "sensor '\(request.sensor.name)': \(problem)")
        }
        if let repeated = RepeatedStream(requests.flatMap(\.streams)) {
            throw SensorFailure(
                .invalid, "the \(repeated.kind.rawValue) of sensor '\(repeated.sensor)' is requested twice")
        }
    }

    /// Starts to search for one device of each kind; its sensor has the name of the kind.
    ///
    /// If both are requested, a gyroscope belongs to the accelerometer: it is part of the same device, or turns with it, and its
    /// stream, which may stay without samples, is one of the sensor `accelerometer`.
    ///
    /// - Parameters:
    ///   - kinds: The kinds to deliver.
    ///   - root: The folder that contains `/sys` and `/dev`; `nil` asks udev for the machine's own devices.
    /// - Throws: ``SensorFailure`` when the system refuses a resource that the source itself needs.
    public convenience init(
        kinds: [SampleKind] = [.accelerometer, .magnetometer], root: String? = nil
    ) throws(SensorFailure) {
        let joinsGyroscope = kinds.contains(.accelerometer) && kinds.contains(.gyroscope)
        try self.init(
            kinds.filter { !joinsGyroscope || $0 != .gyroscope }.map { kind in
                SensorRequest(
                    sensor: Sensor(name: kind.rawValue), kinds: [kind],
                    optionalKinds: joinsGyroscope && kind == .accelerometer ? [.gyroscope] : [], interface: nil)
            }, root: root)
    }

    /// Waits until a device has data, appears, or is removed.
    public func wait() { wait(timeoutMilliseconds: -1) }

    /// Ends a wait.
    public var wakeUp: (@Sendable () -> Void)? {
        let waker = waker
        return { waker.wake() }
    }
}
