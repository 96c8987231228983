public import Binnacle
import LinuxSystem

extension SensorDevice {
    /// Lists the accelerometers, magnetometers and gyroscopes of this machine, in a stable order.
    ///
    /// This may take as long as a sleeping device needs to wake up.
    ///
    /// - Parameter root: The folder under which `/sys` and `/dev` lie; `nil` asks udev for the machine's own devices.
    /// - Returns: The devices.
    /// - Throws: ``SensorFailure`` when the devices cannot be listed at all.
    public static func all(root: String? = nil) throws(SensorFailure) -> [SensorDevice] {
        try mapError(SensorFailure.init) { () throws(SystemError) in try DeviceFinder(under: root).devices() }
    }
}

extension LiveSource {
    /// Starts to look for the sensors; the first of them may deliver after a few milliseconds.
    ///
    /// A device that is absent or may not be read is no error here: its streams fail, and it is tried again.
    ///
    /// - Parameters:
    ///   - requests: What is wanted, each sensor once.
    ///   - root: The folder under which `/sys` and `/dev` lie; `nil` asks udev for the machine's own devices.
    /// - Throws: ``SensorFailure`` when the system refuses what the source needs itself.
    public convenience init(_ requests: [SensorRequest], root: String? = nil) throws(SensorFailure) {
        do throws(SystemError) {
            try self.init(requests, finder: DeviceFinder(under: root), waker: try Waker())
        } catch {
            throw SensorFailure(error)
        }
    }

    /// Starts to look for one device of each kind; its sensor has the name of the kind.
    ///
    /// A gyroscope belongs to the accelerometer when both are wanted: it is a part of the same device, or one that turns
    /// with it, and its stream, which may stay without samples, is one of the sensor `accelerometer`.
    ///
    /// - Parameters:
    ///   - kinds: What is wanted.
    ///   - root: The folder under which `/sys` and `/dev` lie; `nil` asks udev for the machine's own devices.
    /// - Throws: ``SensorFailure`` when the system refuses what the source needs itself.
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

    /// Waits until a device has something, has come, or has gone.
    public func wait() { wait(timeoutMilliseconds: -1) }

    /// Ends a wait.
    public var wakeUp: (@Sendable () -> Void)? {
        let waker = waker
        return { waker.wake() }
    }
}
