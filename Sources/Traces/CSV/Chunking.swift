/// How much of a CSV file is read at a time by how many threads; the samples and what is reported are the same.
package struct Chunking: Sendable {
    /// The threads that read a file, with the one that asks for its samples.
    package var threadCount: Int
    /// The size of a chunk, in bytes.
    package var chunkBytes = 262_144
    /// The length from which a file is read in chunks, in bytes.
    package var fewestBytes = 4_194_304

    /// The most threads of one file, which bounds the memory.
    package static let mostThreads = 8

    /// One thread reads the file.
    package static let serial = Chunking(threadCount: 1)

    /// Creates a description.
    ///
    /// - Parameter threadCount: The threads of a file, at least 1.
    package init(threadCount: Int) {
        self.threadCount = min(max(1, threadCount), Self.mostThreads)
    }

    /// Shares processors among files that are read at the same time; more files than processors have one thread together.
    ///
    /// - Parameters:
    ///   - processorCount: The processors that may be used.
    ///   - fileCount: The files.
    package init(processorCount: Int, fileCount: Int) {
        // The thread that asks for samples is the same for all files.
        let others = fileCount > processorCount ? 0 : (processorCount - 1 + fileCount - 1) / max(1, fileCount)
        self.init(threadCount: 1 + others)
    }
}
