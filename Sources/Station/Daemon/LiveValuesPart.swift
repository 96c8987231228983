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
    /// End of the last interval, on CLOCK_MONOTONIC.
    private var endNanoseconds: Int64 = 0

    init(_ daemon: Daemon, _ socket: SocketPart) {
        self.daemon = daemon
        self.socket = socket
    }

    /// Runs last, because it reads the detectors' results.
    var observers: [any DrivenDetector] { schedule.map { [$0.collector.observer] } ?? [] }

    var deadline: Int64? { schedule?.dueNanoseconds }

    /// The detectors of before still run.
    func willApply(_ change: ConfigurationChange) { if let schedule { publish(schedule, SystemClock.monotonic()) } }

    func apply(_ change: ConfigurationChange) { if schedule != nil { begin(at: endNanoseconds) } }

    func finishTurn(at now: Int64) {
        if socket.readings != schedule?.request {
            // The socket joins it with the rest of the interval of a client that wants longer ones.
            if let schedule { publish(schedule, now) }
            begin(at: max(now, endNanoseconds))
        }
        if let schedule, now >= schedule.dueNanoseconds { publish(schedule, now) }
    }

    /// Starts again with what is requested now.
    private func begin(at now: Int64) {
        // The rest of an interval that was begun is no longer than it, so that no client skips one.
        let due = schedule?.dueNanoseconds ?? .max
        schedule = socket.readings.map { request in
            Schedule(
                collector: LiveValuesCollector(
                    streams: daemon.assembly.streams, detectors: daemon.assembly.detectors, now: now,
                    hasSpectra: request.hasSpectrum),
                request: request, dueNanoseconds: min(due, Units.later(now, by: request.intervalNanoseconds)))
        }
        daemon.replaceDetectors()
    }

    private func publish(_ schedule: Schedule, _ now: Int64) {
        // A reload has its own time, which is later than that of its turn.
        let now = max(now, endNanoseconds)
        endNanoseconds = now
        if now >= schedule.dueNanoseconds {
            // Missed intervals are merged into this one.
            let interval = schedule.request.intervalNanoseconds
            let lateNanoseconds = (now - schedule.dueNanoseconds) % interval
            self.schedule?.dueNanoseconds = Units.later(now, by: interval - lateNanoseconds)
        }
        socket.publish(
            schedule.collector.collect(
                at: now, statistics: daemon.pipeline.statistics, isWorking: daemon.pipeline.isWorking,
                clock: daemon.source.clockNanoseconds))
    }
}
