/// Iterates over what a daemon sends; for one task.
public struct SubscriptionIterator<Element: Sendable>: AsyncIteratorProtocol {
    private let thread: SubscriptionThread<Element>

    init(_ thread: SubscriptionThread<Element>) {
        self.thread = thread
    }

    /// Waits for the next message.
    ///
    /// - Parameter actor: The caller's actor.
    /// - Returns: The message; `nil` when the task is cancelled.
    /// - Throws: ``EventSubscriptionError``, once; afterwards the result is `nil`.
    public mutating func next(
        isolation actor: isolated (any Actor)?
    ) async throws(EventSubscriptionError) -> Element? {
        try await thread.next()
    }
}
