import Glibc
import LinuxSystem
import PlainText
package import TableReading

/// `file = "/var/log/binnacle/events.jsonl"`: appends the event to a file, on one line.
package struct FileAction: HandlerAction {
    package let path: String
    package let format: EventLineFormat

    package static let row = HandlerRow(
        shown: "history", kinds: "[\"motion.began\", \"motion.ended\"]",
        """
        Appends the events to a file, one line each. A file that was renamed or removed is created \
        again, with the permissions 0640. A failed write is tried again, after 1 s at first, up to every 60 s; \
        "handler.failed" reports each reason once, "handler.recovered" its end.
        """,
        key: Key(
            "file", .usual("\"/var/log/binnacle/events.jsonl\""), usual: "",
            """
            The file. A path that does not begin with / is relative to the folder of the file that has it. The service may write to \
            /var/log/binnacle.
            """),
        further: [formatKey])
    private static let formatKey = Key(
        "format", .usual("\"json\""), usual: "json",
        """
        What a line is: json, the event as a JSON object, or influx, a point of InfluxDB's line protocol, in the measurement \
        binnacle, with the tags kind, detector and sensor and a field for each figure.
        """)
    package static let example = "file = \"/var/log/binnacle/events.jsonl\""
    /// Other programs read the file.
    package static let actsOnTheWorld = true

    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let format =
            table.entry(Self.formatKey.name) == nil
            ? .json : table.choice(Self.formatKey.name, as: EventLineFormat.self)
        guard let path = table.path(Self.key) else { return nil }
        func refuse(_ problem: String, _ hint: String) {
            table.refuse(Self.key, at: entry.node.position, "\(Spelling.quoted(path: path)) \(problem)", hint: hint)
        }
        let status = try? fileStatus(path, followsLink: false)
        guard status?.kind != S_IFLNK else {
            refuse("is a symbolic link", "it is not written through: name the file that it leads to")
            return nil
        }
        guard !path.hasSuffix("/"), status?.isFolder != true else {
            let folder = path.hasSuffix("/") ? path : path + "/"
            refuse("is a directory", "the path of a file in it, such as \(folder)events.jsonl")
            return nil
        }
        guard status?.isRegular != false else {
            refuse("is no regular file", "events are appended to a regular file, or to a new one")
            return nil
        }
        table.warnIfUnusable(path, entry.node, type: (S_IFREG, "file"))
        guard let format else { return nil }
        self.path = path
        self.format = format
    }

    /// Two writers would mix their lines.
    package var exclusivePlaces: [(words: String, key: String, name: String, hint: String?)] {
        [("file", Self.key, path.plainPath, nil)]
    }

    package var writtenFile: String? { path }

    package func work(for name: String) -> HandlerWork {
        .threaded(FileAppender.plan(path, as: format))
    }
}
