package import Handlers
import MQTT
import PlainText
package import TableReading

package enum HandlerActions {
    /// The actions, in the order of messages.
    package static let all: [any HandlerAction.Type] = [
        LogAction.self, OutputAction.self, CommandAction.self,
        HTTPAction.self, MQTTAction.self, NMEAAction.self, SignalKAction.self, FileAction.self,
    ]

    /// The keys of all actions, each once.
    package static let keys: [String] = all.flatMap { [$0.key] + $0.furtherKeys }.reduce(into: []) { keys, key in
        if !keys.contains(key) { keys.append(key) }
    }

    /// Reads the action of a handler; `nil` when there is none that can be used, which is then reported.
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
        // All of them, so that errors in superfluous ones are reported as well.
        let actions = chosen.map { $0.type.init(reading: table, at: $0.entry) }
        return actions.first ?? nil
    }

    private static func refuseForeignKeys(_ table: TableReader, _ chosen: [any HandlerAction.Type]) {
        for key in keys
        where table.entry(key) != nil && !chosen.contains(where: { $0.key == key || $0.furtherKeys.contains(key) }) {
            let owners = all.filter { $0.furtherKeys.contains(key) }.map { "`\($0.key)`" }
            let names = chosen.map { "`\($0.key)`" }
            table.refuse(
                key, meaninglessFor: Spelling.alternatives(names), with: chosen.map { $0.key },
                hint: "it is for \(Spelling.alternatives(owners))")
        }
    }
}
