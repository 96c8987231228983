package import Binnacle
package import LinuxSystem
package import TableReading

/// One kind of thing that a handler does: what its section may say, and what is made of it.
///
/// A new one is a file with a type that conforms, and its place in ``HandlerActions``.
package protocol HandlerAction: Sendable {
    /// The key that chooses it, such as `log`.
    static var key: String { get }
    /// How the key is written, for messages that show what would be right.
    static var example: String { get }
    /// The further keys of a section that belong to it.
    static var furtherKeys: [String] { get }
    /// Whether it changes something outside this process.
    ///
    /// A replay leaves such handlers out unless it is asked for them, and they never get the events that tell of
    /// handlers: one that fails would be run for its own failure.
    static var actsOnTheWorld: Bool { get }
    /// Whether it is for the headings of one detector, and for nothing else.
    ///
    /// Its section names no kinds of event and no decorators: a decorator that holds back the word that there is no heading
    /// any more would leave the last one in the world.
    static var takesHeadings: Bool { get }

    /// Reads what a section says of it; `nil` when that cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - table: The section.
    ///   - entry: The entry of ``key``.
    init?(reading table: TableReader, at entry: TOMLEntry)

    /// Makes the handler.
    ///
    /// - Parameter context: Where it runs.
    /// - Returns: The handler; `nil` when there is nothing for it to do there.
    func makeHandler(_ context: HandlerContext) -> (any EventHandler)?

    /// Makes a handler that works on a thread of its own in a live run.
    ///
    /// - Parameters:
    ///   - name: The handler's name.
    ///   - report: Takes the events that tell of the handler itself, on any thread.
    ///   - acknowledge: Told of each delivery that the handler is done with, on any thread, when it is a
    ///     ``DeliveringHandler``.
    /// - Returns: The handler; `nil` when it needs to be given a thread.
    /// - Throws: ``SystemError`` when there is no thread left.
    func makeThreadedHandler(
        name: String, report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) -> (any ThreadedHandler)?

    /// What a person should know of it before it runs, each a sentence; said when a configuration is taken over.
    var notices: [String] { get }

    /// Whether another action would do the same.
    func isSame(as other: any HandlerAction) -> Bool
}

extension HandlerAction {
    /// It is for the events that its section names.
    package static var takesHeadings: Bool { false }

    /// There is nothing to know.
    package var notices: [String] { [] }

    /// Has none.
    package func makeThreadedHandler(
        name: String, report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) -> (any ThreadedHandler)? { nil }
}

extension HandlerAction where Self: Equatable {
    /// Whether the other one is of the same kind and says the same.
    package func isSame(as other: any HandlerAction) -> Bool {
        other as? Self == self
    }
}
