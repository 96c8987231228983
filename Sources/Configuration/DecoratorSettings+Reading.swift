import Binnacle
import PlainText
import TableReading

extension DecoratorSettings {
    /// A decorator's name, and the keys of its table; all are required.
    private enum Name: String, CaseIterable {
        case debounce
        case rateLimit = "rate_limit"
        case quietHours = "quiet_hours"
        case quorum
        case coalesce
        case count

        var keys: [String] {
            switch self {
            case .debounce: ["for_s"]
            case .rateLimit: ["per_minute"]
            case .quietHours: ["from", "to"]
            case .quorum: ["count", "window_s"]
            case .coalesce: ["window_s"]
            case .count: ["every"]
            }
        }

        var example: String {
            switch self {
            case .debounce: "{ debounce = { for_s = 2 } }"
            case .rateLimit: "{ rate_limit = { per_minute = 6 } }"
            case .quietHours: "{ quiet_hours = { from = \"22:00\", to = \"07:00\" } }"
            case .quorum: "{ quorum = { count = 2, window_s = 1 } }"
            case .coalesce: "{ coalesce = { window_s = 5 } }"
            case .count: "{ count = { every = 10 } }"
            }
        }
    }

    /// The key's row.
    static let row = Key(
        "decorate", .usual("[\n" + Name.allCases.map { "    \($0.example),\n" }.joined() + "]"), usual: "none",
        """
        What stands between the events and the action; the first sees an event first. Times are those of the samples, \
        except for quiet hours.

          debounce  passes an event when none of its kind and detector came within for_s seconds before it
          rate_limit  passes at most per_minute events in any minute
          quiet_hours  drops events between two local times; to is excluded, and may be on the next day
          quorum  makes one quorum.reached of the begins of count sensors within window_s seconds
          coalesce  joins the events of a kind and detector within window_s seconds into one that says how many
          count  passes every n-th event of a kind and detector, with its ordinal
        """)

    /// The highest number a decorator counts to.
    private static let highestCount = 1_000_000

    /// Reads a handler's decorators, in order; what cannot be used is reported and left out.
    static func read(_ section: TableReader) -> [DecoratorSettings] {
        let nodes = section.array("decorate", of: "tables") ?? []
        return nodes.compactMap { read($0, of: section) }
    }

    private static func read(_ node: TOMLNode, of section: TableReader) -> DecoratorSettings? {
        let names = Name.allCases.map(\.rawValue)
        guard let outer = section.table("decorate", node, title: "decorate", allowed: names) else { return nil }
        let known = Name.allCases.compactMap { name in outer.entry(name.rawValue).map { (name, $0.node) } }
        guard outer.keyCount == 1 else {
            section.refuse(
                "decorate", at: node.position, "a decorator is a table with one key, this one has \(outer.keyCount)",
                hint: "such as \(Name.debounce.example)")
            return nil
        }
        guard let (name, inner) = known.first,
            let table = outer.table(name.rawValue, inner, title: name.rawValue, allowed: name.keys)
        else { return nil }
        for key in name.keys where table.entry(key) == nil {
            table.report(missing: key, "write \(name.example)")
        }
        return read(name, table)
    }

    private static func read(_ name: Name, _ table: TableReader) -> DecoratorSettings? {
        switch name {
        case .debounce:
            return table.positiveSeconds("for_s").map(DecoratorSettings.debounce)
        case .rateLimit:
            return table.integer("per_minute", in: 1...highestCount).map(DecoratorSettings.rateLimit)
        case .quietHours:
            return quietHours(table)
        case .quorum:
            let count = table.integer("count", in: 1...highestCount)
            guard let window = table.positiveSeconds("window_s"), let count else { return nil }
            return .quorum(count: count, window: window)
        case .coalesce:
            return table.positiveSeconds("window_s").map(DecoratorSettings.coalesce)
        case .count:
            return table.integer("every", in: 1...highestCount).map(DecoratorSettings.count)
        }
    }

    private static func quietHours(_ table: TableReader) -> DecoratorSettings? {
        let start = minute("from", table)
        guard let end = minute("to", table), let start else { return nil }
        guard start != end else {
            // It could mean never as well as always.
            table.refuse("to", "is the same time as from")
            return nil
        }
        return .quietHours(startMinute: start, endMinute: end)
    }

    /// A time of day such as `22:00`, in minutes since midnight.
    private static func minute(_ key: String, _ table: TableReader) -> Int? {
        guard let node = table.entry(key)?.node else { return nil }
        guard case .string(let text) = node.value else {
            table.refuse(key, node, expected: "a string such as \"22:00\"")
            return nil
        }
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
