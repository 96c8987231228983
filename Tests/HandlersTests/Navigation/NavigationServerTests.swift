import Binnacle
import Foundation
import Handlers
import LinuxSystem
import TestSupport
import Testing

/// Sentences for every client that connects.
@Suite struct NavigationServerTests {
    private let sentences = ["$HCHDG,206.7,,,,*41\r\n", "$HCHDM,206.7,M*2A\r\n"]

    private func connected(_ port: Int, receiveBuffer: Int32? = nil, source: UInt32 = 1) throws -> Plotter {
        try #require(Plotter(port, receiveBuffer: receiveBuffer, source: source))
    }

    @Test func everybodyWhoConnectsGetsTheHeading() throws {
        let run = try NavigationRun(.tcp, port: 0)
        let port = try run.waitForPort()
        let plotters = try [connected(port), connected(port)]
        // Nothing is sent before there is a heading.
        try waitUntil("two connections") { run.statistics.clientCount == 2 }
        run.turn(to: 206.7)
        for plotter in plotters {
            try waitUntil("ten sentences") { plotter.lines.count >= 10 }
            #expect(Set(plotter.lines) == Set(sentences))
        }
        let late = try connected(port)
        try waitUntil("sentences for who comes late") { late.lines.count >= 2 }
        #expect(Array(late.lines.prefix(2)) == sentences, "whole, and from the first one on")
        run.turn(to: 101.1)
        for plotter in plotters + [late] { try plotter.wait(for: "$HCHDM,101.1,M*28\r\n") }
        #expect(run.end())
        for plotter in plotters + [late] { try waitUntil("the end") { plotter.isClosed() } }
        #expect(Plotter(port) == nil, "the port is closed")
        #expect(run.reports.all.isEmpty, "\(run.reports.all)")
    }

    @Test func whatAPlotterSaysIsNobodysBusiness() throws {
        let run = try NavigationRun(.tcp, port: 0)
        let plotter = try connected(run.waitForPort())
        run.turn(to: 206.7)
        for _ in 0..<1000 { plotter.say("$ECRMB,A,0.66,L,003,004,4917.24,N,12309.57,W,001.3,052.5,000.5,V*20\r\n") }
        try waitUntil("ten sentences") { plotter.lines.count >= 10 }
        #expect(run.statistics.clientCount == 1)
    }

    @Test func whoSaysNothingMoreStillListens() throws {
        let run = try NavigationRun(.tcp, port: 0)
        let plotter = try connected(run.waitForPort())
        try waitUntil("its connection") { run.statistics.clientCount == 1 }
        plotter.endSaying()
        run.turn(to: 206.7)
        try waitUntil("ten sentences") { plotter.lines.count >= 10 }
        #expect(run.statistics.clientCount == 1)
    }

    @Test func whoHasGoneHasNoPlaceAnyMore() throws {
        let run = try NavigationRun(.tcp, port: 0)
        let port = try run.waitForPort()
        // No heading: nothing is written by which an end could be noticed, but a place that is needed is free.
        for _ in 0..<100 {
            let plotter = try connected(port)
            plotter.say("x")
        }
        let plotter = try connected(port)
        run.turn(to: 206.7)
        try plotter.wait(for: sentences[0])
        try waitUntil("one connection; \(run.statistics)") { run.statistics.clientCount == 1 }
        #expect(run.statistics.refusedCount == 0, "the last ones found the places of those before")
        #expect(run.reports.all.isEmpty)
    }

    @Test func thereAreSoManyPlaces() throws {
        let run = try NavigationRun(.tcp, port: 0)
        let port = try run.waitForPort()
        let limit = NavigationSender.connectionLimit
        var plotters: [Plotter] = []
        for _ in 0..<NavigationSender.addressLimit { plotters.append(try connected(port)) }
        let crowding = try connected(port)
        try waitUntil("the refusal of the address that has most places") { crowding.isClosed() }
        while plotters.count < limit { plotters.append(try connected(port, source: 2)) }
        try waitUntil("all places taken") { run.statistics.clientCount == limit }
        let refused = try connected(port, source: 3)
        try waitUntil("the refusal") { refused.isClosed() }
        #expect(run.statistics.refusedCount == 2)
        run.turn(to: 206.7)
        for plotter in plotters { try plotter.wait(for: sentences[1]) }
        plotters.removeLast()
        try waitUntil("a free place") { run.statistics.clientCount == limit - 1 }
        let next = try connected(port, source: 3)
        try next.wait(for: sentences[1])
    }

