import Binnacle

/// Reads samples from an open device, on the event thread.
protocol SensorReader: AnyObject {
    /// The descriptor to poll; `nil` when the samples come through the mailbox.
    var descriptor: Int32? { get }
    /// Whether it is read at intervals, without polling its descriptor.
    var isTimed: Bool { get }
    /// The time of the last sample on CLOCK_MONOTONIC.
    var lastArrivalNanoseconds: Int64 { get }
    /// When to read without a wake-up; `nil` if not needed.
    var deadlineNanoseconds: Int64? { get }
    /// The usual distance between samples; `nil` until it is known.
    var intervalNanoseconds: Double? { get }
    /// The time without a sample after which the device counts as silent; `nil` when silence is normal.
    var stallNanoseconds: Int64? { get }

    /// Moves the available samples into a delivery.
    ///
    /// - Parameters:
    ///   - delivery: A delivery with space in the batches of the device's streams.
    ///   - places: The place in the delivery of each of the device's streams.
    ///   - arrival: The current time on CLOCK_MONOTONIC.
    /// - Returns: Whether more samples may be available now.
    /// - Throws: ``SensorFailure`` when the device can no longer be read; samples already in the delivery are valid.
    func read(into delivery: SampleDelivery, at places: [Int], arrival: Int64) throws(SensorFailure) -> Bool

    /// Returns a notice for the user, once.
    func takeNotice() -> String?
}

extension SensorReader {
    var isTimed: Bool { false }
}
