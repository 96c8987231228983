import Binnacle
import Glibc
import TestSupport
import Testing
import Traces

/// A large file is read in chunks by several threads.
///
/// What comes of CSV is compared in ``PlainRowsTests``, too, and of what other tools write as Arrow in Tests/Program/arrow.py.
@Suite struct ChunkTests {
    private static let head = "t_ms,ax_g,ay_g,az_g\n"

    private func compare(_ text: String, _ sizes: [Int], threads: Int = 3) throws -> TraceReading {
        let file = try TemporaryFile(text)
        let serial = try TraceReading(file.path)
        for size in sizes {
            #expect(try TraceReading(file.path, chunking: .tiny(size, threads)) == serial, "chunks of \(size)")
        }
        return serial
    }

    /// Each kind of line that is not plain stands in turn at every place of a chunk.
    @Test(arguments: [
        "", "# a comment", "4,1,2", "4,1,2,x", "4,nan,2,3", "x,1,2,3", "4,1e9,2,3", "\"4\",1,2,3", "0,1,2,3", "3,1,2,3",
        "20000,1,2,3", "4,,,", "4,1,2,3\r",
    ])
    func whatIsUnusualMayStandAnywhereInAChunk(line: String) throws {
        // Rows of 16 bytes, seven in a chunk.
        let rows = (0..<60).map { "\(($0 + 10) * 10),1,2,0.\($0 + 100)" }
        for place in 20..<30 {
            let all = rows[..<place] + [line] + rows[place...]
            let reading = try compare(Self.head + all.map { $0 + "\n" }.joined(), [112, 113])
            #expect(reading.sampleCount >= 59)
        }
    }

    /// The same text with every size of chunk up to a few lines, so that chunks begin and end at every byte of a line.
    @Test(arguments: ["\n", "\r\n"]) func aChunkMayEndAtAnyByte(lineEnd: String) throws {
        var text = Self.head
        for row in 0..<40 { text += "\(row * 10),0.5,\(row),\(row % 7 == 3 ? "nan" : "1")\(lineEnd)" }
        for tail in ["", "400,1,2", "400,1,2,3", lineEnd] { _ = try compare(text + tail, Array(1...45)) }
    }

    /// Nothing of what follows an error that ends the reading is reported.
    @Test func whatEndsTheReadingEndsItAtTheSameLine() throws {
        let plain = (0..<400).map { "\($0 * 10),1,2,3\n" }.joined()
        let damaged = String(repeating: "x\n", count: 1100)
        let long = String(repeating: "1", count: 65_537) + "\n"
        let back = (0..<1100).map { "\($0),1,2,3\n" }.joined()
        for end in [damaged, long, back] {
            let reading = try compare(Self.head + plain + end + "90000,nan,2,3\n" + plain, [50, 700, 5000])
            #expect(reading.failures.count == 1)
            #expect(reading.sampleCount == 400)
        }
    }

    @Test func streamsThatAreNotInEveryRowKeepTheirOrder() throws {
        var text = "time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2,b.mx_uT,b.my_uT,b.mz_uT\n"
        for row in 0..<500 {
            let (a, b) = (row % 3 != 0 ? "1,2,\(row)" : ",,", row % 5 != 1 ? "4,5,\(row)" : ",,")
            text += "\(row),\(row % 15 == 6 ? "1,2,3" : a),\(b)\n"
        }
        let file = try TemporaryFile(text)
        for capacity in [1, 2, 7, 4096] {
            let serial = try TraceReading(file.path, capacity: capacity)
            #expect(try TraceReading(file.path, capacity: capacity, chunking: .tiny(300, 2)) == serial)
            #expect(serial.sampleCount > 700)
        }
    }

    // MARK: - Arrow

    /// What is read, or why nothing is.
    private func outcome(
        _ path: String, capacity: Int, _ chunking: Chunking = .serial
    ) -> Result<TraceReading, TraceError> {
        Result { () throws(TraceError) in try TraceReading(path, capacity: capacity, chunking: chunking) }
    }

    /// Reads an Arrow stream with several numbers of threads, some of which read short blocks as well, and some do not.
    @discardableResult
    private func compare(_ bytes: [UInt8], capacities: [Int] = [7, 65_536]) throws -> Result<TraceReading, TraceError> {
        let file = try TemporaryFile(bytes)
        var last = outcome(file.path, capacity: 4096)
        for capacity in capacities {
            last = outcome(file.path, capacity: capacity)
            for (size, threads) in [(0, 2), (3000, 5)] {
                let isSame = outcome(file.path, capacity: capacity, .tiny(size, threads)) == last
                #expect(isSame, "\(bytes.count) bytes, capacity \(capacity), chunks of \(size), \(threads) threads")
            }
        }
        return last
    }

