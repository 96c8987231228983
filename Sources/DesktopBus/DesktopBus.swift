package import Binnacle
package import LinuxSystem
package import PlainText

/// The service on the system bus: sensors for desktops as `net.hadess.SensorProxy`, and events for every program.
///
/// It has a thread with the connection, and exchanges only messages with other threads. Claims stay as long as the connection to
/// the bus, independent of sensors and of the configuration.
package final class DesktopBus: Sendable {
    /// The service's interface to the daemon; everything is called on the thread of the bus.
    package struct Surroundings: Sendable {
        package var say: @Sendable (_ message: String, _ level: LogLevel) -> Void = { _, _ in }
        /// Called after each change of the claimed sensors.
        package var wantedChanged: @Sendable (DesktopSensors) -> Void = { _ in }
        /// Requests the daemon's status; `reply` is called once, on any thread, with a JSON object on one line.
        package var status: @Sendable (_ reply: @escaping @Sendable (String) -> Void) -> Void = { $0("{}") }
        /// Called with the number of events that could not be broadcast.
        package var dropped: @Sendable (_ count: Int) -> Void = { _ in }
        /// The address of a bus other than the system's.
        package var address: String?
        package var version = ""

        /// Creates surroundings that ignore everything.
        package init() {}
    }

    private let courier: Courier<BusInbox>
    private let gauges = Gauges(BusStatistics())

    /// Loads the library on its own thread while the settings are read; a service reports failures.
    package static func prepare() {
        try? WorkerThread.start(stackBytes: nil) { _ = try? BusLibrary.load() }
    }

    /// Starts the service's thread, which connects, and reconnects after a loss of the bus.
    package init(_ settings: DBusSettings, surroundings: Surroundings) throws(SystemError) {
        courier = try Courier(BusInbox())
        let service = Transfer(
            try BusService(settings, courier: courier, gauges: gauges, surroundings: surroundings))
        try courier.start { service.take()?.run() }
    }

    package func publish(_ readings: DesktopValues) { courier.add { $0.readings = readings } }

    /// Reports that the machine's sensors are known: from now on clients find the service.
    package func begin() { courier.add { $0.isReady = true } }

    package func publish(_ event: Event) { courier.add { $0.publish(event) } }

    /// Applies other settings; the connection, the name and the claims stay.
    package func change(_ settings: DBusSettings) { courier.add { $0.settings = settings } }

    /// The state of the service; on any thread.
    package var statistics: BusStatistics { gauges.values }

    package func finish() { courier.requestStop() }

    /// Waits for the end, after ``finish()``.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        courier.waitForEnd(until: deadlineNanoseconds)
    }
}

package struct BusStatistics: Sendable, Equatable {
    /// The well-known names that it owns.
    package var names: [String] = []
    /// Why it does not own all of them; `nil` if it does.
    package var failure: String? = "it has not connected yet"
    /// The number of clients that have claimed each sensor.
    package var claims: [DesktopSensor: Int] = [:]
    /// The number of broadcast events, and of those that could not be broadcast.
    package var broadcastCount = 0
    package var droppedCount = 0
}
