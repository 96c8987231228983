import Configuration
import PlainText
import TableReading

/// The commented reference file config/binnacle.toml, and binnacle.toml(5).
enum ConfigurationPages {
    // MARK: - The reference file

    private static let rule = "# " + String(repeating: "-", count: 117)

    /// The commented file that `make install` installs.
    static var reference: String {
        var lines = comment(
            """
            Binnacle's configuration, in TOML. Written by "make documents" from the rows in Sources.

            Every key is here. A key behind "# " is optional and shows its default: remove the "# " to change it. The end of \
            a key's name is its unit: _g is standard gravity (9.80665 m/s²), _s seconds, _deg degrees, _uT microtesla. An \
            unknown key is an error, so that a misspelt one cannot be overlooked; "binnacle check" says what is wrong. \
            binnacle.toml(5) is this text as a manual page.

            Your own changes are best kept in files beside this one, which a new version leaves alone: \
            /etc/binnacle/conf.d/NAME.toml. They are read after this file, in the order of the bytes of their names. Sections \
            are added; a section that is there already is completed key by key, and a later value replaces an earlier one as \
            a whole, also a table such as match. Ready examples are in the folder examples of the documentation.

            You name the sections, with letters, digits, - and _, and there may be many of each kind; [position], [store], \
            [socket] and [dbus] have no name, and there is at most one of each.
            """)
        var title = ""
        for section in ConfigurationReader.rows {
            lines.append("")
            if section.title != title { lines.append(rule) }
            lines += comment("[\(section.title)]\(action(section, behind: title)): \(section.text)")
            if section.title != title { lines.append(rule) }
            title = section.title
            lines += ["", (section.isSet ? "" : "# ") + "[\(section.shown)]"]
            for (number, key) in section.keys.enumerated() {
                let text = [key.facts, key.text].filter { !$0.isEmpty }.joined(separator: " ")
                if !text.isEmpty { lines += (number == 0 ? [] : [""]) + comment(text) }
                lines += setting(key)
            }
            if !section.also.isEmpty { lines += ["", section.also] }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The key of a handler's action, which distinguishes sections with the same title.
    private static func action(_ section: SectionRow, behind title: String) -> String {
        section.title == title ? " with " + (section.keys.first { $0.name != "on" }?.name ?? "") : ""
    }

    private static func setting(_ key: Key) -> [String] {
        switch key.shown {
        case .set(let value): ["\(key.name) = \(value)"]
        case .usual(let value): "\(key.name) = \(value)".split(separator: "\n").map { "# " + $0 }
        case .example(let value): ["# Such as: \(key.name) = \(value)"]
        }
    }

    /// Paragraphs as comments in lines of at most 120 characters; terms of a list stand below one another.
    private static func comment(_ text: String) -> [String] {
        let paragraphs = text.split(separator: "\n\n").map { paragraph in
            let lines = paragraph.split(separator: "\n")
            func parts(_ line: Substring) -> [Substring] { line.dropFirst(2).split(separator: "  ", maxSplits: 1) }
            let width = lines.filter { $0.hasPrefix("  ") }.map { parts($0)[0].count }.max() ?? 0
            return lines.map { line in
                guard line.hasPrefix("  "), case let parts = parts(line), let meaning = parts.last else { return line }
                return "  " + parts[0] + String(repeating: " ", count: width + 2 - parts[0].count) + meaning
            }.joined(separator: "\n")
        }
        return WrappedText.paragraphs(paragraphs.joined(separator: "\n\n"), width: 118).map {
            $0.isEmpty ? "#" : "# " + $0
        }
    }

    // MARK: - The manual page

    static var page: String {
        var page = ManualPage("binnacle.toml", section: 5, summary: "configuration of Binnacle")
        page.section("SYNOPSIS")
        page.line(".Pa /etc/binnacle/binnacle.toml\n.Pp\n.Pa /etc/binnacle/conf.d/*.toml")
        page.section("DESCRIPTION")
        page.paragraphs(
            """
            The configuration is written in TOML. binnacle.toml is read first, then the files of conf.d in the order of the \
            bytes of their names. Sections are added; a section that is there already is completed key by key, and a later \
            value replaces an earlier one as a whole, also a table such as match.

            The end of a key's name is its unit: _g is standard gravity (9.80665 m/s²), _s seconds, _deg degrees, _uT \
            microtesla. An unknown key is an error. "binnacle check" prints everything that is wrong with a configuration, \
            with file, line and column; a running service reads its configuration again when it gets SIGHUP, and keeps the \
            one that it has when the new one cannot be used.

            The sections are named by the user, with 1 to 64 letters, digits, - and _, and there may be many of each kind; \
            [position], [store], [socket] and [dbus] have no name, and there is at most one of each.
            """)
        var title = ""
        for section in ConfigurationReader.rows {
            page.line(".Ss [\(section.title)]\(action(section, behind: title))")
            title = section.title
            page.paragraphs(section.text)
            page.list(
                section.keys.filter { !$0.text.isEmpty }.map { key in
                    let example = (key.text.contains("\n\n") ? "\n\n" : " ") + example(key)
                    return ("Cm \(ManualPage.escaped(key.name))", "\(key.facts) \(key.text)\(example)")
                })
        }
        page.section("FILES")
        page.list([
            ("Pa /etc/binnacle/binnacle.toml", "The configuration; the installed one names every key."),
            ("Pa /etc/binnacle/conf.d/*.toml", "Files that complete it."),
            ("Pa /usr/share/doc/binnacle/examples", "Configurations to begin with."),
        ])
        page.section("EXAMPLES")
        page.paragraphs("A command for each movement of a device, at most six times a minute:")
        page.literal(
            """
            [sensor.chassis]
            source = "auto"

            [motion.moved]
            accelerometer = "chassis"
            threshold_g = 0.1

            [handler.alarm]
            on = ["motion.began"]
            command = ["/usr/local/bin/alarm", "--peak={peak_g}"]
            decorate = [{ rate_limit = { per_minute = 6 } }]
            """)
        page.section("SEE ALSO")
        page.line(".Xr binnacle 1 ,\n.Xr binnacle-run 1 ,\n.Xr binnacle-events 7")
        return page.text
    }

    private static func example(_ key: Key) -> String {
        switch key.shown {
        case .example(let value): "Such as \(value)."
        case .usual(let value) where key.usual != value && !value.contains("\n"): "Such as \(value)."
        default: ""
        }
    }
}
