/// What a configuration file says, checked: every reference leads to a section, every setting can work.
package struct Configuration: Sendable, Equatable {
    /// The sensors, in the order of the file.
    package var sensors: [SensorSection] = []
    /// The detectors of movement, in the order of the file.
    package var motions: [MotionSection] = []
    /// The detectors of the heading, in the order of the file.
    package var norths: [NorthSection] = []
    /// The handlers, in the order of the file.
    package var handlers: [HandlerSection] = []

    /// The most bytes a file may have.
    package static let largestSize = 1 << 20

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
        guard text.count <= largestSize else { throw .file(path: path, .tooLarge(limit: largestSize)) }
        let diagnostics = DiagnosticCollector(path: path)
        var configuration = Configuration()
        do throws(TOMLDocument.SyntaxError) {
            let document = try TOMLDocument(parsing: text)
            let reader = ConfigurationReader(entries: document.entries(), diagnostics: diagnostics)
            configuration = reader.read()
        } catch {
            diagnostics.report(at: error.position, error.message)
        }
        if let error = diagnostics.error() { throw error }
        return configuration
    }
}
