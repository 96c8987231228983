package import Binnacle
import LinuxSensors
package import LinuxSystem

/// All sources of a station as one: devices, recordings in real time, and simulations.
///
/// The sources are asked in turn, so that a busy one does not starve the others.
package final class StationSource: SampleLoopSource, SourceGroup {
    package private(set) var streams: [SampleStream] = []
    private(set) var live: LiveSource?
    private var timed: [any TimedSource] = []
    private var nextSource = 0
    private var staysOpen = false
    private let waker: Waker
    /// A recording that ends the source at its end, and its pacing.
    private let recording: (any SampleSource)?
    private let pace: PacedSource?
    /// The recordings that play beside other sources, or did.
    private var player: PacedSource?

    package init(waker: Waker) {
        self.waker = waker
        recording = nil
        pace = nil
    }

    /// Creates a source that plays one recording, paced by a ``PacedSource`` or else as fast as possible.
    package init(playing recording: any SampleSource, waker: Waker) {
        self.waker = waker
        self.recording = recording
        pace = recording as? PacedSource
        streams = recording.streams
    }

    /// Writing eight bytes that are not all 0 to this descriptor ends a wait; a signal handler may do so.
    package var wakeDescriptor: Int32 { waker.descriptor }

    /// Replaces the sources; those that stay keep their undelivered samples.
    ///
    /// With `staysOpen` the source does not end when it has no other sources.
    func change(
        live: LiveSource?, timed: [any TimedSource], streams: [SampleStream], staysOpen: Bool = false
    ) {
        self.staysOpen = staysOpen
        self.live = live
        self.timed = timed
        self.streams = streams
        player = timed.lazy.compactMap { $0 as? PacedSource }.first
        nextSource = 0
    }

    /// The time on CLOCK_MONOTONIC of a stamp, which differs from it when a recording is not in real time.
    package func clockNanoseconds(of timeNanoseconds: Int64) -> Int64 {
        guard let player, player.speed != 1 else { return timeNanoseconds }
        return player.dueNanoseconds(of: timeNanoseconds) ?? timeNanoseconds
    }

    /// Whether stamps are times on CLOCK_MONOTONIC.
    var isInRealTime: Bool { recording == nil && player.map { $0.speed == 1 } ?? true }

    /// The only source that delivers, if there is just one; it needs no turns.
    package var onlySource: (any SampleSource)? { recording ?? (timed.isEmpty ? live : nil) }

    /// Delivers from one of the sources.
    package func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if let recording { return recording.fill(delivery) }
        let count = timed.count + (live == nil ? 0 : 1)
        for offset in 0..<count {
            let place = (nextSource + offset) % count
            let answer = place < timed.count ? timed[place].fill(delivery) : (live?.fill(delivery) ?? .pending)
            switch answer {
            case .pending: continue
            case .ended: return end(place)
            case .samples, .failed:
                nextSource = place + 1
                return answer
            }
        }
        return count == 0 && !staysOpen ? .ended : .pending
    }

    /// Handles the end of a recording like a removed sensor, and the end of the last source as the end of all.
    private func end(_ place: Int) -> SampleAnswer {
        guard place < timed.count else { return .ended }
        let source = timed.remove(at: place)
        nextSource = 0
        // A source that failed has already reported why.
        guard source.streams.contains(where: \.sensor.isActive) else {
            return timed.isEmpty && live == nil && !staysOpen ? .ended : .pending
        }
        return .failed(source.streams, reason: SourceEnded())
    }

    /// Whether the source has no samples before the end of a wait.
    ///
    /// Without timed sources a read shows whether devices have more, which saves a turn for each sample.
    package func isDrained(after answer: SampleAnswer) -> Bool {
        switch answer {
        case .pending: true
        case .samples: timed.isEmpty && live?.isDrained ?? false
        case .failed, .ended: false
        }
    }

    /// Waits until a source may have samples, a wake-up, or the deadline.
    package func wait(until deadlineNanoseconds: Int64?) {
        var deadline = pace?.nextDueNanoseconds
        if let deadlineNanoseconds { deadline = min(deadline ?? .max, deadlineNanoseconds) }
        for source in timed {
            if let due = source.nextDueNanoseconds { deadline = min(deadline ?? .max, due) }
        }
        let timeout = deadline.map { SystemClock.milliseconds(until: $0) } ?? -1
        if let live {
            live.wait(timeoutMilliseconds: timeout)
        } else {
            waker.wait(timeoutMilliseconds: timeout)
        }
    }

    /// Whether every device has been searched for, and opened or refused.
    package var isSettled: Bool { live?.isSettled ?? true }

    /// Whether any device is read as scans from a buffer.
    package var hasScans: Bool { live?.hasScans ?? false }

    package func stop() { live?.stop() }

    /// The new notices about devices, each once.
    package func takeNotices() -> [String] { live?.takeNotices() ?? [] }
}

/// The reason why a recording delivers no more.
package struct SourceEnded: Error, CustomStringConvertible {
    package let description = "the recording has ended"
}

/// A source that delivers by the clock.
package protocol TimedSource: SampleSource {
    /// When it next has something to deliver, on CLOCK_MONOTONIC; `nil` when that does not depend on the clock.
    var nextDueNanoseconds: Int64? { get }
}

extension PacedSource: TimedSource {}

extension SimulatedSource: TimedSource {}