    @Test func whoReadsNothingIsDroppedAndKeepsNobodyWaiting() throws {
        let run = try NavigationRun(.tcp, port: 0) { settings, times in
            settings.sending.interval = .milliseconds(1)
            times.patience = 300_000_000
        }
        let port = try run.waitForPort()
        let slow = try connected(port, receiveBuffer: 2048)
        let other = try connected(port)
        run.turn(to: 206.7)
        try waitUntil("that the slow one is dropped; \(run.statistics)") {
            _ = other.isClosed()
            return run.statistics.slowCount == 1
        }
        try waitUntil("the end of its connection") { run.statistics.clientCount == 1 }
        let count = other.lines.count
        try waitUntil("more for the other one") { other.lines.count > count + 10 }
        #expect(Set(other.lines) == Set(sentences), "it never got a part of a sentence")
        try waitUntil("the end of the slow one") { slow.isClosed() }
        #expect(Set(slow.lines).isSubset(of: sentences), "neither did the slow one")
        #expect(run.reports.all.isEmpty)
    }

    private static let few = FewDescriptors("BINNACLE_FEW_DESCRIPTORS_NAVIGATION")

    @Test(.enabled(if: !few.isInside)) func whoFindsNoDescriptorWaitsForOne() throws {
        try Self.few.run("outOfDescriptors")
    }

    @Test(.enabled(if: few.isInside)) func outOfDescriptors() throws {
        let run = try NavigationRun(.tcp, port: 0)
        let port = try run.waitForPort()
        let first = try connected(port)
        run.turn(to: 206.7)
        try first.wait(for: sentences[0])
        var held: [Int32] = []
        while case let copy = dup(STDOUT_FILENO), copy >= 0 { held.append(copy) }
        // The plotter takes the last descriptor, and the kernel its connection.
        close(held.removeLast())
        let second = try connected(port)
        try run.reports.wait("a failure") { $0.contains { $0.kind == .handlerFailed } }
        let reason = try #require(run.reasons.first)
        #expect(reason.hasSuffix(": no connection can be taken: Too many open files"))
        let count = first.lines.count
        try waitUntil("more for the first one") { first.lines.count > count + 10 }
        for copy in held { close(copy) }
        try second.wait(for: sentences[0])
        try run.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
        #expect(run.reports.all.count == 2, "the reason once: \(run.reasons)")
    }

    @Test func aPortThatIsTakenIsToldAndTriedAgain() throws {
        let first = try NavigationRun(.tcp, port: 0)
        let port = try first.waitForPort()
        let second = try NavigationRun(.tcp, port: port)
        try second.reports.wait("a failure") { $0.contains { $0.kind == .handlerFailed } }
        #expect(second.reasons == ["tcp://127.0.0.1:\(port): another program or handler has the port"])
        #expect(first.end())
        try second.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
        let plotter = try connected(port)
        second.turn(to: 206.7)
        try plotter.wait(for: sentences[0])
        #expect(second.reports.of(.handlerFailed).count == 1, "each reason once: \(second.reasons)")
    }

    /// As in a reload: the new one is made before the old one is told to end.
    @Test func aNewHandlerTakesThePortOverWithoutAWord() throws {
        let old = try NavigationRun(.tcp, port: 0)
        let port = try old.waitForPort()
        let plotter = try connected(port)
        old.turn(to: 206.7)
        try plotter.wait(for: sentences[0])
        let new = try NavigationRun(.tcp, port: port) { _, times in
            times.grace = 600_000_000_000
            times.gracePause = 1_000_000
        }
        new.turn(to: 206.7)
        #expect(old.end())
        #expect(try new.waitForPort() == port)
        let next = try connected(port)
        try next.wait(for: sentences[0])
        #expect(new.reports.all.isEmpty, "\(new.reasons)")
    }

    @Test func anAddressOfAnotherMachineIsTold() throws {
        let run = try NavigationRun(.tcp, host: "192.0.2.1", port: 10110)
        try run.reports.wait("a failure") { $0.contains { $0.kind == .handlerFailed } }
        #expect(run.reasons == ["tcp://192.0.2.1:10110: that is no address of this machine"])
        #expect(run.end())
    }

    @Test func eachAddressOfANameIsListenedOn() throws {
        let port = try freePort()
        let run = try NavigationRun(.tcp, host: "localhost", port: port)
        _ = try run.waitForPort()
        var clients: [Descriptor] = []
        for address in try NetworkAddress.resolve(host: "localhost", port: port, type: SOCK_STREAM, isOwn: false) {
            // A machine may have no IPv6.
            let digits = address.host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            guard (try? DatagramReceiver(host: digits)) != nil else { continue }
            let socket = Descriptor(owning: Foundation.socket(address.family, Int32(SOCK_STREAM.rawValue), 0))
            #expect(address.withPointer { connect(socket.raw, $0, $1) } == 0, "\(digits)")
            clients.append(socket)
        }
        try waitUntil("all connections") { run.statistics.clientCount == clients.count }
    }

    @Test func everybodyMayComeByEitherProtocol() throws {
        let run = try NavigationRun(.tcp, host: "::", port: 0)
        try waitUntil("a port, or no IPv6 here") { run.statistics.port != nil || !run.reasons.isEmpty }
        guard let port = run.statistics.port else {
            #expect(run.reasons[0].hasPrefix("tcp://[::]:0: "))
            return
        }
        let plotter = try connected(port)
        run.turn(to: 206.7)
        try plotter.wait(for: sentences[0])
    }
}
