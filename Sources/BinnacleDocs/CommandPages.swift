import CommandRows

/// binnacle(1), and a page for each subcommand with many options.
enum CommandPages {
    /// A subcommand with more options gets its own page.
    private static let mostOptions = 5

    /// The pages with their file names.
    static var all: [(name: String, text: String)] {
        [("binnacle.1", overview)]
            + CommandRow.all.filter(hasPage).map { ("\(pageName($0)).1", page(of: $0)) }
    }

    private static func hasPage(_ command: CommandRow) -> Bool { command.options.count > mostOptions }

    private static func pageName(_ command: CommandRow) -> String { "binnacle-\(command.name.rawValue)" }

    private static var overview: String {
        var page = ManualPage(
            "binnacle", section: 1, summary: "sensor events from accelerometers, magnetometers and gyroscopes")
        page.section("SYNOPSIS")
        page.line(
            ".Nm\n.Ar command\n.Op Ar option ...\n.Op Ar argument ...\n.Nm\n.Cm help\n.Op Ar command\n.Nm\n"
                + ".Fl Fl help | Fl Fl version")
        page.section("DESCRIPTION")
        page.line(".Nm")
        page.paragraphs(
            """
            reads accelerometers, magnetometers and gyroscopes, notices when a device is moved, shaken, dropped or struck, \
            where it points, and when it faces a bearing. What it finds goes to a log, to a command, to an MQTT broker, to \
            chart plotters, or to programs at a socket.

            The daemon is the subcommand run. The others query it, record and replay sensors, calibrate them, and check a \
            configuration. Each of them prints its options with --help.
            """)
        for command in CommandRow.all {
            page.line(".Ss \(usage(command))")
            guard !hasPage(command) else {
                page.paragraphs(sentence(command.summary))
                page.line("See\n.Xr \(pageName(command)) 1 .")
                continue
            }
            page.paragraphs(sentence(command.summary) + "\n\n" + command.details)
            page.list(command.options.filter { $0 != .help }.map(term))
        }
        page.section("FILES")
        page.list([
            ("Pa /etc/binnacle/binnacle.toml", "The configuration; see binnacle.toml(5)."),
            ("Pa /etc/binnacle/conf.d/*.toml", "Files that complete it, in the order of their names."),
            ("Pa /var/lib/binnacle/events.db", "The events that the service has kept."),
            ("Pa /var/lib/binnacle/gyroscopes.json", "What the service has learned of gyroscopes and magnetometers."),
            ("Pa /var/lib/binnacle/learned.json", "What detectors have counted or learned."),
            ("Pa /var/lib/binnacle/disarmed.json", "Which handlers are disarmed."),
            ("Pa /run/binnacle/binnacle.sock", "The socket at which the service answers."),
            (
                "Pa ~/.local/state/binnacle/events.db",
                "The events that a daemon of your own has kept; XDG_STATE_HOME moves it."
            ),
            ("Pa $XDG_RUNTIME_DIR/binnacle.sock", "The socket at which a daemon of your own answers."),
        ])
        exitStatus(&page)
        seeAlso(
            &page,
            CommandRow.all.filter(hasPage).map { (pageName($0), 1) } + [("binnacle.toml", 5), ("binnacle-events", 7)])
        return page.text
    }

    private static func page(of command: CommandRow) -> String {
        var page = ManualPage(pageName(command), section: 1, summary: command.summary)
        page.section("SYNOPSIS")
        page.line(".Nm binnacle\n.Cm \(command.name.rawValue)")
        for option in command.options where option != .help {
            page.line(".Op \(synopsis(option))" + (option.isRepeatable ? " ..." : ""))
        }
        if !command.operands.isEmpty { page.line(".Ar \(ManualPage.escaped(command.operands))") }
        page.section("DESCRIPTION")
        page.paragraphs(command.details)
        page.line(".Pp\nThe options are as follows:")
        page.list(command.options.map(term))
        exitStatus(&page)
        seeAlso(&page, [("binnacle", 1), ("binnacle.toml", 5), ("binnacle-events", 7)])
        return page.text
    }

    private static func usage(_ command: CommandRow) -> String {
        ManualPage.escaped(command.name.rawValue + (command.operands.isEmpty ? "" : " " + command.operands))
    }

    private static func synopsis(_ option: OptionRow) -> String {
        "Fl Fl \(option.name)" + (option.argument.map { " Ar " + ManualPage.escaped($0) } ?? "")
    }

    private static func term(_ option: OptionRow) -> (String, String) {
        ((option.letter.map { "Fl \($0) , " } ?? "") + synopsis(option), option.help)
    }

    private static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + "."
    }

    private static func exitStatus(_ page: inout ManualPage) {
        page.section("EXIT STATUS")
        page.list([
            ("0", "Success."), ("1", "status, doctor --measure: something does not work."),
            ("64", "The command line cannot be used."), ("65", "The contents of a file cannot be used."),
            ("66", "There is no such file."), ("69", "A sensor, a device or the daemon is missing."),
            ("70", "A program error."), ("73", "A file cannot be created."), ("74", "Reading or writing failed."),
            ("75", "Another daemon has the event store."),
            ("77", "The user has no permission."), ("78", "The configuration cannot be used, or is not there."),
            (
                "129, 130, 143",
                "Ended as its terminal was closed, by Ctrl-C, or by SIGTERM. The commands run, record and simulate, which are meant to be stopped this way, exit with 0 instead."
            ),
        ])
    }

    private static func seeAlso(_ page: inout ManualPage, _ pages: [(name: String, section: Int)]) {
        page.section("SEE ALSO")
        let sorted = pages.sorted { ($0.section, $0.name) < ($1.section, $1.name) }
        for (number, reference) in sorted.enumerated() {
            page.line(".Xr \(reference.name) \(reference.section)" + (number < pages.count - 1 ? " ," : ""))
        }
    }
}