    /// Recordings with groups and without, whose batches have one row to thousands.
    @Test(arguments: 1...4, [nil, 3] as [Int?])
    func theSameComesOfArrowOnEachNumberOfThreads(streamCount: Int, flushed: Int?) throws {
        let streams = makeStreams(Array(fourStreams.prefix(streamCount)))
        let arrivals = randomArrivals(streamCount, count: 600, seed: UInt64(streamCount))
        let bytes = try arrowBytes(arrivals, streams, flushed: flushed, capacity: 100)
        for form in [bytes, bytes.withoutGroups, bytes.withoutMetadata] {
            _ = try compare(form).map { #expect($0.sampleCount > 100) }
        }
    }

    /// More blocks than are read ahead, in batches longer than a block too; at the end one that is not whole.
    @Test(arguments: [1, 5]) func aLongArrowStreamIsTheSame(streamCount: Int) throws {
        let kinds = (0..<streamCount).map { (name: "s\($0)", kind: SampleKind.accelerometer) }
        let bytes = try arrowBytes(steadyArrivals(streamCount, count: 200_000), makeStreams(kinds))
        for form in [bytes.withoutGroups, Array(bytes.dropLast(100))] {
            let reading = try compare(form, capacities: [50_000]).get()
            #expect(reading.sampleCount > 100_000)
        }
    }

    /// Rows with flaws, scaled columns, columns that are not aligned, and several sensors in one batch.
    @Test(arguments: 1...3) func unusualArrowIsTheSame(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let streams = makeStreams(Array(fourStreams.suffix(2)))
        let bytes = try arrowBytes(steadyArrivals(2, count: 2400), streams, flushed: 1, capacity: 300)
        var flawed = bytes
        var mixed = bytes.withoutMetadata
        for message in bytes.messages.dropFirst().dropLast() {
            // The sensors come first in the body, then the stamps and the axes.
            if Bool.random(using: &random) { mixed[message.bodyStart + Int.random(in: 0..<200, using: &random)] ^= 1 }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = min(message.bodyStart + 8 * Int.random(in: 20..<400, using: &random), bytes.count - 64)
                flawed.setWord(place, [0x7FC0_0000, .max, 0x7F00_0000, 0][Int.random(in: 0..<4, using: &random)])
            }
        }
        let forms = [
            flawed, flawed.withoutGroups, mixed, bytes.replacing("\"m/s2\"", with: "\"g\"   "),
            bytes.withoutGroups.replacing("µT", with: "nT "),
        ]
        for form in forms { try compare(form, capacities: [100]) }
    }

    /// A file that is damaged anywhere gives the same samples before the same error.
    @Test func damagedArrowIsTheSame() throws {
        let streams = makeStreams(Array(fourStreams.suffix(2)))
        let bytes = try arrowBytes(steadyArrivals(2, count: 40), streams, flushed: 1, capacity: 10)
        var failures = 0
        for message in bytes.messages {
            for offset in stride(from: message.start, to: min(message.bodyStart, bytes.count), by: 4) {
                for word in [0, 0x7FFF_FFFF, bytes.word(offset) &+ 4] as [UInt32] {
                    var lie = bytes
                    lie.setWord(offset, word)
                    let file = try TemporaryFile(lie)
                    let serial = outcome(file.path, capacity: 1000)
                    let isSame = outcome(file.path, capacity: 1000, .tiny(0, 3)) == serial
                    #expect(isSame, "\(word) at byte \(offset)")
                    failures += (try? serial.get())?.failures.count ?? 1
                }
            }
            for cut in [message.start, message.start + 6, message.bodyStart, message.bodyStart + 200] {
                try compare(Array(bytes.prefix(cut)), capacities: [1000])
            }
        }
        #expect(failures > 100)
    }

