/// What was wrong in a trace and was passed over, counted by kind, with the first places of each.
public struct TraceRepairs: Sendable, Equatable {
    /// What can be passed over without losing the rest.
    public enum Kind: String, Sendable, CaseIterable {
        /// A field that should be a number is none.
        case notANumber = "not a number: skipped"
        /// NaN or infinity.
        case notFinite = "not finite: skipped"
        /// A value that no sensor gives.
        case beyondSensors = "beyond any sensor: skipped"
        /// A line that is not what its format wants.
        case damaged = "damaged line: skipped"
        /// A row that ends before its last column, or an axis without a value.
        case incomplete = "fields missing: skipped"
        /// A frame from which the kernel lost events because nobody fetched them in time.
        case dropped = "events lost while it was recorded: frame skipped"
        /// The beginning of a recording of changes, in which an axis has not changed yet; counted once.
        case unknownAxis = "an axis not known yet: no sample"
        /// A stamp before that of the stream's previous sample.
        case backwards = "time goes backwards: skipped"
        /// A stamp far ahead of those before and after it.
        case outlier = "time jumps ahead and back: skipped"
        /// A stamp equal to that of the stream's previous sample; the sample is kept.
        case repeated = "repeated stamp: kept"
        /// A last line without its end.
        case torn = "last line torn: skipped"
        /// A last message of an Arrow stream without its end.
        case tornBatch = "last batch torn: skipped"

        /// Whether it speaks against the file's being a trace: a thousand on end are no trace.
        ///
        /// A sensor that drops out, with NaN or without a value, damages nothing.
        var isDamage: Bool { self == .notANumber || self == .damaged || self == .incomplete }
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

    mutating func note(
        _ kind: Kind, path: String, line: Int?, column: Int? = nil, _ message: @autoclosure () -> String
    ) {
        let count = counts[kind, default: 0] + 1
        counts[kind] = count
        guard count <= Self.noticesPerKind else { return }
        notices.append(TraceNotice(path: path, line: line, column: column, message: message()))
    }
}
