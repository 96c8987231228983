import Foundation
import Glibc
import IIOServer
import Testing

@Suite struct IIORequestTests {
    @Test(
        arguments: [
            ("VERSION", .version), ("version", .version), (" \tPRINT  ", .print), ("EXIT", .exit), ("QUIT", .exit),
            ("HELP", .help),
            ("TIMEOUT 0", .timeout(0)), ("TIMEOUT 3600000", .timeout(3_600_000)),
            ("OPEN iio:device0 50 0000000F", .open(device: "iio:device0", mask: 15)),
            ("CLOSE a", .close(device: "a")), ("READBUF a 800", .readBuffer(device: "a", bytes: 800)),
            ("READ a sampling_frequency", .read(device: "a", .device, attribute: "sampling_frequency")),
            ("READ a INPUT accel_x raw", .read(device: "a", .channel("accel_x"), attribute: "raw")),
            ("READ a OUTPUT x raw", .read(device: "a", .other, attribute: "raw")),
            ("READ a DEBUG direct_reg_access", .read(device: "a", .other, attribute: "direct_reg_access")),
            ("READ a BUFFER watermark", .read(device: "a", .other, attribute: "watermark")),
            ("WRITE a x 3", .write(bytes: 3)), ("WRITE a INPUT accel_x scale 12", .write(bytes: 12)),
            ("WRITEBUF a 3", .writeBuffer), ("GETTRIG a", .trigger(device: "a")), ("SETTRIG a", .setTrigger),
            ("SETTRIG a b", .setTrigger), ("SET a BUFFERS_COUNT 4", .buffers(device: "a")),
        ] as [(String, IIORequest)])
    func requestsOfLibiioAreUnderstood(line: String, request: IIORequest) throws {
        #expect(try IIORequest(parsing: line.utf8) == request)
        #expect(try IIORequest(parsing: Array((line + "\r").utf8)) == request)
    }

    @Test func anEmptyLineIsNoRequest() throws {
        #expect(try IIORequest(parsing: "".utf8) == nil)
        #expect(try IIORequest(parsing: " \r".utf8) == nil)
    }

    @Test(arguments: [
        "x", "ZPRINT", "BINARY", "VERSION 1", "TIMEOUT", "TIMEOUT -1", "TIMEOUT +1", "TIMEOUT 3600001", "TIMEOUT 1 2",
        "TIMEOUT 18446744073709551616", "OPEN a 1", "OPEN a 0 00000001", "OPEN a 1048577 00000001", "OPEN a 1 1",
        "OPEN a 1 00000000", "OPEN a 1 +0000001", "OPEN a 1 0000000100000001", "OPEN a 1 0000000g",
        "OPEN a 1 00000001 CYCLIC",
        "READBUF a", "READBUF a 0", "READBUF a 67108865", "READ a b c", "WRITE a x -1",
        "WRITE a x 99999999999",
        "SET a BUFFERS_COUNT 0", "SET a OTHER 1", "GETTRIG", "OPEN \u{e4} 1 00000001", "a\u{0}b", "1 2 3 4 5 6 7 8",
    ])
    func otherLinesAreMalformed(line: String) {
        #expect(throws: IIOFailure.malformed) { try IIORequest(parsing: line.utf8) }
    }

    @Test(arguments: ["READ a", "READ a INPUT accel_x", "READ a OUTPUT x"])
    func allAttributesAtOnceAreNotThere(line: String) {
        #expect(throws: IIOFailure(ENOSYS)) { try IIORequest(parsing: line.utf8) }
    }

    @Test func theTableOfSecurityHasTheLimits() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../SECURITY.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        func shown(_ count: Int) -> String { count.formatted(.number.locale(Locale(identifier: "en_US"))) }
        for words in [
            "| a connection that asks nothing | \(IIOLimits.firstRequest / 1_000_000_000) s until its first request is understood |",
            "| a request | \(IIOLimits.line) bytes |",
            "| requests that are none, as of a browser | \(IIOLimits.malformed - 1) |",
            "\(shown(IIOLimits.payload)) bytes, read and discarded",
            "\(shown(IIOLimits.samples)) samples, \(IIOLimits.readBytes >> 20) MiB, sent in pieces of \(IIOLimits.piece) samples",
            "after \(IIOLimits.stall / 1_000_000_000) s the connection ends",
            "the client's TIMEOUT, \(IIOLimits.standardTimeout / 1000) s without one",
            "noticed within \(Double(IIOLimits.look) / 1e9) s",
        ] {
            #expect(text.contains(words), "SECURITY.md does not have \(words)")
        }
    }
}
