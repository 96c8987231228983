import Synchronization

/// Passes a value from one thread to another; only one of them has it at a time, so it need not be Sendable.
package final class Transfer<Value>: Sendable {
    private let value: Mutex<Value?>

    /// Holds a value until it is taken.
    package init(_ value: consuming sending Value) {
        self.value = Mutex(value)
    }

    /// Takes the value; `nil` when it was taken.
    package func take() -> sending Value? {
        value.withLock { value in
            let taken = value
            value = nil
            return taken
        }
    }
}
