/// The claims, the clients that wait for an answer, and the sensors that are therefore wanted.
///
/// A state machine without a bus and a clock. A claim belongs to a client and is not counted: a second one changes nothing, and
/// one release ends it. It stays when the sensor is unplugged and plugged in again.
package struct ClaimTable {
    package struct Waiting: Equatable {
        package let client: String
        let sensor: DesktopSensor
        package let call: UInt64
        /// The deadline of the answer on CLOCK_MONOTONIC.
        let dueNanoseconds: Int64
    }

    private(set) var claims: [String: DesktopSensors] = [:]
    package private(set) var waiting: [Waiting] = []
    /// When sensors without a claim are switched off, on CLOCK_MONOTONIC.
    private var lingering: [DesktopSensor: Int64] = [:]

    /// How long a claim waits for the first value, because desktops wait in their main loop.
    package static let longestWait: Int64 = 900_000_000
    /// How long a sensor stays on without claims, so that clients that release and claim in a loop do not switch it.
    package static let linger: Int64 = 1_000_000_000

    package init() {}

    /// Adds a claim; returns whether to answer now, because the value is known or there is no sensor.
    package mutating func claim(
        _ sensor: DesktopSensor, by client: String, call: UInt64, _ readings: DesktopValues, at now: Int64
    ) -> Bool {
        claims[client, default: []].set(sensor, true)
        lingering[sensor] = nil
        if Self.isKnown(sensor, readings) { return true }
        waiting.append(
            Waiting(client: client, sensor: sensor, call: call, dueNanoseconds: now + Self.longestWait))
        return false
    }

    /// Removes a claim, and returns the client's waiting claims of the sensor, which have to be answered.
    package mutating func release(_ sensor: DesktopSensor, by client: String, at now: Int64) -> [Waiting] {
        guard var own = claims[client], own.contains(sensor) else { return [] }
        own.set(sensor, false)
        claims[client] = own.isEmpty ? nil : own
        letLinger(DesktopSensors(sensor), now)
        return removeWaiting { $0.client == client && $0.sensor == sensor }
    }

    /// Removes all claims of a client that is gone.
    package mutating func vanish(_ client: String, at now: Int64) -> [Waiting] {
        guard let own = claims.removeValue(forKey: client) else { return [] }
        letLinger(own, now)
        return removeWaiting { $0.client == client }
    }

    /// Removes the claims of all clients, because the bus is gone.
    mutating func removeAll(at now: Int64) {
        let all = claims.values.reduce(into: DesktopSensors()) { $0.formUnion($1) }
        claims = [:]
        waiting = []
        letLinger(all, now)
    }

    /// The claims to answer: the value has arrived, the sensor is gone, or the deadline has passed.
    package mutating func removeAnswered(_ readings: DesktopValues, at now: Int64) -> [Waiting] {
        guard !waiting.isEmpty else { return [] }
        return removeWaiting { $0.dueNanoseconds <= now || Self.isKnown($0.sensor, readings) }
    }

    /// The clients that have claimed a sensor, in a stable order.
    package func claimers(of sensor: DesktopSensor) -> [String] {
        claims.filter { $0.value.contains(sensor) }.keys.sorted()
    }

    /// The sensors that are claimed, or were until a moment ago.
    package mutating func wanted(at now: Int64) -> DesktopSensors {
        lingering = lingering.filter { $0.value > now }
        var wanted = claims.values.reduce(into: DesktopSensors()) { $0.formUnion($1) }
        for sensor in lingering.keys { wanted.set(sensor, true) }
        return wanted
    }

    /// The next deadline on CLOCK_MONOTONIC.
    package var deadline: Int64? {
        (waiting.map(\.dueNanoseconds) + lingering.values).min()
    }

    private static func isKnown(_ sensor: DesktopSensor, _ readings: DesktopValues) -> Bool {
        readings.fresh.contains(sensor) || !readings.present.contains(sensor)
    }

    private mutating func letLinger(_ sensors: DesktopSensors, _ now: Int64) {
        for sensor in DesktopSensor.allCases
        where sensors.contains(sensor) && !claims.values.contains(where: { $0.contains(sensor) }) {
            lingering[sensor] = now + Self.linger
        }
    }

    private mutating func removeWaiting(_ isTaken: (Waiting) -> Bool) -> [Waiting] {
        let taken = waiting.filter(isTaken)
        waiting.removeAll(where: isTaken)
        return taken
    }
}
