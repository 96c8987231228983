import EventSocket
import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// A process that has no descriptor left.
@Suite struct FewDescriptorsTests {
    private static let few = FewDescriptors("BINNACLE_FEW_DESCRIPTORS")

    @Test(.enabled(if: !few.isInside)) func aServerWithoutDescriptorsWaitsForOne() throws { try Self.few.run("inside") }

    @Test(.enabled(if: few.isInside)) func inside() throws {
        let server = try TestServer()
        let good = try server.client()
        try good.subscribe()
        var clients: [RawClient] = []
        while let client = try? server.client() { clients.append(client) }
        let message = "no connection can be taken: Too many open files"
        try server.wait("it has none left") { server.notes.said.withLock { $0.contains(message) } }
        // No client waits, and the server does not keep the processor busy.
        let before = processorSeconds()
        for number in UInt64(1)...100 {
            server.publish()
            #expect(try good.sequences(1) == [number])
            usleep(10_000)
        }
        #expect(processorSeconds() - before < 0.7)
        #expect(server.notes.said.withLock { $0.count } < 10)
        clients = []
        let late = try server.client()
        try late.subscribe()
        server.publish()
        #expect(try late.sequences(1) == [101])
    }

    private func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        let parts = [usage.ru_utime, usage.ru_stime].map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }
        return parts[0] + parts[1]
    }
}
