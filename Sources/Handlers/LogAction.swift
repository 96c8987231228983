package import Binnacle
import LinuxSystem
package import PlainText
package import TableReading

/// `log = true`: writes the event to the log.
package struct LogAction: HandlerAction {
    /// The levels of the section, which replace the default ones.
    package let levels: [EventKind: LogLevel]
    /// Those of them whose events do not come.
    private var unheard: [EventKind] = []

    package init(levels: [EventKind: LogLevel] = [:]) {
        self.levels = levels
    }

    package static let row = HandlerRow(
        shown: "log", kinds: nil,
        "Writes the events to systemd's journal under systemd, else to standard error.",
        key: Key("log", .set("true"), "The only value is true."),
        further: [
            Key(
                "levels", .usual("{}"),
                usual: "that of the kind in binnacle-events(7)",
                """
                How urgent a kind of event is in the log, such as { "motion.began" = "notice", "shock" = "warning" }: \
                \(Spelling.alternatives(LogLevel.allCases.map(\.name))).
                """)
        ])
    package static let example = "log = true"
    /// A replay logs as well.
    package static let actsOnTheWorld = false

    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let levels = Self.levels(table)
        guard table.isTrue(entry) else { return nil }
        self.init(levels: levels)
    }

    private static func levels(_ table: TableReader) -> [EventKind: LogLevel] {
        let key = "levels"
        guard let node = table.entry(key)?.node, let entries = table.entries(key, node, of: "levels") else {
            return [:]
        }
        var levels: [EventKind: LogLevel] = [:]
        for entry in entries {
            guard let kind = EventKind(rawValue: entry.key) else {
                // In TOML, a kind without quotes is a table named by the word before the dot.
                let hint = Spelling.hint(for: entry.key, among: EventKind.allCases.map(\.rawValue))
                table.refuse(
                    key, at: entry.keyPosition, "\(Spelling.quoted(entry.key)) is no kind of event",
                    hint: entry.node.isTable ? "quotes keep its name together, as in \"motion.began\"" : hint)
                continue
            }
            guard let word = table.word(entry.key, entry.node, among: LogLevel.allCases.map(\.name)) else { continue }
            levels[kind] = LogLevel(name: word)
        }
        return levels
    }

    package func told(of detectors: [HandledDetector], _ events: HandledEvents) -> LogAction {
        var told = self
        told.unheard = EventKind.allCases.filter { levels[$0] != nil && !events.kinds.contains($0) }
        return told
    }

    package var notices: [String] {
        unheard.map { "`levels` of \"\($0.rawValue)\" has no effect, because `on` has no such event" }
    }

    package func level(of kind: EventKind) -> LogLevel {
        levels[kind] ?? kind.row.level
    }

    package func work(for name: String) -> HandlerWork {
        .immediate { [level] context in
            guard let journal = context.journal else {
                return TextHandler(writer: context.log, prefix: "\(context.name): ")
            }
            return ClosureHandler { event in
                do throws(SystemError) {
                    try journal.write(event, of: name, level: level(event.kind))
                } catch {
                    context.fail("the journal: \(error.reason)")
                }
            }
        }
    }
}
