/// The beginning or the end of a time in which a source takes no samples because nothing moves, or what a chip has found itself.
///
/// It travels in a ``SampleDelivery``: the beginning after the last samples, the end with the first ones behind it.
package struct SampleRest: Sendable, Equatable {
    /// What has happened.
    package enum Phase: Sendable, Equatable {
        /// No more samples come until something moves.
        case began
        /// Samples come again, because the device reported movement at a stamp, or for another reason.
        ///
        /// `freeFallNanoseconds` is the stamp of a free fall that the device reported meanwhile.
        case ended(onsetNanoseconds: Int64?, freeFallNanoseconds: Int64? = nil)
        /// The chip has reported at a stamp, at rest or not: the number of taps or steps, or 1 when someone walks who carries it.
        case reported(ChipReport, value: Int, timeNanoseconds: Int64)
    }

    package let stream: StreamID
    /// What has happened.
    package let phase: Phase

    package init(stream: StreamID, phase: Phase) {
        self.stream = stream
        self.phase = phase
    }
}

/// What a chip may find by itself; double taps beside single ones.
package enum ChipReport: Sendable, CaseIterable {
    case taps, doubleTaps, activity, steps
}
