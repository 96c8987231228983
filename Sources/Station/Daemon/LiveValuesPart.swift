import Binnacle
import EventSocket
import LinuxSystem

/// Makes live readings at the shortest interval that a client requests; without such a client it does nothing.
final class LiveValuesPart: DaemonPart {
    private struct Schedule {
        let collector: LiveValuesCollector
        let request: LiveValuesRequest
        /// End of the interval, on CLOCK_MONOTONIC.
        var dueNanoseconds: Int64
    }

    private unowned let daemon: Daemon
    private let socket: SocketPart
    /// `nil` while no client requests readings.
    private var schedule: Schedule?

    init(_ daemon: Daemon, _ socket: SocketPart) {
        self.daemon = daemon
        self.socket = socket
    }

    /// Runs last, because it reads the detectors' results.
    var observers: [any DrivenDetector] { schedule.map { [$0.collector.observer] } ?? [] }

    var deadline: Int64? { schedule?.dueNanoseconds }

    func apply(_ change: ConfigurationChange) { if schedule != nil { begin() } }

    func finishTurn(at now: Int64) {
        if socket.readings != schedule?.request { begin() }
        if let schedule, now >= schedule.dueNanoseconds { publish(schedule, now) }
    }

    /// Starts again with what is requested now.
    private func begin() {
        schedule = socket.readings.map { request in
            let now = SystemClock.monotonic()
            return Schedule(
                collector: LiveValuesCollector(
                    streams: daemon.assembly.streams, detectors: daemon.assembly.detectors, now: now,
                    hasSpectra: request.hasSpectrum),
                request: request, dueNanoseconds: Units.later(now, by: request.intervalNanoseconds))
        }
        daemon.replaceDetectors()
    }

    private func publish(_ schedule: Schedule, _ now: Int64) {
        // Missed intervals are merged into this one.
        let interval = schedule.request.intervalNanoseconds
        let lateNanoseconds = (now - schedule.dueNanoseconds) % interval
        self.schedule?.dueNanoseconds = Units.later(now, by: interval - lateNanoseconds)
        socket.publish(
            schedule.collector.collect(
                at: now, statistics: daemon.pipeline.statistics, isWorking: daemon.pipeline.isWorking,
                clock: daemon.source.clockNanoseconds))
    }
}
