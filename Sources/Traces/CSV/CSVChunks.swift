import Binnacle
import PosixCalls

/// The rows of a CSV file, in chunks that several threads read ahead, returned in order.
///
/// The thread that requests a chunk which is not ready reads one itself. There are two chunks more than threads, which bounds the
/// memory.
final class CSVChunks {
    /// The chunk returned last.
    private(set) var current: CSVChunk?
    /// The file offset up to which chunks were returned.
    private(set) var offset: Int64

    private let crew: CSVChunkCrew
    private var number = 0

    /// Starts reading a regular file at the beginning of a line; `nil` when the remainder is too short.
    init?(_ head: CSVHead, _ chunking: Chunking, file: InputFile, from offset: Int64) {
        guard let size = file.size, chunking.threadCount > 1 else { return nil }
        let count = (size - offset) / Int64(chunking.chunkBytes)
        guard count > 0, size - offset >= Int64(chunking.fewestBytes) else { return nil }
        self.offset = offset
        crew = CSVChunkCrew(
            ring: (0..<chunking.threadCount + 2).map { _ in CSVChunk(head, size: chunking.chunkBytes) }, file: file,
            start: offset, chunkBytes: Int64(chunking.chunkBytes), chunkCount: Int(count))
        for _ in 1..<chunking.threadCount {
            // If a thread cannot start, the others do its share, in the extreme case the requesting thread alone.
            guard (try? crew.startThread()) != nil else { break }
        }
    }

    deinit { crew.stop() }

    /// The next chunk, which replaces the previous one; `nil` when the file has to be read in another way from ``offset``.
    func next() -> CSVChunk? {
        if current != nil { crew.release() }
        current = nil
        guard let chunk = crew.removeChunk(number), chunk.isUsable else { return nil }
        number += 1
        if let start = chunk.fileOffset {
            // Lines may have moved if the file is being written.
            guard start == offset else { return nil }
            offset += Int64(chunk.text.count)
        }
        current = chunk
        return chunk
    }
}

/// The threads that read chunks, and the ring of chunks: the memory of a chunk is reused when the reader has released it.
private final class CSVChunkCrew: Sendable {
    private struct State {
        /// The number of chunks whose reading has begun.
        var begunCount = 0
        var releasedCount = 0
        /// For each slot of the ring, whether its chunk is read and not yet returned.
        var isRead: [Bool]
        var threadCount = 0
        var isStopped = false
    }

    private enum Turn {
        case read(Int)
        case take
        case end
    }

    private let ring: [CSVChunk]
    private let file: InputFile
    private let start: Int64
    private let chunkBytes: Int64
    private let chunkCount: Int
    private let state: Monitor<State>

    init(ring: [CSVChunk], file: InputFile, start: Int64, chunkBytes: Int64, chunkCount: Int) {
        self.ring = ring
        self.file = file
        self.start = start
        self.chunkBytes = chunkBytes
        self.chunkCount = chunkCount
        state = Monitor(State(isRead: ring.map { _ in false }))
    }

    /// Starts a thread, which ends after the last chunk or with ``stop()``.
    func startThread() throws(SystemError) {
        state.change { $0.threadCount += 1 }
        do throws(SystemError) {
            try WorkerThread.start { [self] in
                while case .read(let number) = state.wait({ nextTurn(&$0) }) { read(number) }
                state.change { $0.threadCount -= 1 }
            }
        } catch {
            state.change { $0.threadCount -= 1 }
            throw error
        }
    }

    /// Ends all threads and waits for them.
    func stop() {
        state.change { $0.isStopped = true }
        state.wait { $0.threadCount == 0 ? () : nil }
    }

    /// Waits for a chunk, and reads chunks meanwhile; `nil` after the last one.
    func removeChunk(_ number: Int) -> CSVChunk? {
        guard number < chunkCount else { return nil }
        let place = number % ring.count
        while true {
            let turn = state.wait { state -> Turn? in
                guard state.isRead[place] else { return nextTurn(&state, isReader: true) }
                state.isRead[place] = false
                return Turn.take
            }
            guard case .read(let number) = turn else { return ring[place] }
            read(number)
        }
    }

    /// Makes the memory of the oldest returned chunk available again.
    func release() { state.change { $0.releasedCount += 1 } }

    /// The next chunk to read; `nil` while no slot is free.
    private func nextTurn(_ state: inout State, isReader: Bool = false) -> Turn? {
        if !isReader, state.isStopped || state.begunCount == chunkCount { return .end }
        guard state.begunCount < min(chunkCount, state.releasedCount + ring.count) else { return nil }
        state.begunCount += 1
        return .read(state.begunCount - 1)
    }

    private func read(_ number: Int) {
        let place = number % ring.count
        let first = start + Int64(number) * chunkBytes
        ring[place].read(first..<first + chunkBytes, of: file, isAtLine: number == 0)
        state.change { $0.isRead[place] = true }
    }
}