    /// A source that is released long before the end of its file leaves no thread that holds the file.
    @Test(arguments: [false, true]) func threadsEndWithTheirSource(isArrow: Bool) throws {
        let bytes =
            try isArrow
            ? arrowBytes(steadyArrivals(1, count: 20_000), makeStreams([("a", .accelerometer)]), flushed: 1)
            : Array(text(rowCount: 20_000).utf8)
        let file = try TemporaryFile(bytes)
        func isOpen() -> Bool {
            (0..<1024).contains { number in
                var target = [CChar](repeating: 0, count: 4096)
                let count = readlink("/proc/self/fd/\(number)", &target, target.count)
                return target.prefix(max(0, count)).map { UInt8(bitPattern: $0) } == Array(file.path.utf8)
            }
        }
        var source: TraceSource? = TraceSource(try TraceFile(path: file.path, chunking: .tiny(1000, 4)))
        let delivery = SampleDelivery(streams: source?.streams ?? [], capacity: 100)
        _ = source?.fill(delivery)
        #expect(delivery.batches[0].count == 100)
        #expect(isOpen())
        // A delivery may borrow from the file.
        delivery.removeAll()
        source = nil
        // The last thread releases what it holds when it has already reported its end.
        try waitUntil("the file's closing") { !isOpen() }
    }

    /// Reads a file in small deliveries, changes it after the first, and returns how many samples and which failures came.
    private func read(
        _ path: String, _ chunking: Chunking, change: () throws -> Void
    ) throws -> (count: Int, failures: [String]) {
        let source = TraceSource(try TraceFile(path: path, chunking: chunking))
        let delivery = SampleDelivery(streams: source.streams, capacity: 10)
        var (count, failures) = (0, [String]())
        while true {
            delivery.removeAll()
            let answer = source.fill(delivery)
            if count == 0 { try change() }
            count += delivery.batches[0].count
            if case .failed(_, let reason) = answer { failures.append("\(reason)") }
            if answer.isEnd { return (count, failures) }
        }
    }

    private func text(rowCount: Int) -> String {
        Self.head + (0..<rowCount).map { "\($0 * 10),1,2,3\n" }.joined()
    }

    /// Lines that are appended meanwhile are read like those of a file that one thread reads.
    @Test func theFileMayGrowWhileItIsRead() throws {
        let file = try TemporaryFile(text(rowCount: 5000))
        let (count, failures) = try read(file.path, .tiny(1000, 2)) {
            let descriptor = open(file.path, O_WRONLY | O_APPEND)
            _ = Array("60000,1,2,3\n60010,1,2,3\n".utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            close(descriptor)
        }
        #expect(count == 5002)
        #expect(failures == [])
    }

    /// What was read before counts, and the missing rest is an error, however the file is read.
    @Test(arguments: [Chunking.serial, .tiny(1000, 2), Chunking(threadCount: 2)], [0, 30_000, 900_000])
    func aFileThatShrinksIsAnErrorAndNotTheEnd(chunking: Chunking, size: Int) throws {
        let file = try TemporaryFile(text(rowCount: 100_000))
        let (count, failures) = try read(file.path, chunking) { #expect(truncate(file.path, off_t(size)) == 0) }
        #expect(count < 100_000)
        #expect(failures.count == 1)
        #expect(failures.first?.contains("shrank while it was read, from 1") == true)
    }

    @Test func aRecordingOfEvemuThatShrinksIsAnError() throws {
        var text = """
            # EVEMU 1.3
            N: An accelerometer
            I: 0018 0000 0000 0000
            P: 40 00 00 00 00 00 00 00
            B: 00 09 00 00 00 00 00 00 00
            B: 03 07 00 00 00 00 00 00 00
            A: 00 -512 512 0 0 256
            A: 01 -512 512 0 0 256
            A: 02 -512 512 0 0 256

            """
        for row in 0..<40_000 {
            let time = "\(row / 100).\(String(row % 100 + 100).dropFirst())0000"
            for axis in 0..<3 { text += "E: \(time) 0003 000\(axis) 0\(250 + (row + axis) % 7)\n" }
            text += "E: \(time) 0000 0000 0000\n"
        }
        let file = try TemporaryFile(text)
        let (_, failures) = try read(file.path, .serial) { #expect(truncate(file.path, 400_000) == 0) }
        #expect(failures.count == 1)
        #expect(failures.first?.contains("shrank while it was read") == true, "\(failures)")
    }

    @Test func processorsAreSharedAmongFiles() {
        func threads(_ processors: Int, _ files: Int) -> Int {
            Chunking(processorCount: processors, fileCount: files).threadCount
        }
        #expect(threads(1, 1) == 1)
        #expect(threads(2, 1) == 2)
        #expect(threads(2, 2) == 2)
        #expect(threads(2, 3) == 1)
        #expect(threads(8, 2) == 5)
        #expect(threads(64, 1) == Chunking.mostThreads)
    }
}
