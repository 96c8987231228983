import Binnacle
import PlainText
import TableReading

/// A decorator: its name, its required keys, its documentation, and its reader.
private struct DecoratorRow: Sendable {
    let name: String
    let keys: [String]
    let example: String
    let text: String
    let read: @Sendable (TableReader) -> DecoratorSettings?
}

extension DecoratorSettings {
    private static let rows = [
        DecoratorRow(
            name: "debounce", keys: ["for_s"], example: "{ debounce = { for_s = 2 } }",
            text: "passes an event when none of its kind and detector came within for_s seconds before it"
        ) { $0.positiveSeconds("for_s").map(DecoratorSettings.debounce) },
        DecoratorRow(
            name: "min_duration", keys: ["for_s"], example: "{ min_duration = { for_s = 5 } }",
            text:
                "passes a begin once its state has lasted longer than for_s seconds, which have to be more than quiet_s or dwell_s, "
                + "after which an end is told; drops begin and end of a shorter one"
        ) { $0.positiveSeconds("for_s").map(DecoratorSettings.minimumDuration) },
        DecoratorRow(
            name: "rate_limit", keys: ["per_minute"], example: "{ rate_limit = { per_minute = 6 } }",
            text: "passes at most per_minute events in any minute"
        ) { $0.integer("per_minute", in: 1...highestCount).map(DecoratorSettings.rateLimit) },
        DecoratorRow(
            name: "pace", keys: ["interval_s"], example: "{ pace = { interval_s = 0.5 } }",
            text: "passes at most one event of a kind and detector in interval_s seconds: the latest, always the last, "
                + "unless that has ended"
        ) { $0.positiveSeconds("interval_s").map(DecoratorSettings.pace) },
        DecoratorRow(
            name: "quiet_hours", keys: ["from", "to"],
            example: "{ quiet_hours = { from = \"22:00\", to = \"07:00\" } }",
            text: "drops events whose own time is between two local times; to is excluded, and may be on the next day",
            read: quietHours),
        DecoratorRow(
            name: "quorum", keys: ["count", "window_s"], example: "{ quorum = { count = 2, window_s = 1 } }",
            text: "makes one quorum.reached of the begins of count sensors within window_s seconds"
        ) { table in
            let count = table.integer("count", in: 1...highestCount)
            guard let window = table.positiveSeconds("window_s"), let count else { return nil }
            return .quorum(count: count, window: window)
        },
        DecoratorRow(
            name: "coalesce", keys: ["window_s"], example: "{ coalesce = { window_s = 5 } }",
            text:
                "joins the events of a kind and detector within window_s seconds into one that says how many, as count or as joined"
        ) { $0.positiveSeconds("window_s").map(DecoratorSettings.coalesce) },
        DecoratorRow(
            name: "count", keys: ["every"], example: "{ count = { every = 10 } }",
            text: "passes every n-th event of a kind and detector, with its ordinal"
        ) { $0.integer("every", in: 1...highestCount).map(DecoratorSettings.count) },
    ]

    static let row = Key(
        "decorate", .usual("[\n" + rows.map { "    \($0.example),\n" }.joined() + "]"), usual: "none",
        """
        Decorators between the events and the action, in the order in which they get an event. Times are those of \
        the samples; quiet hours are of the wall clock, which the events of a replay do not have, and which pass there.

        Where a decorator goes by kind and detector, an event without a detector, such as sensor.inactive, counts by \
        kind and sensor or handler. No decorator holds back or drops handler.armed and handler.disarmed.

        \(rows.map { "  \($0.name)  \($0.text)" }.joined(separator: "\n"))
        """)

    private static let highestCount = counts.upperBound

    static func read(_ section: TableReader) -> [DecoratorSettings] {
        let nodes = section.array("decorate", of: "tables") ?? []
        return nodes.compactMap { read($0, of: section) }
    }

    private static func read(_ node: TOMLNode, of section: TableReader) -> DecoratorSettings? {
        let names = rows.map(\.name)
        guard let outer = section.table("decorate", node, title: "decorate", allowed: names) else { return nil }
        guard outer.keyCount == 1 else {
            section.refuse(
                "decorate", at: node.position, "a decorator is a table with one key, this one has \(outer.keyCount)",
                hint: "such as \(rows[0].example)")
            return nil
        }
        guard let row = rows.first(where: { outer.entry($0.name) != nil }), let inner = outer.entry(row.name)?.node,
            let table = outer.table(row.name, inner, title: row.name, allowed: row.keys)
        else { return nil }
        for key in row.keys where table.entry(key) == nil { table.report(missing: key, "write \(row.example)") }
        return row.read(table)
    }

    @Sendable
    private static func quietHours(_ table: TableReader) -> DecoratorSettings? {
        let start = minute("from", table)
        guard let end = minute("to", table), let start else { return nil }
        guard start != end else {
            // Equal times could mean never or always.
            table.refuse(
                "to", "is the same time as from",
                hint: "leave quiet_hours out for none; `enabled = false` switches a handler off")
            return nil
        }
        return .quietHours(startMinute: start, endMinute: end)
    }

    /// Reads a time such as `22:00` as minutes since midnight.
    private static func minute(_ key: String, _ table: TableReader) -> Int? {
        guard let node = table.entry(key)?.node,
            let text = table.expect(node.string, key, node, "a string such as \"22:00\"")
        else { return nil }
        let digits = text.utf8.map { Int($0) - 48 }
        guard digits.count == 5, digits[2] == 10, [0, 1, 3, 4].allSatisfy({ (0...9).contains(digits[$0]) }),
            case let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4]),
            hour < 24, minute < 60
        else {
            table.refuse(
                key, at: node.position, "\(Spelling.quoted(text)) is not a time of day",
                hint: "from \"00:00\" to \"23:59\"")
            return nil
        }
        return hour * 60 + minute
    }
}

extension DecoratorSettings {
    /// Whether it is about how long a state lasts.
    var isMinimumDuration: Bool { if case .minimumDuration = self { true } else { false } }
}
