import Binnacle
import EventSocket
import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// Clients that do what they should not: the other clients may not notice.
@Suite struct HostileClientTests {
    /// Checks that the server still serves another client.
    private func expectService(_ server: TestServer, _ client: RawClient) throws {
        let last = server.publish()
        #expect(try client.sequences(1) == [last])
    }

    private func goodClient(_ server: TestServer) throws -> RawClient {
        let client = try server.client()
        try client.subscribe()
        return client
    }

    private func expectError(_ client: RawClient, _ part: String) throws {
        switch try client.message() {
        case .error(let message, _), .busy(let message): #expect(message.contains(part), "\(message)")
        default: Issue.record("no error")
        }
        #expect(client.line() == nil)
    }

    @Test func rubbishIsRefusedWithItsPlace() throws {
        let server = try TestServer()
        let good = try goodClient(server)
        let client = try server.client()
        client.send(line: #"{"subscribe":{"kinds":["motion.begun"]}}"#)
        let answer = try client.message()
        #expect(
            answer.json
                == #"{"error":{"message":"unknown kind `motion.begun` (did you mean `motion.began`?)","column":24}}"#)
        #expect(client.line() == nil)
        for bytes: [UInt8] in [[0, 255, 10], [10], Array("GET / HTTP/1.1\r\n\r\n".utf8)] {
            let other = try server.client()
            other.send(bytes)
            guard case .error = try other.message() else {
                Issue.record("not refused: \(bytes)")
                return
            }
        }
        try expectService(server, good)
    }

    @Test func aLineWithoutEndIsCutOff() throws {
        let server = try TestServer()
        let good = try goodClient(server)
        let client = try server.client()
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        var taken = 0
        while taken < 100, client.send(piece) { taken += 1 }
        // Some of it is in the kernel's buffers before the server closes the connection.
        #expect(taken < 3)
        try expectError(client, "at most 65536 bytes")
        try expectService(server, good)
    }

    /// A client that writes all of its request before it reads is told what is wrong with it.
    @Test func aRequestThatIsTooLongIsAnsweredBeforeTheEnd() throws {
        let server = try TestServer()
        let client = try server.client()
        let request = [UInt8](repeating: UInt8(ascii: "x"), count: 600_000) + [10]
        // Nothing is lost to a connection that was closed meanwhile.
        for start in stride(from: 0, to: request.count, by: 50_000) {
            #expect(client.send(Array(request[start..<min(request.count, start + 50_000)])), "at \(start)")
            usleep(1000)
        }
        try expectError(client, "at most 65536 bytes")
        try server.wait("it is gone") { server.server.statistics.connectionCount == 0 }
    }

    @Test func theLongestLineIsRead() throws {
        let server = try TestServer()
        let client = try server.client()
        let text = #"{"status":{}}"#
        let padding = String(repeating: " ", count: SocketRequest.longestLine - 1 - text.utf8.count)
        client.send(line: text + padding)
        #expect(client.line() == #"{"status":{"uptime_s":1}}"#)
        let longer = try server.client()
        longer.send(line: text + padding + " ")
        try expectError(longer, "at most 65536 bytes")
    }

    @Test func aRequestInPiecesIsRead() throws {
        let server = try TestServer()
        let client = try server.client()
        for byte in Array("{\"subscribe\":{}}\n".utf8) {
            client.send([byte])
            usleep(500)
        }
        #expect(try client.message().json.hasPrefix(#"{"subscribed":"#))
    }

    @Test func halfALineAndSilenceIsClosed() throws {
        // A good client has to ask within this time, on a busy machine, too.
        let server = try TestServer(requestTime: .seconds(2))
        let good = try goodClient(server)
        let client = try server.client()
        client.send(Array(#"{"subscribe"#.utf8))
        let silent = try server.client()
        try expectError(client, "no request has come in time")
        try expectError(silent, "no request has come in time")
        try expectService(server, good)
    }

    @Test func halfALineAndItsEndIsRefused() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(Array(#"{"subscribe":{}}"#.utf8))
        shutdown(client.raw, Int32(SHUT_WR))
        try expectError(client, "no line end")
    }

    @Test func whoeverGoesOnTalkingIsDropped() throws {
        let server = try TestServer()
        let good = try goodClient(server)
        let client = try goodClient(server)
        client.send(line: #"{"subscribe":{}}"#)
        try expectError(client, "nothing may follow")
        let together = try server.client()
        together.send(Array("{\"subscribe\":{}}\n{\"subscribe\":{}}\n".utf8))
        try expectError(together, "nothing may follow")
        try expectService(server, good)
        try server.wait("they are gone") { server.server.statistics.connectionCount == 1 }
    }

    @Test func oneDirectionMayBeShutDown() throws {
        let server = try TestServer()
        let client = try goodClient(server)
        shutdown(client.raw, Int32(SHUT_WR))
        for _ in 0..<3 { try expectService(server, client) }
        // A client that has shut down its reading end is no subscriber any more.
        let deaf = try goodClient(server)
        shutdown(deaf.raw, Int32(SHUT_RD))
        try expectService(server, client)
        try server.wait("it is gone") { server.server.statistics.connectionCount == 1 }
    }

    @Test func openAndCloseInALoop() throws {
        let server = try TestServer()
        let good = try goodClient(server)
        let before = descriptorCount()
        for round in 0..<2000 {
            let client = try server.client()
            if round % 3 == 1 { client.send(line: #"{"subscribe":{}}"#) }
            if round % 3 == 2 { client.send(Array(#"{"subs"#.utf8)) }
        }
        try server.wait("they are gone") { server.server.statistics.connectionCount == 1 }
        try expectService(server, good)
        // Other tests of this process have descriptors, too, but not for long.
        try waitUntil("closed descriptors; \(descriptorCount()), not \(before)") { descriptorCount() < before + 100 }
        // What each of them did is not said for each of them.
        #expect(server.notes.said.withLock { $0.count } < 100)
    }

    @Test func descriptorsThatAreSentAreClosed() throws {
        let server = try TestServer()
        let good = try goodClient(server)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let client = try server.client()
        try sendDescriptor(ends[1], over: client.raw, with: "{\"subscribe\":{}}\n")
        close(ends[1])
        _ = try client.message()
        // The pipe ends, because no process has its other end open any more.
        var ready = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        #expect(poll(&ready, 1, 60_000) == 1)
        #expect(Int32(ready.revents) & Int32(POLLHUP) != 0)
        close(ends[0])
        try expectService(server, client)
        #expect(try good.sequences(1) == [1])
    }

    /// The store reads whatever it was asked for, so it is asked for nothing that a client that is gone has wanted.
    @Test func clientsThatAskForTheHistoryAndLeaveNoRequests() throws {
        let history = FakeHistory(1...2000)
        let server = try TestServer(history: history, startingBehind: 2000)
        history.hold()
        for _ in 0..<20 {
            let client = try server.client()
            _ = try client.subscribe(#""after":0,"follow":false"#)
        }
        try server.wait("they are gone") { server.server.statistics.connectionCount == 0 }
        let client = try server.client()
        _ = try client.subscribe(#""after":1990,"follow":false"#)
        history.release()
        #expect(try client.sequences(10) == Array(1991...2000))
        #expect(history.queries.filter { $0.after == 0 }.count <= 1)
    }

    @Test func connectionsHaveALimit() throws {
        let server = try TestServer { $0.connectionLimit = 3 }
        let clients = try (0..<3).map { _ in try goodClient(server) }
        for _ in 0..<3 {
            let client = try server.client()
            let text = "there are 3 connections already, and no more are allowed"
            #expect(client.line() == #"{"error":{"message":"\#(text)","busy":true}}"#)
            #expect(client.line() == nil)
        }
        try expectService(server, clients[0])
        #expect(server.server.statistics.refusedCount == 3)
        shutdown(clients[1].raw, Int32(SHUT_RDWR))
        try server.wait("there is room again") { server.server.statistics.connectionCount == 2 }
        _ = try goodClient(server)
    }

    @Test func rootAndTheOwnAccountFindAPlaceWhenAllAreTaken() throws {
        let server = try TestServer { ($0.connectionLimit, $0.reservedPlaces) = (2, 1) }
        let clients = try (0..<3).map { _ in try goodClient(server) }
        try expectError(try server.client(), "there are 3 connections already")
        try expectService(server, clients[2])
    }

    /// A client that asks in a loop must not keep the daemon busy.
    @Test func manyWhoAskForTheStatusAreOneQuestion() throws {
        let server = try TestServer()
        let clients = try (0..<50).map { _ in try server.client() }
        for client in clients { client.send(line: #"{"status":{}}"#) }
        for client in clients { #expect(client.line() == #"{"status":{"uptime_s":1}}"#) }
        // One in each tenth of a second; a busy machine may take several of them.
        #expect(server.notes.questions.load(ordering: .relaxed) < 50)
    }

    @Test func theStatusIsAsked() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(line: #"{"status":{}}"#)
        #expect(client.line() == #"{"status":{"uptime_s":1}}"#)
        #expect(client.line() == nil)
    }

    @Test func whatWasPublishedIsGivenBeforeTheEnd() throws {
        let server = try TestServer()
        let client = try goodClient(server)
        let asleep = try goodClient(server)
        server.publish(500)
        server.server.finish(within: .seconds(60))
        #expect(try client.sequences(500) == Array(1...500))
        #expect(try asleep.sequences(500) == Array(1...500))
        #expect(client.line() == nil)
        #expect(asleep.line() == nil)
        #expect(server.server.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
        #expect(!FileManager.default.fileExists(atPath: server.path))
    }

    private func descriptorCount() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    private func sendDescriptor(_ descriptor: Int32, over socket: Int32, with text: String) throws {
        var bytes = Array(text.utf8)
        // A header of a length, a level and a type, and then the number.
        var control = [UInt64](repeating: 0, count: 3)
        try control.withUnsafeMutableBytes { control in
            control.storeBytes(of: 20, toByteOffset: 0, as: Int.self)
            control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            control.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
            control.storeBytes(of: descriptor, toByteOffset: 16, as: Int32.self)
            try bytes.withUnsafeMutableBytes { bytes in
                var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                let count = withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = 24
                    return sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
                }
                try #require(count == bytes.count)
            }
        }
    }
}
