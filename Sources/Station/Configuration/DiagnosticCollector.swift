/// Gathers everything that is wrong with one file.
final class DiagnosticCollector {
    /// The most that is told about one file; a binary file given by mistake has thousands.
    static let limit = 500

    private let path: String
    private var diagnostics: [ConfigurationDiagnostic] = []
    private var omitted = 0

    /// Creates a collector for a file.
    init(path: String) {
        self.path = path
    }

    /// Adds a problem; the sentences are made only when there is room for them.
    func report(
        at position: SourcePosition, _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil
    ) {
        guard diagnostics.count < Self.limit else {
            omitted += 1
            return
        }
        diagnostics.append(
            ConfigurationDiagnostic(path: path, position: position, message: message(), hint: hint()))
    }

    /// The error that holds all problems in the order of the file; `nil` when there was none.
    func error() -> ConfigurationError? {
        guard !diagnostics.isEmpty else { return nil }
        var sorted = diagnostics.sorted { ($0.position, $0.message) < ($1.position, $1.message) }
        if omitted > 0, let last = sorted.last {
            sorted.append(
                ConfigurationDiagnostic(path: path, position: last.position, message: "and \(omitted) more problems"))
        }
        return .contents(path: path, sorted)
    }
}
