import CSDBus
import Glibc
package import LinuxSystem
import PlainText

/// A client of `net.hadess.SensorProxy`, as desktops are: it claims sensors, and reports what it receives in the lines of
/// `monitor-sensor`, for any program that owns the name.
///
/// It belongs to one thread.
package final class DesktopMonitor {
    /// Why it cannot go on.
    package enum Failure: Error {
        case unreachable(String)
        case refused(String)

        init(_ failure: BusFailure) { self = .unreachable(failure.description) }
    }

    private let sensors: [DesktopSensor]
    private let connection: BusConnection
    private let write: (String) -> Void
    /// The unique name of the service; `nil` while there is none.
    private var owner: String?
    /// The number of sensors whose values are shown; the next one is claimed, and then its values are read.
    private var shownCount = 0
    private var isClaimed = false
    private var values: [String: BusValue] = [:]
    /// The unanswered call.
    private var pending: OpaquePointer?
    private var failure: Failure?

    /// A claim may wait for polkit and for the first reading.
    private static let timeMicroseconds: UInt64 = 30_000_000
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let bus = "org.freedesktop.DBus"

    /// Connects to the system bus; `write` is called with each line.
    package init(_ sensors: [DesktopSensor], write: @escaping (String) -> Void) throws(Failure) {
        self.sensors = sensors
        self.write = write
        connection = try mapError(Failure.init) { () throws(BusFailure) in try BusConnection() }
        try mapError(Failure.init) { () throws(BusFailure) in
            for rule in [
                "sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(BusInterface.proxyName)'",
                "sender='\(BusInterface.proxyName)',interface='\(Self.properties)',member='PropertiesChanged'",
            ] {
                _ = try connection.match("type='signal'," + rule, Self.take, receiver: receiver)
            }
            try call("GetNameOwner", of: Self.bus, at: "/org/freedesktop/DBus", to: Self.bus, BusInterface.proxyName)
        }
        write("    Waiting for iio-sensor-proxy to appear")
    }

    deinit { connection.close() }

    /// Reports until `isEnded`, which is examined after each wake-up; `flush` is called before each wait.
    package func run(waker: Waker, flush: () -> Void, until isEnded: () -> Bool) throws(Failure) {
        while !isEnded() {
            try mapError(Failure.init) { () throws(BusFailure) in
                while try connection.process() {}
            }
            if let failure { throw failure }
            flush()
            let events = (connection.events.reads ? POLLIN : 0) | (connection.events.writes ? POLLOUT : 0)
            var ready = [
                pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: connection.descriptor, events: Int16(events), revents: 0),
            ]
            let milliseconds = connection.deadline.map { SystemClock.milliseconds(until: $0) } ?? -1
            if waitOnce(for: &ready, milliseconds: milliseconds), ready[0].revents != 0 { waker.clear() }
        }
    }

    private func handle(_ message: BusMessage) throws(BusFailure) {
        switch message.member {
        case "NameOwnerChanged":
            guard message.isOfBus, message.text() != nil, message.text() != nil else { return }
            try handle(owner: message.text())
        case "PropertiesChanged":
            // Every program may send such a signal.
            guard message.sender == owner, message.text() != nil else { return }
            let changed = message.dictionary().filter { values[$0.key] != $0.value }
            values.merge(changed) { $1 }
            for sensor in sensors.prefix(shownCount) { sensor.changes(changed, values).forEach(write) }
        default: try handle(answer: message)
        }
    }

    private func handle(owner text: String?) throws(BusFailure) {
        let new = text?.isEmpty == false ? text : nil
        guard new != owner else { return }
        if owner != nil { write("--- iio-sensor-proxy vanished, waiting for it to appear") }
        (owner, shownCount, isClaimed, values) = (new, 0, false, [:])
        connection.remove(pending)
        pending = nil
        guard new != nil else { return }
        write("+++ iio-sensor-proxy appeared")
        try askNext()
    }

    private func handle(answer message: BusMessage) throws(BusFailure) {
        // An error's text is no owner.
        guard owner != nil else { return try handle(owner: message.error == nil ? message.text() : nil) }
        guard shownCount < sensors.count else { return }
        let sensor = sensors[shownCount]
        if let error = message.error, sensor == .compass, sensors.count > 1 {
            // The policy of iio-sensor-proxy lets the location service alone claim it.
            try show("The compass cannot be claimed: \(error)")
        } else if let error = message.error {
            failure = .refused("the sensor \(sensor.rawValue) cannot be claimed: \(error)")
        } else if isClaimed {
            values.merge(message.dictionary()) { $1 }
            try show(sensor.summary(values))
        } else {
            isClaimed = true
            try askNext()
        }
    }

    /// Ends a sensor's turn with what is known of it.
    private func show(_ text: String) throws(BusFailure) {
        write("=== " + text)
        shownCount += 1
        isClaimed = false
        try askNext()
    }

    private func askNext() throws(BusFailure) {
        guard let owner, shownCount < sensors.count else { return }
        let (sensor, interface) = (sensors[shownCount], sensors[shownCount].interface)
        if isClaimed {
            try call("GetAll", of: Self.properties, at: interface.path, to: owner, interface.name)
        } else {
            try call("Claim" + sensor.rawValue, of: interface.name, at: interface.path, to: owner)
        }
    }

    private func call(
        _ method: String, of interface: String, at path: String, to name: String, _ argument: String? = nil
    ) throws(BusFailure) {
        connection.remove(pending)
        pending = try connection.call(
            method, of: interface, at: path, of: name, within: Self.timeMicroseconds, answer: Self.take,
            receiver: receiver
        ) { message throws(BusFailure) in
            if let argument { try message.append(argument) }
        }
    }

    private var receiver: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Sound, because only the connection makes callbacks, and a monitor closes it at its own end, on the same thread.
    private static let take: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let raw, let receiver else { return 0 }
        let monitor = Unmanaged<DesktopMonitor>.fromOpaque(receiver).takeUnretainedValue()
        do throws(BusFailure) {
            try monitor.handle(BusMessage(keeping: raw, monitor.connection.library))
        } catch {
            monitor.failure = Failure(error)
        }
        return 0
    }
}

