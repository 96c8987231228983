import Binnacle
import Foundation
import Handlers
import LinuxSystem
import Testing

/// The journal's protocol, spoken to a socket of our own.
@Suite struct JournalTests {
    /// A journal that is started, ended, and started again.
    private final class Journal {
        let path = NSTemporaryDirectory() + "binnacle-journal-" + UUID().uuidString.prefix(8)
        private var descriptor: Int32 = -1

        deinit { stop() }

        func start() throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(code == 0)
        }

        func stop() {
            close(descriptor)
            unlink(path)
        }

        /// The entry that waits; an empty one when there is none.
        func entry() -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return Array(buffer.prefix(max(0, count)))
        }

        func text() -> String { String(decoding: entry(), as: UTF8.self) }
    }

    @Test func aJournalThatWasStartedAnewGetsTheNextEntry() throws {
        let journal = Journal()
        try journal.start()
        let socket = try JournalSocket(path: journal.path)
        try socket.write([("MESSAGE", "one")])
        #expect(journal.text() == "MESSAGE=one\n")
        journal.stop()
        #expect(throws: SystemError.self) { try socket.write([("MESSAGE", "two")]) }
        #expect(throws: SystemError.self) { try socket.write([("MESSAGE", "three")]) }
        try journal.start()
        try socket.write([("MESSAGE", "four")])
        #expect(journal.text() == "MESSAGE=four\n")
        // Without a failure in between.
        journal.stop()
        try journal.start()
        try socket.write([("MESSAGE", "five")])
        #expect(journal.text() == "MESSAGE=five\n")
    }

    @Test func anEntryThatIsTooLargeIsCut() throws {
        let journal = Journal()
        try journal.start()
        let socket = try JournalSocket(path: journal.path)
        try socket.write([("MESSAGE", "short"), ("BINNACLE_OUTPUT", String(repeating: "x", count: 1 << 20))])
        let text = journal.text()
        #expect(text.hasPrefix("MESSAGE=short\nBINNACLE_OUTPUT=xxx"))
        #expect(text.hasSuffix("xxx…\n"))
    }

    @Test func aValueWithLineEndsHasItsLengthBeforeIt() throws {
        let journal = Journal()
        try journal.start()
        try JournalSocket(path: journal.path).write([("A", "b\nC=d"), ("E", "f\0g")])
        let length: [UInt8] = [5, 0, 0, 0, 0, 0, 0, 0]
        #expect(journal.entry() == Array("A\n".utf8) + length + Array("b\nC=d\nE=f\0g\n".utf8))
    }
}
