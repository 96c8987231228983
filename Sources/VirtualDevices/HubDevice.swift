import CVirtual
package import LinuxSystem

/// A HID sensor hub, whose sensors appear as IIO devices.
///
/// It behaves like a hub: it sends nothing until the kernel has enabled a sensor, follows the interval that the kernel
/// sets, and answers a request for a single sample with the last one.
package final class HubDevice: VirtualDevice {
    /// The hub's sensors and reports.
    package let description: HubDescription

    private let open: () throws(SystemError) -> Descriptor
    private var channel: HIDChannel?
    private var states: [VirtualSensor: State] = [:]
    package private(set) var isDriven = false

    private struct State {
        var features: SensorFeatures
        var gate = IntervalGate()
        /// The last sample, whether or not it was sent.
        var last: (counts: SIMD3<Int32>, microseconds: UInt64)?
    }

    /// Describes a hub; ``plug()`` opens `/dev/uhid` and creates it.
    package init(_ description: HubDescription, open: @escaping () throws(SystemError) -> Descriptor) {
        self.description = description
        self.open = open
    }

    deinit {
        channel?.destroy()
    }

    package var sensors: [VirtualSensor] { description.sensors }
    package var isPlugged: Bool { channel != nil }
    package var descriptor: Int32? { channel?.file.raw }
    package var isWanted: Bool { states.values.contains { $0.features.isReporting } }

    /// The kernel's settings; `nil` for a sensor that the hub lacks, or while it is not plugged in.
    package func features(of sensor: VirtualSensor) -> SensorFeatures? { states[sensor]?.features }

    package func plug() throws(SystemError) {
        guard channel == nil else { return }
        let opened = HIDChannel(file: try open())
        try opened.create(name: description.name, descriptor: description.descriptor)
        channel = opened
        isDriven = false
        // A new device starts without the previous settings.
        states = [:]
        for sensor in sensors {
            states[sensor] = State(features: SensorFeatures(intervalMilliseconds: description.intervalMilliseconds))
        }
    }

    package func unplug() {
        channel?.destroy()
        channel = nil
        states = [:]
    }

    package func serve() throws(SystemError) -> Bool {
        guard let channel, let message = try channel.read() else { return false }
        switch message {
        case .get(let identifier, let number, let report):
            try channel.answerGet(identifier, self.report(number, report))
        case .set(let identifier, let number, let report, let bytes):
            try channel.answerSet(identifier, isTaken: setReport(number, report, bytes))
        case .other: break
        }
        return true
    }

    package func send(
        _ sensor: VirtualSensor, _ values: SIMD3<Double>, timeNanoseconds: Int64
    ) throws(SystemError) -> Bool {
        guard let channel, var state = states[sensor],
            let counts = sensor.counts(
                values, in: description.counts, finerBy: description.divisor(of: sensor))
        else { return false }
        defer { states[sensor] = state }
        let microseconds = UInt64(max(0, timeNanoseconds)) / 1000
        state.last = (counts, microseconds)
        guard state.features.isReporting, state.gate.shouldReport(timeNanoseconds) else { return false }
        try channel.send(description.input(sensor, counts, microseconds: microseconds))
        return true
    }

    /// The report that the kernel requests; `nil` if it does not exist.
    private func report(_ number: UInt8, _ report: cvirtual_report) -> [UInt8]? {
        guard let sensor = description.sensor(ofReport: number), let state = states[sensor] else { return nil }
        isDriven = true
        switch report {
        case CVIRTUAL_FEATURE: return state.features.report(number: number)
        case CVIRTUAL_INPUT:
            return state.last.map { description.input(sensor, $0.counts, microseconds: $0.microseconds) }
        default: return nil
        }
    }

    private func setReport(_ number: UInt8, _ report: cvirtual_report, _ bytes: [UInt8]) -> Bool {
        guard report == CVIRTUAL_FEATURE, let sensor = description.sensor(ofReport: number), var state = states[sensor],
            state.features.apply(bytes)
        else { return false }
        isDriven = true
        // At the initial interval every sample is sent, even above 1000 Hz, for which the interval is too coarse.
        let interval = state.features.intervalMilliseconds
        let isOwn = interval == description.intervalMilliseconds || interval == 0
        state.gate.intervalNanoseconds = isOwn ? nil : Int64(interval) * 1_000_000
        states[sensor] = state
        return true
    }
}

/// Reduces samples to a report interval.
///
/// A hub reports on its own grid: a sample slightly before a grid point counts, and a late one does not shift the grid. A source
/// of 100 Hz thus gives a regular 50 Hz at an interval of 20 ms.
struct IntervalGate {
    /// `nil` reports every sample.
    var intervalNanoseconds: Int64?
    private var nextNanoseconds: Int64?

    mutating func shouldReport(_ timeNanoseconds: Int64) -> Bool {
        guard let interval = intervalNanoseconds, interval > 0 else { return true }
        // After a step back in time or a pause, the grid restarts.
        guard let next = nextNanoseconds, timeNanoseconds > next - 2 * interval, timeNanoseconds < next + interval
        else {
            nextNanoseconds = timeNanoseconds + interval
            return true
        }
        guard timeNanoseconds >= next - interval / 8 else { return false }
        nextNanoseconds = next + interval
        return true
    }
}
