/// What has seen an event, when that is not a detector in samples.
package enum EventSource: String, FigureWord, CaseIterable {
    /// The sensor's chip, by an event of its own.
    case chip
}
