package import Binnacle
import PlainText
package import TableReading

/// One kind of thing that a handler does: what its section may say, and what is made of it.
///
/// A new one is a file with a type that conforms, and its place in ``HandlerActions``.
package protocol HandlerAction: Sendable {
    /// Its keys, and what documents say of it.
    static var row: HandlerRow { get }
    /// How its first key is written, for messages that show what would be right.
    static var example: String { get }
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

/// What documents say of a handler, and its keys.
package struct HandlerRow: Sendable {
    /// The name of its section in the reference file.
    package let shown: String
    /// The kinds of event that its section names there; `nil` when it names none.
    package let kinds: String?
    /// What it does, in paragraphs.
    package let text: String
    /// The key that chooses it.
    package let key: Key
    /// The further keys of a section that belong to it.
    package let further: [Key]

    init(shown: String, kinds: String?, _ text: String, key: Key, further: [Key] = []) {
        self.shown = shown
        self.kinds = kinds
        self.text = text
        self.key = key
        self.further = further
    }
}

extension HandlerAction {
    /// The name of the key that chooses it.
    package static var key: String { row.key.name }

    /// The names of its further keys.
    static var furtherKeys: [String] { row.further.map(\.name) }

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

/// Every kind of thing that a handler can do.
package enum HandlerActions {
    /// The kinds, in the order in which messages name them.
    package static let all: [any HandlerAction.Type] = [
        LogAction.self, OutputAction.self, CommandAction.self, MQTTAction.self, NMEAAction.self, FileAction.self,
    ]

    /// The keys of a section that belong to an action, each once.
    package static let keys: [String] = all.flatMap { [$0.key] + $0.furtherKeys }.reduce(into: []) { keys, key in
        if !keys.contains(key) { keys.append(key) }
    }

    /// Reads the one action of a handler; `nil` when there is none that can be used, which is then reported.
    //
    // Closures instead of key paths: those of a metatype crash the compiler of Swift 6.2.
    package static func read(_ table: TableReader) -> (any HandlerAction)? {
        var chosen: [(type: any HandlerAction.Type, entry: TOMLEntry)] = []
        for type in all {
            if let entry = table.entry(type.key) { chosen.append((type, entry)) }
        }
        chosen.sort { $0.entry.keyPosition < $1.entry.keyPosition }
        guard let first = chosen.first else {
            table.diagnostics.report(
                at: table.position, "\(table.title) does nothing",
                hint: "give it " + Spelling.alternatives(all.map { $0.example }))
            return nil
        }
        for (type, entry) in chosen.dropFirst() {
            let isFar = first.entry.keyPosition.file != entry.keyPosition.file
            let place = table.diagnostics.words(for: first.entry.keyPosition, from: entry.keyPosition)
            table.refuse(
                type.key, at: entry.keyPosition, "\(table.title) has both `\(first.type.key)` and `\(type.key)`",
                hint: "a handler does one thing; make two handlers" + (isFar ? "; `\(first.type.key)` is \(place)" : "")
            )
        }
        refuseForeignKeys(table, chosen.map { $0.type })
        // What is wrong with an action that is one too many is told as well.
        let actions = chosen.map { $0.type.init(reading: table, at: $0.entry) }
        return actions.first ?? nil
    }

    private static func refuseForeignKeys(_ table: TableReader, _ chosen: [any HandlerAction.Type]) {
        for key in keys where !chosen.contains(where: { $0.key == key || $0.furtherKeys.contains(key) }) {
            guard let entry = table.entry(key) else { continue }
            let owners = all.filter { $0.furtherKeys.contains(key) }.map { "`\($0.key)`" }
            let names = chosen.map { "`\($0.key)`" }
            table.refuse(
                key, at: entry.keyPosition, with: chosen.map { $0.key },
                "`\(key)` has no meaning for \(Spelling.alternatives(names))",
                hint: "it is for \(Spelling.alternatives(owners))")
        }
    }
}
