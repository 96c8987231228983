import Foundation
import LinuxSensors
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// The threads for what may block.
@Suite struct DeviceWorkersTests {
    /// Holds threads up until it is opened.
    private final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var inside = 0
            var mostInside = 0
            var passed = 0
        }
        private let state = Mutex(State())

        var inside: Int { state.withLock { $0.inside } }
        var mostInside: Int { state.withLock { $0.mostInside } }
        var passed: Int { state.withLock { $0.passed } }
        func open() { state.withLock { $0.isOpen = true } }

        func pass() {
            state.withLock { state in
                state.inside += 1
                state.mostInside = max(state.mostInside, state.inside)
            }
            try? waitUntil("the gate to open") { state.withLock { $0.isOpen } }
            state.withLock { state in
                state.inside -= 1
                state.passed += 1
            }
        }
    }

    /// udev may report any number of devices, and each of them may be asleep.
    @Test func aThousandDevicesAreExaminedByAFewThreads() throws {
        let workers = DeviceWorkers()
        let gate = Gate()
        for _ in 0..<1000 { try workers.examine { gate.pass() } }
        try waitUntil("the threads") { gate.inside == DeviceWorkers.mostExaminers }
        // A device that hangs delays no opening.
        let opened = Mutex(false)
        try workers.start { opened.withLock { $0 = true } }
        try waitUntil("an opening") { opened.withLock { $0 } }
        gate.open()
        try waitUntil("all of them") { gate.passed == 1000 }
        #expect(gate.mostInside == DeviceWorkers.mostExaminers)
        // The threads have ended or will, and the next device gets one.
        try workers.examine { gate.pass() }
        try waitUntil("one more") { gate.passed == 1001 }
    }

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    private final class Device: Sendable {
        let released: Flag
        init(_ released: Flag) { self.released = released }
        deinit { released.isSet.withLock { $0 = true } }
    }

    /// A device that is still held could not be opened again.
    @Test func whatWorkHoldsIsReleasedBeforeItsEndIsReported() throws {
        let workers = DeviceWorkers()
        let released = Flag()
        let seen = Mutex<Bool?>(nil)
        try Self.start(workers, Device(released)) { seen.withLock { $0 = released.isSet.withLock { $0 } } }
        try waitUntil("the report") { seen.withLock { $0 } != nil }
        #expect(seen.withLock { $0 } == true)
    }

    private static func start(
        _ workers: DeviceWorkers, _ device: consuming Device, then report: @escaping @Sendable () -> Void
    ) throws {
        let held = consume device
        try workers.start({ [held] in usleep(held.released.isSet.withLock { $0 } ? 0 : 50_000) }, then: report)
    }
}
