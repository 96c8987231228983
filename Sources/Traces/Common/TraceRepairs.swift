/// Defects that were skipped or repaired, counted by kind, with the first places of each.
package struct TraceRepairs: Sendable, Equatable {
    /// The kinds of defects that do not end the reading.
    package enum Kind: String, Sendable, CaseIterable {
        /// A field that should be a number is not one.
        case notANumber = "not a number: skipped"
        /// NaN or infinity.
        case notFinite = "not finite: skipped"
        /// A time that nanoseconds in 64 bits cannot count.
        case beyondTime = "time beyond the years 1677 to 2262: skipped"
        /// A value beyond the range of any sensor.
        case beyondSensors = "beyond any sensor: skipped"
        /// A sample whose axes are all the same number, one that programs write for a missing value.
        case placeholder = "a number in place of a missing value: skipped"
        /// A line that does not follow its format.
        case damaged = "damaged line: skipped"
        /// A row that ends before its last column, or a missing axis.
        case incomplete = "fields missing: skipped"
        /// A row with a time and without a value of any sensor, as a program writes NaN or another sensor's rows.
        case empty = "no value of a sensor: skipped"
        /// A frame from which the kernel dropped events because they were not read in time.
        case dropped = "events lost while it was recorded: frame skipped"
        /// The start of an evemu recording, before each axis has changed once; counted once.
        case unknownAxis = "an axis not known yet: no sample"
        /// A stamp before that of the stream's previous sample.
        case backwards = "time goes backwards: skipped"
        /// The first row behind the end of the counter that the times come from; it is kept.
        case continued = "time counter began again: continued"
        /// A stamp far ahead of those before and after it.
        case outlier = "time jumps ahead and back: skipped"
        /// A stamp equal to that of the stream's previous sample; the sample is kept.
        case repeated = "repeated stamp: kept"
        /// A last line without its end.
        case torn = "last line torn: skipped"
        /// The first samples of a pipe contradict the unit that the header states; they are kept.
        case contradicted = "values contradict the unit that is stated: kept"
        /// Two files of different kinds of sensors have no time in common; both are played.
        case apart = "files without a common time: kept"
        /// A last message of an Arrow stream without its end.
        case tornBatch = "last batch torn: skipped"

        /// The name of the case, such as `not_finite`.
        fileprivate var word: String {
            "\(self)".reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
        }

        /// Whether a thousand in a row mean that the file is not a trace.
        ///
        /// A sensor that fails, with NaN or without a value, is not damage.
        var isDamage: Bool { [.notANumber, .beyondTime, .damaged, .incomplete].contains(self) }
    }

    /// The number of skipped occurrences of each kind, by words for programs, such as `not_finite`.
    package var skippedCounts: [String: Int] {
        var words: [String: Int] = [:]
        for (kind, count) in counts where ![.continued, .repeated, .contradicted, .apart].contains(kind) {
            words[kind.word] = count
        }
        return words
    }

    /// The number of occurrences of each kind, in words.
    package var counted: [String] {
        Kind.allCases.compactMap { kind in counts[kind].map { "\($0) × \(kind.rawValue)" } }
    }

    package private(set) var counts: [Kind: Int] = [:]
    /// The first few places of each kind.
    package private(set) var notices: [TraceNotice] = []

    private static let noticesPerKind = 3

    package init() {}

    /// Adds the counts and notices of another file.
    package mutating func add(_ other: TraceRepairs) {
        counts.merge(other.counts, uniquingKeysWith: +)
        notices += other.notices
    }

    mutating func record(
        _ kind: Kind, path: String, line: Int?, column: Int? = nil, _ message: @autoclosure () -> String
    ) {
        let count = counts[kind, default: 0] + 1
        counts[kind] = count
        guard count <= Self.noticesPerKind else { return }
        notices.append(TraceNotice(path: path, line: line, column: column, message: message()))
    }
}
