/// Passes on the samples of some streams, as a detector that finds nothing; it stands in a pipeline only while they are wanted.
package final class SampleTap: DrivenDetector {
    /// A stream, and what its samples are known by.
    package typealias Source = (stream: StreamID, origin: SampleOrigin)

    package let name = "samples"
    /// None: the failure of a stream is reported by others.
    package let streams: [SampleStream] = []
    package let isDetecting = true
    private let sources: [Source]
    private let receive: (SampleOrigin, SampleColumns) -> Void

    /// `receive` is given the samples of each stream in a delivery, at least one, which are valid during the call.
    package init(_ sources: [Source], receive: @escaping (SampleOrigin, SampleColumns) -> Void) {
        self.sources = sources
        self.receive = receive
    }

    package func startDetection() {}
    package func stopDetection() {}
    package func didLose(_ streams: [SampleStream], because error: any Error) {}

    package func process(_ delivery: SampleDelivery) {
        for source in sources {
            if let batch = delivery[source.stream], !batch.isEmpty { receive(source.origin, batch.columns) }
        }
    }
}
