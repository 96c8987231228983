import Binnacle
import Configuration
import Glibc
import LinuxSystem
import PlainText
import Synchronization
import Traces

/// A section that a recording plays, and what is wanted of it.
struct TracePart: Equatable {
    let section: SensorSection
    let kinds: [SampleKind]

    /// Those of some sections that recordings play.
    static func of(_ wanted: [(section: SensorSection, kinds: [SampleKind])]) -> [TracePart] {
        wanted.filter(\.section.isTrace).map { TracePart(section: $0.section, kinds: $0.kinds) }
    }
}

/// The recordings of a configuration, opened as one source.
///
/// Opening waits for a disk, so a reload does it on a worker thread.
struct PlayedTraces {
    let source: TraceSource
    let notices: [String]
    /// Opens them for another pass, when one of them is played in a loop.
    private let nextPass: NextPass?

    /// Opens the recordings of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - playing: What is played already.
    ///   - interruption: Ends the reading of a recording.
    /// - Throws: ``StationError`` when a recording cannot be played.
    init?(
        _ configuration: Configuration, unless playing: [TracePart], interruption: Interruption
    ) throws(StationError) {
        let parts = TracePart.of(configuration.wantedSensors)
        guard parts != playing else { return nil }
        let needs = configuration.needs.filter { need in parts.contains { $0.section.name == need.sensor } }
        try self.init(parts, needs: needs, interruption: interruption)
    }

    /// Opens recordings; `nil` when there are none.
    init?(
        _ parts: [TracePart], needs: [(sensor: String, kind: SampleKind, by: String)], interruption: Interruption
    ) throws(StationError) {
        guard !parts.isEmpty else { return nil }
        var set = TraceSet()
        let loops = parts.contains { if case .trace(_, loops: true) = $0.section.source { true } else { false } }
        for part in parts {
            guard case .trace(let file, _) = part.section.source else { continue }
            try Self.refusePipe(file)
            set.bind(part.section.name, to: file, part.kinds)
        }
        var binding = try TraceBinding(set, interruption: interruption)
        source = try binding.bind(needs)
        notices = binding.notices + binding.unused
        nextPass = loops ? NextPass(set, needs, interruption) : nil
    }

    /// Whether the next pass is open, or there is none.
    func mayReopen() -> Bool { nextPass?.isOpen() ?? true }

    /// Takes the next pass; `nil` when there is none.
    func reopen() throws(StationError) -> (any SampleSource)? { try nextPass?.take() }

    /// Refuses what is no regular file, because reading a pipe would block the event thread.
    private static func refusePipe(_ file: String) throws(StationError) {
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw StationError(
            .usage, "\(file.printable): is no regular file; a live run plays files alone, 'binnacle replay' takes pipes"
        )
    }
}

/// The next pass of recordings that are played in a loop, which a worker thread opens.
private final class NextPass: Sendable {
    private enum State {
        case closed
        case opening
        case open(Result<Transfer<TraceSource>, StationError>)
    }

    private let state = Mutex(State.closed)
    private let open: @Sendable () throws(StationError) -> Transfer<TraceSource>

    init(_ set: TraceSet, _ needs: [(sensor: String, kind: SampleKind, by: String)], _ interruption: Interruption) {
        open = { () throws(StationError) in
            var binding = try TraceBinding(set, interruption: interruption)
            return Transfer(try binding.bind(needs))
        }
    }

    /// Whether the recordings are open or cannot be opened; the first question begins to open them.
    func isOpen() -> Bool {
        let isFirst: Bool? = state.withLock { state in
            switch state {
            case .opening: return false
            case .open: return nil
            case .closed:
                state = .opening
                return true
            }
        }
        guard let isFirst else { return true }
        guard isFirst else { return false }
        do throws(SystemError) {
            try WorkerThread.start { [self] in
                let result = Result { () throws(StationError) in try open() }
                state.withLock { $0 = .open(result) }
            }
            return false
        } catch {
            state.withLock { $0 = .open(.failure(StationError(error))) }
            return true
        }
    }

    func take() throws(StationError) -> TraceSource? {
        let taken = state.withLock { state in
            defer { state = .closed }
            return state
        }
        guard case .open(let result) = taken else { return nil }
        return try result.get().take()
    }
}

extension Configuration {
    /// The sensors that a detector uses, and what is wanted of each.
    var wantedSensors: [(section: SensorSection, kinds: [SampleKind])] {
        sensors.map { ($0, kinds(of: $0.name)) }.filter { !$0.1.isEmpty }
    }
}
