package import Binnacle
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
    /// The kinds of event that it gets, all of one detector that finds headings; `nil` when its section names them.
    ///
    /// A section of such a handler names no kinds and no decorators: a decorator that holds back the event that there is no
    /// heading any more would leave the last heading in the world.
    static var headingKinds: [EventKind]? { get }

    /// Reads what a section says of it; `nil` when that cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - table: The section.
    ///   - entry: The entry of ``key``.
    init?(reading table: TableReader, at entry: TOMLEntry)

    /// What is done with the events.
    ///
    /// - Parameter name: The handler's name.
    /// - Returns: The work, which has not begun.
    func work(for name: String) -> HandlerWork

    /// What a person should know of it before it runs, each a sentence; said when a configuration is taken over.
    var notices: [String] { get }

    /// Whether another action would do the same.
    func isSame(as other: any HandlerAction) -> Bool
}

extension HandlerAction {
    /// It is for the events that its section names.
    package static var headingKinds: [EventKind]? { nil }

    /// There is nothing to know.
    package var notices: [String] { [] }
}

extension HandlerAction where Self: Equatable {
    /// Whether the other one is of the same kind and says the same.
    package func isSame(as other: any HandlerAction) -> Bool {
        other as? Self == self
    }
}