// MARK: - The lines of monitor-sensor

extension DesktopSensor {
    /// The sensor in a sentence and alone, and its properties: in the first line, and when they change.
    private var words: (noun: String, title: String, parts: [(label: String, property: String, change: String?)]) {
        switch self {
        case .accelerometer:
            let parts = [
                ("orientation", "AccelerometerOrientation", "Accelerometer orientation"),
                ("tilt", "AccelerometerTilt", "Tilt"),
            ]
            return ("accelerometer", "Accelerometer", parts)
        case .light:
            return (
                "ambient light sensor", "Light sensor",
                [("value", "LightLevel", "Light"), ("unit", "LightLevelUnit", nil)]
            )
        case .proximity:
            return ("proximity sensor", "Proximity sensor", [("near", "ProximityNear", "Proximity value")])
        case .compass: return ("compass", "Compass", [("heading", "CompassHeading", "Compass heading")])
        }
    }

    fileprivate func summary(_ values: [String: BusValue]) -> String {
        guard values[publicProperties[0]] == .boolean(true) else { return "No " + words.noun }
        let parts = words.parts.map { "\($0.label): \(values[$0.property]?.word ?? "unset")" }
        return "Has \(words.noun) (\(parts.joined(separator: ", ")))"
    }

    fileprivate func changes(_ changed: [String: BusValue], _ values: [String: BusValue]) -> [String] {
        let presence = changed[publicProperties[0]].map { isPresent in
            isPresent == .boolean(true) ? "+++ \(words.title) appeared" : "--- \(words.title) disappeared"
        }
        let unit = self == .light ? values["LightLevelUnit"]?.word.map { " (\($0))" } ?? "" : ""
        let parts = words.parts.compactMap { part in
            changed[part.property]?.word.flatMap { word in part.change.map { "    \($0) changed: \(word)\(unit)" } }
        }
        return [presence].compactMap(\.self) + parts
    }
}

extension BusValue {
    fileprivate var word: String? {
        switch self {
        case .boolean(let value): value ? "1" : "0"
        case .number(let value): Decimal.text(value, decimals: 6)
        case .text(let text): text.printable
        default: nil
        }
    }
}
