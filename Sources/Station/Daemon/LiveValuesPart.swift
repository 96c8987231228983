import Binnacle
import LinuxSystem

/// Makes live readings at the shortest interval that a client of the socket wants; without such a client it costs nothing.
final class LiveValuesPart: DaemonPart {
    /// Readings that are made.
    private struct Schedule {
        let collector: LiveValuesCollector
        let intervalNanoseconds: Int64
        /// The end of the interval, on CLOCK_MONOTONIC.
        var dueNanoseconds: Int64
    }

    private unowned let daemon: Daemon
    private let socket: SocketPart
    /// `nil` while no readings are wanted.
    private var schedule: Schedule?

    init(_ daemon: Daemon, _ socket: SocketPart) {
        self.daemon = daemon
        self.socket = socket
    }

    /// Stands last, because it takes what the detectors have just found.
    var observers: [any Detector] { schedule.map { [$0.collector.observer] } ?? [] }

    var deadline: Int64? { schedule?.dueNanoseconds }

    func apply(_ change: ConfigurationChange) { if schedule != nil { begin() } }

    func finishTurn(at now: Int64) {
        if socket.readingsInterval != schedule?.intervalNanoseconds { begin() }
        if let schedule, now >= schedule.dueNanoseconds { publish(schedule, now) }
    }

    /// Begins with the interval that is wanted now.
    private func begin() {
        schedule = socket.readingsInterval.map { interval in
            let now = SystemClock.monotonic()
            return Schedule(
                collector: LiveValuesCollector(
                    streams: daemon.assembly.streams, detectors: daemon.assembly.detectors, now: now),
                intervalNanoseconds: interval, dueNanoseconds: Units.later(now, by: interval))
        }
        daemon.replaceDetectors()
    }

    /// Sends the readings of the interval that is over.
    private func publish(_ schedule: Schedule, _ now: Int64) {
        // Intervals that were missed are part of this one.
        let interval = schedule.intervalNanoseconds
        let lateNanoseconds = (now - schedule.dueNanoseconds) % interval
        self.schedule?.dueNanoseconds = Units.later(now, by: interval - lateNanoseconds)
        socket.publish(
            schedule.collector.collect(
                at: now, statistics: daemon.pipeline.statistics, isWorking: daemon.pipeline.isWorking,
                clock: daemon.source.clockNanoseconds))
    }
}
