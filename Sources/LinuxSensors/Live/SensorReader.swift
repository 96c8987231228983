import Binnacle

/// Takes samples from an open device, on the event thread.
protocol SensorReader: AnyObject {
    /// What to wait for; `nil` when the samples come through the mailbox.
    var descriptor: Int32? { get }
    /// Whether it is read at intervals, and its descriptor is not waited for.
    var isTimed: Bool { get }
    /// When the last sample came, on CLOCK_MONOTONIC.
    var lastArrivalNanoseconds: Int64 { get }
    /// When to read without being woken; `nil` when there is no need.
    var deadlineNanoseconds: Int64? { get }
    /// The usual distance between samples, when it is known.
    var intervalNanoseconds: Double? { get }
    /// The time without a sample after which the device counts as silent; `nil` when silence means nothing.
    var stallNanoseconds: Int64? { get }

    /// Moves the samples that are there into a delivery.
    ///
    /// - Parameters:
    ///   - delivery: Has room in the batches of the device's streams.
    ///   - places: For each of the device's streams its place in the delivery.
    ///   - arrival: Now, on CLOCK_MONOTONIC.
    /// - Returns: Whether there may be more at once.
    /// - Throws: ``SensorFailure`` when the device cannot be read any more; what is in the delivery by then is good.
    func read(into delivery: SampleDelivery, at places: [Int], arrival: Int64) throws(SensorFailure) -> Bool

    /// Takes what a person should know, once.
    func takeNotice() -> String?
}

extension SensorReader {
    var isTimed: Bool { false }
}
