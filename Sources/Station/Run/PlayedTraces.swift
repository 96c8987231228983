import Binnacle
import Configuration
import LinuxSystem
import PlainText
import Synchronization
import Traces

/// The recordings of a configuration as one source; opening it waits for a disk, so a reload does it on another thread.
struct PlayedTraces {
    let source: TraceSource
    /// In times real time.
    var speed = 1.0
    let notices: [String]
    /// `nil` unless a recording is played in a loop.
    private let nextPass: NextPass?

    /// Opens a configuration's recordings, or `recordings`, which play all its sensors; `nil` if they play already.
    init?(
        _ configuration: Configuration, unless playing: [WantedSensor], recordings: TraceSet?,
        interruption: Interruption
    ) throws(StationError) {
        let parts = configuration.wantedSensors.filter(\.section.isTrace)
        guard parts != playing else { return nil }
        func isPlayed(_ need: Configuration.Need) -> Bool { parts.contains { $0.section.name == need.sensor } }
        try self.init(
            parts, needs: configuration.needs.filter(isPlayed),
            optionalNeeds: configuration.optionalNeeds.filter(isPlayed), recordings: recordings,
            interruption: interruption)
    }

    init?(
        _ parts: [WantedSensor], needs: [Configuration.Need], optionalNeeds: [Configuration.Need] = [],
        recordings: TraceSet? = nil,
        interruption: Interruption
    ) throws(StationError) {
        guard !parts.isEmpty else { return nil }
        var set = recordings ?? TraceSet()
        let loops = parts.contains { if case .trace(_, loops: true) = $0.section.source { true } else { false } }
        for part in parts {
            guard recordings == nil else {
                if part.kinds.contains(.accelerometer) { set.recordGravitySign(part.section, isReplaced: true) }
                continue
            }
            guard case .trace(let file, _) = part.section.source else { continue }
            set.bind(part.section.name, to: file, part.kinds)
            set.recordGravitySign(part.section)
        }
        for file in set.paths + set.bindings.map(\.path) { try Self.refusePipe(file) }
        var binding = try TraceBinding(set, interruption: interruption)
        source = try binding.bind(needs, optionalNeeds: optionalNeeds)
        notices = (recordings == nil ? [] : binding.used) + binding.notices + binding.unused
        nextPass = loops ? NextPass(set, needs, optionalNeeds, interruption) : nil
    }

    /// Whether the next pass is open, or there is none.
    func mayReopen() -> Bool { nextPass?.isOpen() ?? true }

    /// Takes the next pass; `nil` when there is none.
    func reopen() throws(StationError) -> (any SampleSource)? { try nextPass?.removeTrace() }

    /// Throws unless the file is regular, because reading a pipe would block the event thread.
    private static func refusePipe(_ file: String) throws(StationError) {
        guard let status = try? fileStatus(file), !status.isRegular else { return }
        let words =
            status.isFolder
            ? "is a folder; a sensor plays one file" : "is no regular file; 'binnacle replay' takes pipes"
        throw .usage("\(file.printable): \(words)")
    }
}

private final class NextPass: Sendable {
    private enum State {
        case closed
        case opening
        case open(Result<Transfer<TraceSource>, StationError>)
    }

    private let state = Mutex(State.closed)
    private let open: @Sendable () throws(StationError) -> Transfer<TraceSource>

    init(
        _ set: TraceSet, _ needs: [Configuration.Need], _ optionalNeeds: [Configuration.Need],
        _ interruption: Interruption
    ) {
        open = { () throws(StationError) in
            var binding = try TraceBinding(set, interruption: interruption)
            return Transfer(try binding.bind(needs, optionalNeeds: optionalNeeds))
        }
    }

    /// Whether opening has ended, with recordings or an error; the first call starts it.
    func isOpen() -> Bool {
        state.withLock { state in
            if case .closed = state {
                do throws(SystemError) {
                    try WorkerThread.start { [self] in
                        let result = Result { () throws(StationError) in try open() }
                        self.state.withLock { $0 = .open(result) }
                    }
                    state = .opening
                } catch {
                    state = .open(.failure(StationError(error)))
                }
            }
            return if case .open = state { true } else { false }
        }
    }

    func removeTrace() throws(StationError) -> TraceSource? {
        let taken = state.withLock { state in
            defer { state = .closed }
            return state
        }
        guard case .open(let result) = taken else { return nil }
        return try result.get().take()
    }
}
