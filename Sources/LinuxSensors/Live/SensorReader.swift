import Binnacle

/// Takes samples from an open device, on the event thread.
protocol SensorReader: AnyObject {
    /// What to wait for; `nil` when the samples come through the mailbox.
    var descriptor: Int32? { get }
    /// Whether it is looked at by the clock, and waiting for the descriptor would only cost.
    var isTimed: Bool { get }
    /// When the device last said something, on CLOCK_MONOTONIC.
    var lastArrivalNanoseconds: Int64 { get }
    /// When to look without being woken; `nil` when there is no need.
    var deadlineNanoseconds: Int64? { get }
    /// How far samples lie apart, when the device has a rhythm.
    var intervalNanoseconds: Double? { get }
    /// After so long without a sample something is wrong; `nil` when silence means nothing.
    var stallNanoseconds: Int64? { get }

    /// Moves what is there into a delivery.
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
