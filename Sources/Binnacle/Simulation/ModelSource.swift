/// The samples of a ``MotionModel`` one after the other, without end, and as soon as they are asked for.
///
/// Stamps begin at 0.
package final class ModelSource: SampleSource {
    /// The streams, in the order of the pipeline.
    package let streams: [SampleStream]

    private let model: MotionModel
    private let grid: SampleGrid
    private var nextIndex: Int64 = 0

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - sensor: Whose samples they are.
    ///   - kinds: What it measures.
    ///   - settings: How it moves.
    /// - Precondition: ``SimulationSettings/problems()`` finds none.
    package init(_ sensor: Sensor, kinds: [SampleKind], settings: SimulationSettings) {
        streams = SampleStream.ordered(kinds.map { (sensor, $0) })
        model = MotionModel(settings)
        grid = SampleGrid(startNanoseconds: 0, rateHz: settings.rateHz)
    }

    /// Delivers as many samples as fit, the same number of each stream.
    package func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        for _ in 0..<delivery.capacity {
            let time = grid.timeNanoseconds(at: nextIndex)
            for stream in streams {
                let vector = model.sample(stream.kind, at: nextIndex)
                delivery[stream.id]?.append(timeNanoseconds: time, x: vector.x, y: vector.y, z: vector.z)
            }
            nextIndex += 1
        }
        return .samples
    }
}
