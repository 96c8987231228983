import Binnacle
import Glibc
import TestSupport
import Testing
import Traces

/// Arrow streams that are cut off, lie about themselves, or become shorter.
@Suite struct ArrowDamageTests {
    private let streams = makeStreams([("c", .magnetometer), ("a", .accelerometer)])
    private let arrivals = (0..<24).map { Arrival($0 % 2, Int64($0 * 1000), Float($0) * 0.1, -1.5e-5, 300) }

    /// Where the body of a message ends at the latest: where the next one begins.
    private func ends(_ bytes: [UInt8]) -> [Int] { bytes.messages.dropFirst().map(\.start) }

    @Test func everyBeginningOfAFileIsReadUpToItsLastWholeMessage() throws {
        // Two batches in each of three groups.
        let bytes = try arrowBytes(arrivals, streams, flushed: 1, capacity: 4)
        let starts = bytes.messages.map(\.start)
        #expect(starts.count == 8)
        for cut in 8..<bytes.count {
            let file = try TemporaryFile(Array(bytes[..<cut]))
            guard cut >= starts[2] else {
                // Within the schema, or within the first batch.
                let error = try #require(throws: TraceError.self) {
                    let collected = Collected(try TraceSource(paths: [file.path]))
                    if let failure = collected.failures.first { throw failure }
                }
                #expect(error.category == .data)
                #expect(cut < starts[1] ? error.message.contains("schema") : error.message.contains("no usable sample"))
                continue
            }
            let source = try TraceSource(paths: [file.path])
            let collected = Collected(source)
            let whole = starts.filter { $0 <= cut }.count - 2
            // A group's batches hold every other of its eight samples.
            var expected = Array(arrivals.prefix(whole / 2 * 8))
            if whole % 2 == 1 { expected += arrivals.dropFirst(whole / 2 * 8).prefix(8).filter { $0.stream == 0 } }
            #expect(collected.arrivals == expected, "\(cut)")
            #expect(collected.failures.isEmpty)
            #expect(source.repairs.counts == (starts.contains(cut) ? [:] : [.tornBatch: 1]), "\(cut)")
        }
    }

    /// With the end of the stream, which takes 8 bytes, and without.
    @Test(arguments: [0, 8])
    func aTailThatWasNeverWrittenIsTorn(cut: Int) throws {
        let bytes = try arrowBytes(arrivals, streams, flushed: 1, capacity: 4)
        let file = try TemporaryFile(bytes.dropLast(cut) + Array(repeating: 0, count: 5000))
        let source = try TraceSource(paths: [file.path])
        let collected = Collected(source)
        #expect(collected.arrivals == arrivals && collected.failures.isEmpty)
        #expect(source.repairs.counts == [.tornBatch: 1])
        #expect(source.repairs.notices[0].message.contains("the file ends with 5000 zero bytes"))
    }

    /// Pages of a batch that never reached the disk, from its first byte or from within its stamps on; the batches behind it did.
    @Test(arguments: [0, 1, 2, 3, 4, 5], [0, 40]) func aBatchOfZeroBytesIsSkippedAndSaid(batch: Int, kept: Int) throws {
        var bytes = try arrowBytes(arrivals, streams, flushed: 1, capacity: 4)
        let message = bytes.messages[batch + 1]
        let end = batch + 2 < bytes.messages.count ? bytes.messages[batch + 2].start : bytes.count
        for index in message.bodyStart + kept..<end { bytes[index] = 0 }
        for groups in [true, false] {
            let file = try TemporaryFile(groups ? bytes : bytes.withoutGroups)
            let source = try TraceSource(paths: [file.path])
            let collected = Collected(source)
            // A group's two batches hold every other of its eight samples.
            let lost = (0..<24).filter { $0 / 8 == batch / 2 && $0 % 2 == batch % 2 }
            #expect(collected.failures.isEmpty, "\(collected.failures)")
            #expect(collected.arrivals == arrivals.indices.filter { !lost.contains($0) }.map { arrivals[$0] })
            #expect(source.repairs.counts == [.tornBatch: 1])
            #expect(
                source.repairs.notices.map(\.message) == [
                    "message at byte \(message.start): its 4 rows end in zero bytes, as a power failure leaves them: skipped"
                ])
        }
    }

    /// Where the type of a message stands: the byte of the field `header_type` of its flat table.
    private func typePlace(_ bytes: [UInt8], _ start: Int) -> Int {
        let metadata = start + 8
        let table = metadata + Int(bytes.word(metadata))
        let layout = table - Int(Int32(bitPattern: bytes.word(table)))
        return table + Int(UInt16(truncatingIfNeeded: bytes.word(layout + 6)))
    }

    /// A reader that passed over such a batch would lose its samples without an error.
    @Test(arguments: [UInt8(0), 2, 4, 5, 200]) func aMessageThatTheFileCannotHaveIsAnError(_ type: UInt8) throws {
        let original = try arrowBytes(arrivals, streams, flushed: 1, capacity: 4)
        for message in original.messages.dropFirst().dropLast() where original.word(message.start + 4) != 0 {
            var bytes = original
            let place = typePlace(bytes, message.start)
            #expect(bytes[place] == 3)
            bytes[place] = type
            let file = try TemporaryFile(bytes)
            let error = try #require(throws: TraceError.self) {
                let collected = Collected(try TraceSource(paths: [file.path]))
                if let failure = collected.failures.first { throw failure }
            }
            #expect(error.category == .data && error.message.contains("type \(type)"), "\(error)")
        }
    }

    /// As a tool writes that puts two recordings together and keeps the metadata of the first.
    @Test func samplesOfASensorThatIsNotDescribedAreAnError() throws {
        let bytes = try arrowBytes(arrivals, streams, flushed: 1, capacity: 4)
        let file = try TemporaryFile(bytes.replacing("binnacle.sensor.1.", with: "binnacle.sensor.7."))
        let error = try #require(throws: TraceError.self) {
            let collected = Collected(try TraceSource(paths: [file.path]))
            if let failure = collected.failures.first { throw failure }
        }
        #expect(error.message.contains("sensor 1, which the schema does not describe"), "\(error)")
    }

    @Test func lyingMetadataNeverCrashes() throws {
        let bytes = try arrowBytes(Array(arrivals.prefix(8)), streams)
        let extremes: [UInt32] = [
            0, 1, 2, 4, 8, 0x7F, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFC, 0xFFFF_FFFF,
        ]
        var outcomes = (good: 0, bad: 0)
        for message in bytes.messages {
            for offset in stride(from: message.start, to: min(message.bodyStart, bytes.count), by: 4) {
                let old = bytes.word(offset)
                for word in extremes + [old &+ 1, old &- 1, old &+ 4, old &- 4, old &* 2, old << 16, old.byteSwapped] {
                    var lie = bytes
                    lie.setWord(offset, word)
                    let file = try TemporaryFile(lie)
                    guard let source = try? TraceSource(paths: [file.path]) else {
                        outcomes.bad += 1
                        continue
                    }
                    let collected = Collected(source)
                    // There are no more rows than these, whatever is said of them.
                    #expect(collected.samples.reduce(0) { $0 + $1.count } <= 16)
                    if collected.failures.isEmpty { outcomes.good += 1 } else { outcomes.bad += 1 }
                }
            }
        }
        #expect(outcomes.good > 100 && outcomes.bad > 1000, "\(outcomes)")
    }

    @Test func aLengthThatNoColumnNeedsIsNoTornTail() throws {
        let bytes = try arrowBytes(arrivals, streams, flushed: 1, capacity: 4)
        var lie = bytes
        let message = bytes.messages[3]
        // The length of the body: it is the only number of its size in the metadata.
        let length = bytes.messages[4].start - message.bodyStart
        let place = try #require(
            stride(from: message.start + 8, to: message.bodyStart, by: 8).first {
                lie.word($0) == UInt32(length) && lie.word($0 + 4) == 0
            })
        lie.setWord(place, 100_000)
        let file = try TemporaryFile(lie)
        let collected = Collected(try TraceSource(paths: [file.path]))
        let failure = try #require(collected.failures.first as? TraceError)
        #expect(failure.message.hasPrefix("message at byte \(message.start): "))
        #expect(collected.arrivals.prefix(8).elementsEqual(arrivals.prefix(8)))
    }

    @Test func filesPutTogetherAreNotReadInSilence() throws {
        let bytes = try arrowBytes(arrivals, streams)
        let file = try TemporaryFile(bytes + bytes)
        let collected = Collected(try TraceSource(paths: [file.path]))
        #expect(collected.arrivals == arrivals)
        #expect((collected.failures.first as? TraceError)?.message.contains("convert") == true)
        let unfinished = try TemporaryFile(bytes.dropLast(8) + bytes)
        let other = Collected(try TraceSource(paths: [unfinished.path]))
        #expect((other.failures.first as? TraceError)?.message.contains("second schema") == true)
    }

    @Test func aFileWithoutSamplesIsNoTrace() throws {
        let file = try TemporaryFile(try arrowBytes([], streams))
        let collected = Collected(try TraceSource(paths: [file.path]))
        #expect((collected.failures.first as? TraceError)?.message == "has a schema and no usable sample")
        let bare = try TemporaryFile(try arrowBytes([], streams).withoutMetadata)
        #expect(throws: TraceError.self) { try TraceSource(paths: [bare.path]) }
    }

    /// Cuts a file after some of it was read.
    private func shrink(to share: Int, groups: Bool, _ chunking: Chunking) throws -> (Collected, Int) {
        let all = steadyArrivals(2, count: 400_000)
        let bytes = try arrowBytes(all, streams)
        let file = try TemporaryFile(groups ? bytes : bytes.withoutGroups)
        let source = TraceSource(try TraceFile(path: file.path, chunking: chunking))
        let delivery = SampleDelivery(streams: source.streams, capacity: 10_000)
        var before = 0
        for _ in 0..<5 {
            delivery.removeAll()
            _ = source.fill(delivery)
            before += delivery.batches[0].count + delivery.batches[1].count
        }
        try #require(truncate(file.path, off_t(bytes.count * share / 100)) == 0)
        // Even what was handed out before can still be looked at.
        for batch in delivery.batches { for index in 0..<batch.count { _ = batch[index] } }
        delivery.removeAll()
        return (Collected(source), before)
    }

    @Test(arguments: [0, 1, 10, 50, 99], [(true, 1), (false, 1), (true, 3), (false, 3)])
    func aFileThatShrinksIsAnErrorAndNotTheEnd(share: Int, form: (groups: Bool, threads: Int)) throws {
        let (collected, before) = try shrink(to: share, groups: form.groups, .tiny(0, form.threads))
        #expect(before > 50_000)
        #expect(!collected.failures.isEmpty)
        for case let failure as TraceError in collected.failures {
            #expect(failure.message.contains("shrank while it was read"))
            #expect(failure.category == .inputOutput)
        }
        // Nothing that the file does not hold any more was made up.
        #expect(collected.arrivals.isEmpty)
    }

    /// Reads a file that shrank, first one that is known and then one that is not, in a process of its own.
    private static let program = """
        #include "cmappedfile.h"
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            static char bytes[40000];
            int file = open(argv[1], O_RDWR);
            struct cmappedfile mapped;
            if (argc < 2 || write(file, bytes, sizeof bytes) != sizeof bytes) return 1;
            if (cmappedfile_map(file, sizeof bytes, &mapped) != 0) return 2;
            const volatile unsigned char *own = mapped.bytes;
            const volatile unsigned char *other = mmap(NULL, sizeof bytes, PROT_READ, MAP_PRIVATE, file, 0);
            if (own[30000] != 0 || cmappedfile_is_torn(&mapped)) return 3;
            if (ftruncate(file, 5000) != 0) return 4;
            for (int index = 8192; index < 40000; index++) if (own[index] != 0xFF) return 5;
            if (!cmappedfile_is_torn(&mapped) || own[4000] != 0) return 6;
            cmappedfile_release(&mapped, 0, 40000);
            if (own[30000] != 0xFF) return 7;
            cmappedfile_unmap(&mapped);
            puts("known");
            fflush(stdout);
            return other[30000];
        }
        """

    @Test func aLostPageIsReplacedAndASignalThatIsNotOursStaysDeadly() throws {
        let folder = try TemporaryFolder(["main.c": Self.program, "file": ""])
        let source = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Sources/CMappedFile"
        // The toolchain's own clang; where swift is a link into the toolchain, clang stands beside its target.
        let clang = #"clang=$(command -v clang) || clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang;"#
        let compiler = Child(
            ["sh", "-c", clang + #"exec "$clang" "$@""#, "sh"]
                + ["-O1", "-o", folder.path + "/main", "-I\(source)/include", folder.path + "/main.c"]
                + ["\(source)/cmappedfile.c"])
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        let child = Child([folder.path + "/main", folder.path + "/file"])
        let output = try TestSupport.TemporaryFile()
        child.standardOutput = try output.writer()
        try child.run()
        child.waitUntilExit()
        #expect(try output.text() == "known\n")
        #expect(child.terminationReason == .signal && child.terminationStatus == SIGBUS)
    }
}
