import PlainText
package import TableReading

/// `command = [...]`: runs a program.
package struct CommandAction: HandlerAction {
    package let template: CommandTemplate
    package let settings: CommandSettings

    package init(_ template: CommandTemplate, settings: CommandSettings = CommandSettings()) {
        self.template = template
        self.settings = settings
    }

    package static let example = "command = [\"/path/to/program\"]"
    package static let row = HandlerRow(
        shown: "alarm", kinds: "[\"motion.began\"]", "Runs a program for each event.",
        key: Key(
            "command", .usual("[\"/usr/local/bin/alarm\", \"{sensor}\", \"--peak={peak_g}\"]"), usual: "",
            """
            The program's path and its arguments; a path that does not begin with / is relative to the folder of the file \
            that has it. There is no shell in between. In an argument, {name} becomes \
            what the event says, or nothing when it does not say it; {{ and }} are single braces. The names are: \
            \(CommandPlaceholder.all.map(\.name).joined(separator: ", ")). The program also gets the event as JSON on its \
            standard input.
            """),
        further: CommandSettings.rows.map { $0.key(CommandSettings()) })
    /// A program may have any effect.
    package static let actsOnTheWorld = true

    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let template = CommandTemplate(reading: entry.node, of: table)
        // A key that is missing or invalid keeps its default.
        var settings = CommandSettings()
        table.read(CommandSettings.rows, into: &settings)
        guard let template else { return nil }
        self.init(template, settings: settings)
    }

    package func work(for name: String) -> HandlerWork {
        let template = template
        return .threaded(
            CommandSupervisor.plan(
                program: template.program, arguments: { template.arguments(for: $0) }, settings: settings))
    }
}

extension CommandSettings {
    static let rows: [SettingRow<CommandSettings>] = [
        SettingRow(
            "timeout_s", \.timeout, .positiveSeconds,
            "The longest it may run. Then it and the processes of its group are asked to end (SIGTERM)."),
        SettingRow(
            "kill_after_s", \.killDelay, .seconds,
            "The time after that until those that still run are killed (SIGKILL)."),
        SettingRow(
            "concurrent", \.concurrentLimit, .integer(in: 1...64),
            "The most that run at the same time. With 1 the events stay in order, except that others go on before a retry."
        ),
        SettingRow(
            "queue", \.queueLimit, .integer(in: 1...100_000),
            """
            How many events may wait for their program. Those beyond wait in the store; without one they are dropped, and \
            "events.dropped" says how many.
            """),
        SettingRow(
            "retries", \.retryLimit, .integer(in: 0...100),
            "The number of times that a failed program is run again for the same event."),
        SettingRow(
            "retry_s", \.retryDelay, shown: .usual("1"), usual: "1",
            "Up to 60. The pause before the first retry; each further one is twice as long.", read: readRetryDelay),
        SettingRow(
            "output_bytes", \.outputLimit, .integer(in: 0...65_536),
            "How much of the end of its output is kept for command.finished and command.failed."),
        SettingRow(
            "environment", \.environment, shown: .usual("{}"), usual: "{}",
            """
            Variables for the program, such as { LANG = "C.UTF-8", ALARM_LEVEL = "2" }, besides a few of the daemon's own \
            and those of the event (BINNACLE_KIND and so on).
            """, read: readEnvironment),
    ]

    private static func readRetryDelay(_ table: TableReader, _ key: String, _ settings: inout CommandSettings) {
        guard let delay = table.positiveSeconds(key) else { return }
        guard delay <= longestRetryDelay else {
            table.refuse(key, "is longer than \(longestRetryDelay.components.seconds) s, the longest pause there is")
            return
        }
        guard table.entry("retries") != nil else {
            table.refuse(key, "has no effect without `retries`", hint: "such as retries = 3")
            return
        }
        settings.retryDelay = delay
    }

    private static func readEnvironment(_ table: TableReader, _ key: String, _ settings: inout CommandSettings) {
        guard let node = table.entry(key)?.node, let variables = table.entries(key, node, of: "strings") else { return }
        for variable in variables {
            guard isVariable(variable.key) else {
                table.refuse(
                    key, at: variable.keyPosition, "\(Spelling.quoted(variable.key)) cannot be a variable's name",
                    hint: "letters, digits and _, not beginning with a digit")
                continue
            }
            guard !variable.key.hasPrefix("BINNACLE_") else {
                table.refuse(
                    key, at: variable.keyPosition, "\(Spelling.quoted(variable.key)) is taken",
                    hint: "variables that begin with BINNACLE_ describe the event")
                continue
            }
            settings.environment[variable.key] = table.string(variable.key, variable.node, mayBeEmpty: true)
        }
    }

    /// Whether POSIX allows a variable of this name.
    private static func isVariable(_ name: String) -> Bool {
        guard let first = name.utf8.first, !first.isDigit else { return false }
        return name.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
    }
}

/// The settings for a handler's programs; the defaults are those of the configuration.
package struct CommandSettings: Sendable, Equatable {
    /// The maximum number of programs that run at the same time.
    package var concurrentLimit = 1
    /// The maximum number of events that wait for their program; more are dropped, counted and reported.
    package var queueLimit = 100
    /// How long a program may run before its process group gets SIGTERM.
    package var timeout: Duration = .seconds(30)
    /// The time from SIGTERM to SIGKILL.
    package var killDelay: Duration = .seconds(2)
    /// The number of retries of a failed program for the same event.
    package var retryLimit = 0
    /// The pause before the first retry; it doubles with each retry, up to ``longestRetryDelay``.
    package var retryDelay: Duration = .seconds(1)
    /// The maximum size of the kept end of the output, in bytes.
    package var outputLimit = 1024
    /// Variables for the program, in addition to those of the event.
    package var environment: [String: String] = [:]

    static let longestRetryDelay: Duration = .seconds(60)

    package init() {}

    /// The pause after a failed attempt, counted from 1; `nil` after the last one.
    package func retryDelay(after attempt: Int) -> Duration? {
        guard attempt <= retryLimit else { return nil }
        return min(min(retryDelay, Self.longestRetryDelay) * (1 << min(attempt - 1, 30)), Self.longestRetryDelay)
    }
}
