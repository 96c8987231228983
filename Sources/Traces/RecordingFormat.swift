import Binnacle

/// Turns deliveries into the bytes of a recording; one for each format.
protocol RecordingFormat: AnyObject {
    /// How many samples of each stream were taken, by the stream's index.
    var sampleCounts: [Int] { get }

    /// Adds the samples of a delivery in their order of arrival, and writes what has become much.
    func write(_ delivery: SampleDelivery) throws(TraceError)
    /// Writes everything that was added.
    func flush() throws(TraceError)
    /// Writes everything, and what belongs at the end of a whole recording.
    func finish() throws(TraceError)
}
