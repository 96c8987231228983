package import Binnacle
package import EventSocket
import PlainText
package import Store
package import TableReading

/// What the files of a configuration say, checked: every reference leads to a section, every setting can work.
package struct Configuration: Sendable {
    /// The sensors, in the order of the files.
    package var sensors: [SensorSection] = []
    /// The detectors of movement, in the order of the files.
    package var motions: [MotionSection] = []
    /// The detectors of the heading, in the order of the files.
    package var norths: [NorthSection] = []
    /// The handlers, in the order of the files.
    package var handlers: [HandlerSection] = []
    /// Where the device is; `nil` when that is not known, and headings are magnetic.
    package var position: PositionSection?
    /// Where events are kept; `nil` keeps none.
    package var store: EventStoreSettings?
    /// Where others ask for events; `nil` answers nobody.
    package var socket: SocketSettings?
    /// The files it was read from, in the order in which they were read.
    package var files: [String] = []

    /// The most files there may be.
    package static let mostFiles = 100

    /// A configuration without any section.
    package init() {}

    /// Checks a text and turns it into a configuration.
    ///
    /// - Parameters:
    ///   - text: The file's bytes.
    ///   - path: What the file is called in messages.
    /// - Returns: The sections, each in the order of the file.
    /// - Throws: ``ConfigurationError`` with everything that is wrong with the text. After a syntax error nothing
    ///   else is looked for.
    package static func parse(_ text: [UInt8], path: String) throws(ConfigurationError) -> Configuration {
        try parse([ConfigurationText(path: path, bytes: text)], path: path, folder: "")
    }

    /// Checks the texts of several files, of which later ones complete earlier ones.
    ///
    /// - Parameters:
    ///   - texts: The files.
    ///   - path: What was to be read.
    ///   - folder: What relative paths are relative to: nothing, or a path that ends with a slash.
    /// - Returns: The sections, each in the order of the files.
    /// - Throws: ``ConfigurationError`` with everything that is wrong with the texts. After syntax errors nothing else
    ///   is looked for.
    static func parse(
        _ texts: [ConfigurationText], path: String, folder: String
    ) throws(ConfigurationError) -> Configuration {
        let diagnostics = DiagnosticCollector(path: path, files: texts.map(\.path))
        var entries: [TOMLEntry] = []
        for (file, text) in texts.enumerated() {
            guard text.bytes.count <= ConfigurationFile.largestSize else {
                throw .file(path: text.path, .tooLarge(limit: ConfigurationFile.largestSize))
            }
            do throws(TOMLDocument.SyntaxError) {
                let document = try TOMLDocument(parsing: text.bytes, file: file)
                entries.complete(with: document.entries())
            } catch {
                diagnostics.report(at: error.position, error.message)
            }
        }
        if let error = diagnostics.error() { throw error }
        var configuration = ConfigurationReader(entries: entries, folder: folder, diagnostics: diagnostics).read()
        if let error = diagnostics.error() { throw error }
        configuration.files = texts.map(\.path)
        return configuration
    }
}

extension Configuration: Equatable {
    /// Whether both say the same, whichever files say it.
    package static func == (left: Configuration, right: Configuration) -> Bool {
        left.sensors == right.sensors && left.motions == right.motions && left.norths == right.norths
            && left.handlers == right.handlers && left.position == right.position && left.store == right.store
            && left.socket == right.socket
    }
}

/// One file of a configuration.
package struct ConfigurationText {
    /// What it is called in messages.
    package let path: String
    /// What it says.
    package let bytes: [UInt8]
}

extension Configuration {
    /// A stream that a detector needs.
    package typealias Need = (sensor: String, kind: SampleKind, by: String)

    /// The streams that the detectors need, each once, in the order of the sensors in the configuration.
    package var needs: [Need] {
        var needs: [Need] = []
        for motion in motions { needs.append((motion.accelerometer, .accelerometer, "motion.\(motion.name)")) }
        for north in norths {
            needs.append((north.accelerometer, .accelerometer, "north.\(north.name)"))
            needs.append((north.magnetometer, .magnetometer, "north.\(north.name)"))
        }
        return sensors.flatMap { sensor in
            SampleKind.allCases.compactMap { kind in needs.first { $0.sensor == sensor.name && $0.kind == kind } }
        }
    }

    /// What detectors need of a sensor.
    package func kinds(of sensor: String) -> [SampleKind] {
        needs.filter { $0.sensor == sensor }.map(\.kind)
    }
}

extension Configuration {
    /// What is in it, on one line.
    package var summary: String {
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        let parts = [
            count(sensors.count, "sensor"), count(motions.count, "motion detector"),
            count(norths.count, "north detector"), count(handlers.count, "handler"),
        ]
        let origin = files.count > 1 ? ", in \(files.count) files" : ""
        return "ok: " + parts.joined(separator: ", ") + origin
    }
}

extension Configuration {
    /// Where the daemon's configuration is, unless somebody names another place.
    package static let standardPath = "/etc/binnacle"

    /// Reads and checks a file, or a folder with its drop-ins.
    ///
    /// A folder is read as its `binnacle.toml`, which may be absent, and its `conf.d/*.toml` in the order of the bytes
    /// of their names. A later file completes the sections of the earlier ones key by key, and replaces what they say.
    ///
    /// Nothing is kept open.
    ///
    /// - Parameters:
    ///   - path: The file or the folder.
    ///   - mayWait: Whether in place of a file a pipe will do, which is waited for.
    /// - Returns: What all files say together.
    /// - Throws: ``ConfigurationError`` when a file cannot be read, or with everything that is wrong with them.
    package static func read(path: String, mayWait: Bool = true) throws(ConfigurationError) -> Configuration {
        // The system would end the path at a NUL, and open another file than the one that was named.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .file(path: path, .missing) }
        guard ConfigurationFolder.exists(at: path) else {
            let text = ConfigurationText(path: path, bytes: try ConfigurationFile.contents(of: path, mayWait: mayWait))
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            return try parse([text], path: path, folder: folder)
        }
        let folder = ConfigurationFolder(path: path)
        var texts: [ConfigurationText] = []
        for file in try folder.files() {
            texts.append(ConfigurationText(path: file, bytes: try ConfigurationFile.contents(of: file, mayWait: false)))
        }
        return try parse(texts, path: path, folder: folder.base)
    }
}
