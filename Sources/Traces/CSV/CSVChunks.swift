/// The rows of a CSV file, in chunks that several threads read ahead, returned in order.
///
/// There are two chunks more than threads, which bounds the memory: the memory of a chunk is reused when the next one is requested.
final class CSVChunks {
    /// The chunk returned last.
    private(set) var current: CSVChunk?
    /// The file offset up to which chunks were returned.
    private(set) var offset: Int64

    private let ahead: ReadAhead<CSVChunk>
    private let ring: [CSVChunk]
    private let start: Int64
    private let chunkBytes: Int64
    private let chunkCount: Int
    private var offeredCount = 0
    private var number = 0

    /// Starts reading a regular file at the beginning of a line; `nil` when the remainder is too short.
    init?(_ head: CSVHead, _ chunking: Chunking, file: InputFile, from offset: Int64) {
        guard let size = file.size, chunking.threadCount > 1 else { return nil }
        let count = (size - offset) / Int64(chunking.chunkBytes)
        guard count > 0, size - offset >= Int64(chunking.fewestBytes) else { return nil }
        self.offset = offset
        start = offset
        chunkBytes = Int64(chunking.chunkBytes)
        chunkCount = Int(count)
        ring = (0..<chunking.threadCount + 2).map { _ in CSVChunk(head, size: chunking.chunkBytes, file: file) }
        ahead = ReadAhead(threadCount: chunking.threadCount)
        for chunk in ring { offer(chunk) }
    }

    /// The next chunk, which replaces the previous one; `nil` when the file has to be read in another way from ``offset``.
    func next() -> CSVChunk? {
        if let current { offer(current) }
        current = nil
        guard number < chunkCount else { return nil }
        let chunk = ring[number % ring.count]
        ahead.take(chunk)
        guard chunk.isUsable else { return nil }
        number += 1
        if let start = chunk.fileOffset {
            // Lines may have moved if the file is being written.
            guard start == offset else { return nil }
            offset += Int64(chunk.text.count)
        }
        current = chunk
        return chunk
    }

    /// Assigns the next section of the file to a chunk whose rows are consumed.
    private func offer(_ chunk: CSVChunk) {
        guard offeredCount < chunkCount else { return }
        let first = start + Int64(offeredCount) * chunkBytes
        chunk.assign(first..<first + chunkBytes, isAtLine: offeredCount == 0)
        offeredCount += 1
        ahead.offer(chunk)
    }
}
