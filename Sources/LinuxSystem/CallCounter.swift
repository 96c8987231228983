import CLinux
import Glibc

/// Counts how often the calling thread enters a function, by a breakpoint that the processor itself looks after.
///
/// Nothing is changed in the program, and what is not called costs nothing. A machine has a few of them, four on x86-64,
/// and a container may not be allowed any.
package final class CallCounter {
    private let file: Descriptor

    /// Begins to count.
    ///
    /// - Parameter function: The name of a function that the dynamic linker knows.
    /// - Throws: ``SystemError`` when the function is not there, or the kernel does not allow it.
    package convenience init(of function: String) throws(SystemError) {
        try self.init(function, at: dlsym(nil, function))
    }

    /// A counter of the weak references that are loaded.
    ///
    /// - Throws: ``SystemError`` when the program has none to load, or the kernel does not allow it.
    package static func weakLoads() throws(SystemError) -> CallCounter {
        try CallCounter("swift_weakLoadStrong", at: clinux_weak_load())
    }

    private init(_ name: String, at address: UnsafeRawPointer?) throws(SystemError) {
        guard let address else { throw SystemError(code: ENOENT, call: "dlsym", path: name) }
        file = Descriptor(owning: try systemCall("perf_event_open", path: name) { clinux_count_calls(address) })
    }

    /// How often it was entered so far.
    package var count: Int {
        var value: UInt64 = 0
        return read(file.raw, &value, 8) == 8 ? Int(value) : 0
    }
}
