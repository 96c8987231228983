package import Traces

/// What a person asks of a conversion.
package struct ConvertOptions {
    /// The traces, in the order given.
    package var inputs: [String] = []
    /// The file to write; `-` is standard output.
    package var output = ""
    package var map: ColumnMap?
    /// Whether a file that is there is written over.
    package var replaces = false

    package init() {}
}
