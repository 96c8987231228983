package import LinuxSystem

/// A HID sensor hub, whose sensors the kernel shows as IIO devices.
///
/// It behaves as a hub does: it says nothing until the kernel has switched a sensor on, keeps to the interval that the kernel
/// sets, and has its last sample ready for whoever asks for a single one.
package final class HubDevice: VirtualDevice {
    /// What it is.
    package let description: HubDescription

    private let reports: HubReports
    private let open: () throws(SystemError) -> Descriptor
    private var channel: HIDChannel?
    private var states: [VirtualSensor: State] = [:]
    package private(set) var isDriven = false

    /// What is known of one sensor.
    private struct State {
        var features: SensorFeatures
        var gate = IntervalGate()
        /// What was measured last, handed over or not.
        var last: (counts: SIMD3<Int32>, microseconds: UInt64)?
    }

    /// Describes a hub; the kernel gets it with ``plug()``.
    ///
    /// - Parameters:
    ///   - description: Its sensors and reports.
    ///   - open: Opens `/dev/uhid` for reading and writing, not blocking.
    package init(_ description: HubDescription, open: @escaping () throws(SystemError) -> Descriptor) {
        self.description = description
        self.open = open
        reports = HubReports(description: description)
    }

    deinit {
        channel?.destroy()
    }

    package var sensors: [VirtualSensor] { description.sensors }
    package var isPlugged: Bool { channel != nil }
    package var descriptor: Int32? { channel?.file.raw }
    package var isWanted: Bool { states.values.contains { $0.features.isReporting } }

    /// What the kernel has set; `nil` for a sensor that the hub does not have, or while it is not plugged in.
    package func features(of sensor: VirtualSensor) -> SensorFeatures? { states[sensor]?.features }

    package func plug() throws(SystemError) {
        guard channel == nil else { return }
        let opened = HIDChannel(file: try open())
        try opened.create(name: description.name, descriptor: description.descriptor)
        channel = opened
        isDriven = false
        // What was set in the one before is gone with it.
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
            try channel.answerSet(identifier, isTaken: take(number, report, bytes))
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
        guard state.features.isReporting, state.gate.lets(timeNanoseconds) else { return false }
        try channel.send(reports.input(sensor, counts, microseconds: microseconds))
        return true
    }

    /// A report that the kernel asks for; `nil` when there is none of the kind.
    private func report(_ number: UInt8, _ report: HIDChannel.Report) -> [UInt8]? {
        guard let sensor = description.sensor(ofReport: number), let state = states[sensor] else { return nil }
        isDriven = true
        return switch report {
        case .feature: state.features.report(number: number)
        case .input: state.last.map { reports.input(sensor, $0.counts, microseconds: $0.microseconds) }
        case .output: nil
        }
    }

    private func take(_ number: UInt8, _ report: HIDChannel.Report, _ bytes: [UInt8]) -> Bool {
        guard report == .feature, let sensor = description.sensor(ofReport: number), var state = states[sensor],
            state.features.take(bytes)
        else { return false }
        isDriven = true
        // Until somebody sets another one, samples come as they are measured, which may be more often than once a
        // millisecond.
        let interval = state.features.intervalMilliseconds
        let isOwn = interval == description.intervalMilliseconds || interval == 0
        state.gate.intervalNanoseconds = isOwn ? nil : Int64(interval) * 1_000_000
        states[sensor] = state
        return true
    }
}
