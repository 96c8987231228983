import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Connections that are accepted.
@Suite struct StreamAcceptorTests {
    /// The system has the same error number for no waiting connection and for no thread.
    @Test func aConnectionThatCannotBeServedPausesTheOthers() throws {
        let all = try NetworkAddress.resolve(host: "127.0.0.1", port: 0, type: SOCK_STREAM, isOwn: true)
        let listener = try #require(all.first).listen(sendBuffer: 65_536, backlog: 8)
        let acceptor = try StreamAcceptor(listener, try Epoll())
        let address = try NetworkAddress(of: listener.raw)
        let client = try address.makeSocket(SOCK_STREAM)
        _ = address.withPointer { connect(client.raw, $0, $1) }
        let failure = SystemError(code: EAGAIN, call: "pthread_create")
        var count = 0
        var answer: SystemError?
        try waitUntil("a connection") {
            answer = acceptor.accept { (_: Descriptor) throws(SystemError) in
                count += 1
                throw failure
            }
            return count > 0
        }
        #expect(answer == failure && acceptor.resumeTime != nil)
        acceptor.resume()
        let next = acceptor.accept { _ in }
        #expect(next == nil && acceptor.resumeTime == nil)
    }
}
