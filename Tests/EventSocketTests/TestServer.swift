import Binnacle
import EventSocket
import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// A server with its socket in a folder of its own; it ends with this object.
final class TestServer {
    /// What the server said and asked.
    final class Notes: Sendable {
        let said = Mutex<[String]>([])
        let repeated = Mutex<[Set<EventKind>]>([])
        let intervals = Mutex<[Int64?]>([])
        let spectra = Mutex<[Bool?]>([])
        let samples = Mutex<[Set<SampleOrigin>]>([])
        let questions = Atomic<Int>(0)
    }

    let server: SocketServer
    let settings: SocketSettings
    let notes = Notes()
    private let folder: TemporaryFolder
    private var next: UInt64

    init(
        history: (any EventHistory)? = nil, startingBehind sequence: UInt64 = 0, ringCapacity: Int = 1024,
        requestTime: Duration = .seconds(600), _ change: (inout SocketSettings) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        var settings = SocketSettings(path: folder.path + "/s")
        // Every client that connects here is of this process's own account.
        settings.reservedPlaces = 0
        change(&settings)
        self.settings = settings
        next = sequence + 1
        var surroundings = SocketServer.Surroundings()
        let notes = notes
        surroundings.say = { text, _ in notes.said.withLock { $0.append(text) } }
        surroundings.repeatedKindsChanged = { kinds in notes.repeated.withLock { $0.append(kinds) } }
        surroundings.readingsChanged = { readings in
            notes.intervals.withLock { $0.append(readings?.intervalNanoseconds) }
            notes.spectra.withLock { $0.append(readings?.hasSpectrum) }
        }
        surroundings.change = { change, reply in
            reply(change.name == "other" ? "no such name" : nil, change.name == "siren" ? "a full disk" : nil)
        }
        surroundings.samplesChanged = { samples in notes.samples.withLock { $0.append(samples) } }
        surroundings.status = { reply in
            notes.questions.wrappingAdd(1, ordering: .relaxed)
            Thread.detachNewThread { reply(#"{"uptime_s":1}"#) }
        }
        server = try SocketServer(
            settings, history: history, startingBehind: sequence, ringCapacity: ringCapacity,
            requestTime: requestTime, surroundings: surroundings)
    }

    deinit {
        server.finish(within: .zero)
        #expect(server.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
    }

    var path: String { settings.path }

    func client() throws -> RawClient { try RawClient(path) }

    /// Publishes events with the next numbers.
    @discardableResult
    func publish(_ count: Int = 1, kind: EventKind = .shock, sensor: String? = "lid", padding: Int = 0) -> UInt64 {
        server.publish((0..<count).map { _ in PublishedEvent(event(kind: kind, sensor: sensor, padding: padding)) })
        return next - 1
    }

    /// Goes on behind a number.
    func `continue`(behind sequence: UInt64) {
        server.continue(behind: sequence)
        next = sequence + 1
    }

    private func event(kind: EventKind, sensor: String?, padding: Int) -> Event {
        let isRepeated = EventKind.repeated.contains(kind)
        defer { if !isRepeated { next += 1 } }
        return Self.event(isRepeated ? next - 1 : next, kind: kind, sensor: sensor, padding: padding)
    }

    static func event(
        _ sequence: UInt64, kind: EventKind = .shock, sensor: String? = "lid", padding: Int = 0
    ) -> Event {
        var event = Event(kind: kind, detector: "d", sensor: sensor, timeNanoseconds: Int64(sequence) * 1000)
        event.sequence = sequence
        event.wallNanoseconds = 1_700_000_000_000_000_000 + Int64(sequence) * 1_000_000_000
        event.figures = [Figure(.magnitude, .number(2.5, decimals: 3))]
        if padding > 0 { event.figures.append(Figure(.output, .text(String(repeating: "x", count: padding)))) }
        return event
    }

    /// Waits until something holds.
    func wait(_ what: String, until holds: () -> Bool) throws {
        try waitUntil("that \(what)", isCase: holds)
    }
}
