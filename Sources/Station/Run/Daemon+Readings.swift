import Binnacle
import LinuxSystem

/// What makes live readings while a client wants them.
struct ReadingsSchedule {
    let collector: ReadingsCollector
    let intervalNanoseconds: Int64
    /// The end of the interval, on CLOCK_MONOTONIC.
    var dueNanoseconds: Int64
}

/// Live readings: made on the event thread at the shortest interval that a client wants, and sent by the socket's.
extension Daemon {
    /// Makes readings at an interval that a socket's subscribers want, unless another socket has taken its place.
    func take(readingsInterval: Int64?, of socket: Int) {
        guard socket >= socketNumber else { return }
        readingsIntervals[socket] = readingsInterval
        scheduleReadings()
    }

    /// Has the pipeline collect readings, or not.
    ///
    /// - Parameter again: Whether the pipeline's detectors were replaced.
    func scheduleReadings(again: Bool = false) {
        let wanted = readingsIntervals.values.min()
        guard again ? wanted != nil || readings != nil : wanted != readings?.intervalNanoseconds else { return }
        readings = nil
        var detectors: [any Detector] = assembly.detectors
        if let wanted {
            let now = SystemClock.monotonic()
            let collector = ReadingsCollector(streams: assembly.streams, detectors: assembly.detectors, now: now)
            // Last, because it takes what the others have just found.
            detectors.append(collector.observer)
            readings = ReadingsSchedule(
                collector: collector, intervalNanoseconds: wanted, dueNanoseconds: Units.later(now, by: wanted))
        }
        pipeline.change(detectors: detectors)
    }

    /// Sends the readings of the interval that is over.
    func publishReadings(_ now: Int64) {
        guard let schedule = readings else { return }
        // Intervals that were missed are part of this one.
        let lateNanoseconds = (now - schedule.dueNanoseconds) % schedule.intervalNanoseconds
        readings?.dueNanoseconds = Units.later(now, by: schedule.intervalNanoseconds - lateNanoseconds)
        relay.publish(
            schedule.collector.take(
                at: now, statistics: pipeline.statistics, isWorking: pipeline.isWorking,
                clock: source.clockNanoseconds))
    }
}
