import CBench
import Foundation
import Synchronization
import Testing

/// Confines a thread, and the programs that it starts, to one of the processors that this thread may use.
///
/// - Parameter body: Runs on that thread.
/// - Returns: What the body returns.
/// - Throws: What the body throws.
package func onOneProcessor<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    // A thread that was confined stays so.
    let result = Mutex<Result<Value, any Error>?>(nil)
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        let isConfined = cbench_pin() >= 0
        let value = Result { try body() }
        result.withLock { $0 = isConfined ? value : nil }
        end.signal()
    }
    end.wait()
    return try #require(result.withLock { $0 }, "the thread cannot be confined").get()
}
