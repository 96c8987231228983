import PosixCalls

/// A part of a file that a thread can read for a reader.
///
/// One thread has a chunk at a time: the reader, then the one that reads the chunk, and the reader again. Each hand-over goes
/// through the lock of a monitor, so the contents of a chunk need no other one.
protocol ReadAheadChunk: AnyObject, Sendable {
    /// Reads what the reader assigned to the chunk.
    func read()
}

/// Threads that read chunks ahead of a reader, which has a bounded number of them and assigns each again when it is done with it.
///
/// The reader, which is one thread at a time, reads chunks itself while the one it needs is not ready.
final class ReadAhead<Chunk: ReadAheadChunk> {
    private let crew = ReadAheadCrew<Chunk>()

    /// Starts one thread less than `threadCount`, because the reader is one of them.
    init(threadCount: Int) {
        for _ in 1..<max(1, threadCount) {
            // If a thread cannot start, the others do its share, in the extreme case the reader alone.
            guard (try? crew.startThread()) != nil else { break }
        }
    }

    deinit { crew.stop() }

    /// Gives a chunk to the threads; without waking one if the chunk is read in less time than that takes.
    func offer(_ chunk: Chunk, isShort: Bool = false) { crew.offer(chunk, isShort: isShort) }

    /// Returns when an offered chunk is read; the chunk is the reader's again.
    func take(_ chunk: Chunk) { crew.take(chunk) }
}

/// The threads, and the chunks between them and the reader.
private final class ReadAheadCrew<Chunk: ReadAheadChunk>: Sendable {
    private struct State {
        /// The chunks that no thread has begun, in the order in which they will be needed.
        var waiting: [Chunk] = []
        /// The chunks that the threads are reading.
        var begun: [Chunk] = []
        var threadCount = 0
        var isStopped = false
    }

    private enum Turn {
        case read(Chunk)
        case end
    }

    private let state = Monitor(State())

    /// Starts a thread, which ends with ``stop()``.
    func startThread() throws(SystemError) {
        state.change { $0.threadCount += 1 }
        do throws(SystemError) {
            try WorkerThread.start { [self] in
                while case .read(let chunk) = state.wait({ Self.begin(&$0) }) {
                    chunk.read()
                    state.change { $0.begun.removeAll { $0 === chunk } }
                }
                state.change { $0.threadCount -= 1 }
            }
        } catch {
            state.change { $0.threadCount -= 1 }
            throw error
        }
    }

    /// The next chunk to read; `nil` while there is none.
    private static func begin(_ state: inout State) -> Turn? {
        if state.isStopped { return .end }
        guard !state.waiting.isEmpty else { return nil }
        let chunk = state.waiting.removeFirst()
        state.begun.append(chunk)
        return .read(chunk)
    }

    /// Ends all threads and waits for them.
    func stop() {
        state.change { $0.isStopped = true }
        state.wait { $0.threadCount == 0 ? () : nil }
    }

    func offer(_ chunk: Chunk, isShort: Bool) {
        guard isShort else { return state.change { $0.waiting.append(chunk) } }
        state.wait { $0.waiting.append(chunk) }
    }

    func take(_ chunk: Chunk) {
        while true {
            let turn = state.wait { state -> Turn? in
                if let place = state.waiting.firstIndex(where: { $0 === chunk }) {
                    return .read(state.waiting.remove(at: place))
                }
                guard state.begun.contains(where: { $0 === chunk }) else { return .end }
                // While a thread reads it, the reader reads a later one.
                return state.waiting.isEmpty ? nil : .read(state.waiting.removeFirst())
            }
            guard case .read(let next) = turn else { return }
            next.read()
            if next === chunk { return }
        }
    }
}
