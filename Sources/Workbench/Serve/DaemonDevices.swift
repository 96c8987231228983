import Binnacle
import EventSocket
import Glibc
package import IIOServer
import LinuxSystem
import PlainText
import Station

/// The sensors and attitudes of a running daemon, asked for at its socket.
package final class DaemonDevices: IIOSource {
    private let path: String
    private var found: [IIODevice]?

    /// Names the socket; the daemon is asked when the client asks.
    package init(path: String) {
        self.path = path
    }

    package var summary: String { "Binnacle \(Version.current): the sensors of a daemon" }

    package func devices() throws(IIOFailure) -> [IIODevice] {
        if let found { return found }
        let status = try status()
        var devices: [IIODevice] = []
        for sensor in status["sensors"].items {
            guard let name = sensor["name"]?.text else { continue }
            let kinds = sensor["streams"].items.compactMap { $0["kind"]?.text.flatMap(SampleKind.init) }
            // A gyroscope is known from its first sample on.
            devices += SampleKind.allCases.map { IIODevice(name, .samples($0), isPresent: kinds.contains($0)) }
        }
        for detector in status["detectors"].items where detector["kind"]?.text == "attitude" {
            guard let name = detector["name"]?.text else { continue }
            devices.append(IIODevice(name, .attitude))
        }
        devices = devices.inOrder
        found = devices
        return devices
    }

    private func status() throws(IIOFailure) -> JSONValue {
        let text = try mapError(Self.failure) { () throws(EventSubscriptionError) in
            try SocketConnection.status(path: path)
        }
        guard let status = try? JSONReader.value(of: text.utf8), status["state"]?.text != nil else {
            throw IIOFailure(EPROTO, "\(path): the answer has no state: is this Binnacle's socket?")
        }
        return status
    }

    package func open(_ device: IIODevice) throws(IIOFailure) -> any IIOFeed {
        try mapError(Self.failure) { () throws(EventSubscriptionError) in try DaemonFeed(device, path: path) }
    }

    /// Subscribes for one scan, so that a sensor that no other program wants is open only meanwhile.
    package func latest(_ device: IIODevice, until deadline: Int64, isWanted: () -> Bool) throws(IIOFailure) -> IIOScan
    {
        guard let scan = try open(device).next(until: deadline, isWanted: isWanted).last else {
            throw IIOFailure(ETIMEDOUT)
        }
        return scan
    }

    package func attribute(_ name: String, of device: IIODevice) throws(IIOFailure) -> String {
        if device.content == .attitude, name == "sampling_frequency" {
            return Decimal.text(1e9 / Double(DaemonFeed.attitudeInterval), decimals: 0) ?? ""
        }
        let status = try status()
        guard device.content != .attitude else {
            let detector = status["detectors"].items.first { $0["name"]?.text == device.owner }
            guard let text = detector?[name]?.text else { throw IIOFailure(EAGAIN) }
            return text
        }
        let sensor = status["sensors"].items.first { $0["name"]?.text == device.owner }
        let stream = sensor?["streams"].items.first { stream in
            stream["kind"]?.text.flatMap(SampleKind.init).map { .samples($0) == device.content } ?? false
        }
        // A device that nothing reads has no rate.
        guard case .number(let rate)? = stream?["rate_hz"], Double(rate) ?? 0 > 0 else { throw IIOFailure(EAGAIN) }
        return rate
    }

    static func failure(_ error: EventSubscriptionError) -> IIOFailure {
        let code =
            switch error {
            case .notRunning: ECONNREFUSED
            case .busy: EAGAIN
            case .noPermission: EACCES
            case .refused: ENODEV
            case .disconnected: ECONNRESET
            case .notUnderstood: EPROTO
            case .system: EIO
            }
        return IIOFailure(code, error.description)
    }
}

/// The subscription of one device, from which the daemon drops the oldest samples while it is not read.
private final class DaemonFeed: IIOFeed {
    private let device: IIODevice
    private let path: String
    private let connection: SocketConnection
    private var lostCount = 0
    /// The shortest interval of live readings.
    static let attitudeInterval = LiveValuesRequest.intervals.lowerBound

    init(_ device: IIODevice, path: String) throws(EventSubscriptionError) {
        (self.device, self.path) = (device, path)
        connection = try SocketConnection(path: path)
        var request = SubscriptionRequest()
        request.filter.kinds = []
        switch device.content {
        case .samples(let kind): request.samples = SamplesRequest(sensors: [device.owner], kinds: [kind])
        case .attitude: request.readings = LiveValuesRequest(intervalNanoseconds: Self.attitudeInterval)
        }
        try connection.send(request.json)
    }

    func next(until deadline: Int64) throws(IIOFailure) -> [IIOScan] {
        try mapError(DaemonDevices.failure) { () throws(EventSubscriptionError) in
            while let line = try connection.readLine(deadline: deadline) {
                switch try? SocketMessage(parsing: line) {
                case .samples(let batch):
                    lostCount += batch.lostCount
                    if !batch.samples.isEmpty { return batch.samples.map(device.scan) }
                case .readings(let readings):
                    if let scan = attitude(in: readings) { return [scan] }
                case .error(let message, _): throw .refusal(message, path: path)
                case .end: throw .disconnected
                default: break
                }
            }
            return []
        }
    }

    /// The quaternion of the detector; `nil` while it has none.
    private func attitude(in readings: LiveValues) -> IIOScan? {
        let detector = readings.detectors.first { $0.name == device.owner }
        let names: [Figure.Name] = [.quaternionX, .quaternionY, .quaternionZ, .quaternionW]
        let values = names.compactMap { detector?.figure($0)?.double }
        guard values.count == 4 else { return nil }
        return device.scan(readings.timeNanoseconds, x: values[0], y: values[1], z: values[2], w: values[3])
    }

    func removeLost() -> Int {
        defer { lostCount = 0 }
        return lostCount
    }
}
