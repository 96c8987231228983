/// What a person asks of a recording.
package struct RecordOptions {
    /// The configuration whose sensors are recorded; without one, all that are found.
    package var configurationPath: String?
    /// The sensors that are wanted, by name, label, node or identity; all without any.
    package var sensors: [String] = []
    /// How long; until somebody ends it without.
    package var duration: Duration?
    /// The file; `-` is standard output.
    package var path = ""
    /// Whether a file that is there is written over.
    package var replaces = false
    /// Whether the raw scans are kept beside the samples.
    package var keepsScans = false
    /// The folder under which `/sys` and `/dev` lie; the machine's own without one.
    package var root: String?

    package init() {}
}
