package import EventSocket
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
