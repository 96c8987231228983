import Binnacle
import PlainText
import TableReading

extension CommandSettings {
    /// The keys of a section that say how its program is run.
    static let keys = [
        "timeout_s", "kill_after_s", "concurrent", "queue", "retries", "retry_s", "output_bytes", "environment",
    ]

    /// Reads the settings, with the default for each key that is absent or refused.
    init(reading table: TableReader) {
        self.init()
        timeout = table.positiveSeconds("timeout_s") ?? timeout
        killDelay = table.seconds("kill_after_s") ?? killDelay
        concurrentLimit = table.integer("concurrent", in: 1...64) ?? concurrentLimit
        queueLimit = table.integer("queue", in: 1...100_000) ?? queueLimit
        retryLimit = table.integer("retries", in: 0...100) ?? retryLimit
        outputLimit = table.integer("output_bytes", in: 0...65_536) ?? outputLimit
        readRetryDelay(table)
        readEnvironment(table)
    }

    private mutating func readRetryDelay(_ table: TableReader) {
        let key = "retry_s"
        guard let delay = table.positiveSeconds(key) else { return }
        guard delay <= Self.longestRetryDelay else {
            table.refuse(
                key, "is longer than \(Self.longestRetryDelay.components.seconds) s, the longest pause there is")
            return
        }
        guard table.entry("retries") != nil else {
            table.refuse(key, "has no effect without `retries`", hint: "such as retries = 3")
            return
        }
        retryDelay = delay
    }

    private mutating func readEnvironment(_ table: TableReader) {
        let key = "environment"
        guard let node = table.entry(key)?.node, let variables = table.entries(key, node, of: "strings") else { return }
        for variable in variables {
            guard Self.isVariable(variable.key) else {
                table.refuse(
                    key, at: variable.keyPosition, "\(Spelling.quoted(variable.key)) cannot be a variable's name",
                    hint: "letters, digits and _, not beginning with a digit")
                continue
            }
            guard !variable.key.hasPrefix("BINNACLE_") else {
                table.refuse(
                    key, at: variable.keyPosition, "\(Spelling.quoted(variable.key)) is taken",
                    hint: "variables that begin with BINNACLE_ tell of the event")
                continue
            }
            environment[variable.key] = table.string(variable.key, variable.node, mayBeEmpty: true)
        }
    }

    /// Whether a name is what POSIX allows for a variable that a shell can read.
    private static func isVariable(_ name: String) -> Bool {
        guard let first = name.utf8.first, !isDigit(first) else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
            default: isDigit(byte)
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
