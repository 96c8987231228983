/// What was wrong in a trace and was passed over, counted by kind, with the first places of each.
public struct TraceRepairs: Sendable, Equatable {
    /// What can be passed over without losing the rest.
    public enum Kind: String, Sendable, CaseIterable {
        /// A field that should be a number is none.
        case notANumber = "rows skipped: not a number"
        /// NaN or infinity.
        case notFinite = "samples skipped: not finite"
        /// A row that ends before its last column, or an axis without a value.
        case incomplete = "samples skipped: fields missing"
        /// A stamp before that of the stream's previous sample.
        case backwards = "samples skipped: time goes backwards"
        /// A stamp equal to that of the stream's previous sample; the sample is kept.
        case repeated = "samples kept with a repeated stamp"
        /// A last line without its end.
        case torn = "torn last line skipped"
    }

    /// How often each kind occurred.
    public private(set) var counts: [Kind: Int] = [:]
    /// The first places, a few of each kind.
    public private(set) var notices: [TraceNotice] = []

    private static let noticesPerKind = 3

    /// Creates an empty account.
    public init() {}

    /// Whether nothing was wrong.
    public var isEmpty: Bool { counts.isEmpty }

    /// Adds another account, that of another file for instance.
    public mutating func add(_ other: TraceRepairs) {
        counts.merge(other.counts, uniquingKeysWith: +)
        notices += other.notices
    }

    mutating func note(_ kind: Kind, path: String, line: Int, column: Int? = nil, _ message: @autoclosure () -> String)
    {
        let count = counts[kind, default: 0] + 1
        counts[kind] = count
        guard count <= Self.noticesPerKind else { return }
        notices.append(TraceNotice(path: path, line: line, column: column, message: message()))
    }
}
