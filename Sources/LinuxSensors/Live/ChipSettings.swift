package import Binnacle

/// What is wanted of a device's chip: reports in place of a detector, and its watch while nothing moves.
package struct ChipSettings: Sendable, Equatable {
    /// Whether the chip is used in any case, or where it is known to be sound.
    package private(set) var watch: MotionSettings.Watch
    /// What the chip is to report by itself.
    package private(set) var reports: Set<ChipReport>
    /// Whether the samples may be off while nothing moves.
    package var rests = true
    /// How long nothing may have moved before the buffer is switched off.
    let still: Duration
    /// The change of acceleration that ends the rest, in g.
    let thresholdG: Double
    /// Below this distance from where it was, in g, the device counts as still.
    let stillG: Double
    /// The total acceleration of a free fall, in g; `nil` when no detector asks for it.
    let freeFallG: Double?
    /// Whether movement is to wake a suspended machine.
    let wakesMachine: Bool

    /// `nil` for a detector that looks at every sample itself.
    ///
    /// The defaults are for a chip that reports at rest as well.
    package init?(
        watch: MotionSettings.Watch, reports: Set<ChipReport> = [], still: Duration = .seconds(2),
        thresholdG: Double = 0.05, stillG: Double = 0.025, freeFallG: Double? = nil, wakesMachine: Bool = false
    ) {
        guard watch != .samples else { return nil }
        self.watch = watch
        self.reports = reports
        self.still = still
        self.thresholdG = thresholdG
        self.stillG = stillG
        self.freeFallG = freeFallG
        self.wakesMachine = wakesMachine
    }

    /// What keeps the promises of two detectors of one device.
    package func joined(with other: ChipSettings) -> ChipSettings? {
        ChipSettings(
            watch: watch == other.watch ? watch : .automatic, reports: reports.union(other.reports),
            still: max(still, other.still), thresholdG: min(thresholdG, other.thresholdG),
            stillG: min(stillG, other.stillG), freeFallG: [freeFallG, other.freeFallG].compactMap { $0 }.max(),
            wakesMachine: wakesMachine || other.wakesMachine)
    }

    /// Says what is done without the chip; `nil` when its reports would only have come beside the samples.
    func withoutChip(because reason: String) -> String? {
        let words = [
            rests ? "does not sleep at rest" : nil,
            reports.contains(.taps) ? "looks for taps in its samples" : nil,
            reports.contains(.steps) ? "counts steps in its samples" : nil,
        ].compactMap { $0 }.joined(separator: ", and ")
        return words.isEmpty ? nil : words + ": " + reason
    }
}
