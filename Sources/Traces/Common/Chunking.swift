/// The number of threads that read a large file, and the size of its chunks; neither changes the samples or the reports.
package struct Chunking: Sendable {
    /// The number of threads that read a file, including the thread that requests the samples.
    package var threadCount: Int
    /// The size of a chunk of CSV, in bytes; a shorter block of an Arrow stream is not worth a thread.
    package var chunkBytes = 262_144
    /// The minimum size of a file that is read in chunks, in bytes.
    package var fewestBytes = 4_194_304

    /// The maximum number of threads of one file, which bounds the memory.
    package static let mostThreads = 8

    package static let serial = Chunking(threadCount: 1)

    /// Creates a description.
    ///
    /// - Parameter threadCount: The threads of a file, at least 1.
    package init(threadCount: Int) {
        self.threadCount = min(max(1, threadCount), Self.mostThreads)
    }

    /// Shares processors among files that are read at the same time; more files than processors are read by one thread in total.
    ///
    /// - Parameters:
    ///   - processorCount: The number of available processors.
    ///   - fileCount: The number of files.
    package init(processorCount: Int, fileCount: Int) {
        // The thread that requests samples is shared by all files.
        let others = fileCount > processorCount ? 0 : (processorCount - 1 + fileCount - 1) / max(1, fileCount)
        self.init(threadCount: 1 + others)
    }
}
