package import Binnacle
package import EventSocket
import PlainText
package import Store
package import TableReading

/// A checked configuration: all references and settings are valid.
package struct Configuration: Sendable {
    /// The sensors, in the order of the files.
    package var sensors: [SensorSection] = []
    /// The detectors of movement, in the order of the files.
    package var motions: [MotionSection] = []
    /// The detectors of the heading, in the order of the files.
    package var norths: [NorthSection] = []
    /// The handlers, in the order of the files.
    package var handlers: [HandlerSection] = []
    /// The place of the device; `nil` when it is unknown, and headings are magnetic.
    package var position: PositionSection?
    /// The event store; `nil` for none.
    package var store: EventStoreSettings?
    /// The socket for clients; `nil` for none.
    package var socket: SocketSettings?
    /// The files, in the order in which they were read.
    package var files: [String] = []

    /// The maximum number of files.
    package static let mostFiles = 100

    /// A configuration without any section.
    package init() {}

    /// Parses and checks the text of a file; `path` is its name in messages.
    ///
    /// - Throws: ``ConfigurationError`` with all errors in the text, or with the syntax error.
    package static func parse(_ text: [UInt8], path: String) throws(ConfigurationError) -> Configuration {
        try parse([(path, text)], path: path, folder: "")
    }

    /// Parses and checks the texts of several files, of which later ones complete earlier ones.
    private static func parse(
        _ texts: [(path: String, bytes: [UInt8])], path: String, folder: String
    ) throws(ConfigurationError) -> Configuration {
        let diagnostics = DiagnosticCollector(path: path, files: texts.map { $0.path })
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
        configuration.files = texts.map { $0.path }
        return configuration
    }
}

extension Configuration: Equatable {
    /// Whether both have the same sections, whatever their files.
    package static func == (left: Configuration, right: Configuration) -> Bool {
        left.sensors == right.sensors && left.motions == right.motions && left.norths == right.norths
            && left.handlers == right.handlers && left.position == right.position && left.store == right.store
            && left.socket == right.socket
    }
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

    /// The kinds of sample that detectors need of a sensor.
    package func kinds(of sensor: String) -> [SampleKind] {
        needs.filter { $0.sensor == sensor }.map(\.kind)
    }
}

extension Configuration {
    /// The number of sections, on one line.
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
    /// The default folder of the daemon's configuration.
    package static let standardPath = "/etc/binnacle"

    /// Reads and checks a file, or a folder with its drop-ins.
    ///
    /// A folder is read as its `binnacle.toml`, which may be absent, and its `conf.d/*.toml` in the order of the bytes
    /// of their names. A later file completes and replaces the sections of the earlier ones key by key.
    ///
    /// - Parameters:
    ///   - path: The file or the folder.
    ///   - mayWait: Whether the file may be a pipe, which is waited for.
    /// - Returns: The configuration of all files.
    /// - Throws: ``ConfigurationError`` when a file cannot be read, or with all errors in the files.
    package static func read(path: String, mayWait: Bool = true) throws(ConfigurationError) -> Configuration {
        // The system would end the path at a NUL, and open another file than the named one.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .file(path: path, .missing) }
        guard ConfigurationFolder.exists(at: path) else {
            let bytes = try ConfigurationFile.contents(of: path, mayWait: mayWait)
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            return try parse([(path, bytes)], path: path, folder: folder)
        }
        let folder = path.hasSuffix("/") ? path : path + "/"
        let texts = try ConfigurationFolder.files(in: folder).map { file throws(ConfigurationError) in
            (path: file, bytes: try ConfigurationFile.contents(of: file, mayWait: false))
        }
        return try parse(texts, path: path, folder: folder)
    }
}
