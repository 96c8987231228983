package import Binnacle

/// What is wanted of a device while nothing moves.
package struct RestSettings: Sendable, Equatable {
    /// Who notices that movement begins.
    package var watch: MotionSettings.Watch
    /// How long nothing may have moved before the buffer is switched off.
    package var still: Duration
    /// The change of acceleration that ends the rest, in g.
    package var thresholdG: Double
    /// Below this distance from where it was, in g, the device counts as still.
    package var stillG: Double
    /// The total acceleration of a free fall, in g; `nil` when no detector asks for it.
    package var freeFallG: Double?
    /// Whether movement is to wake a suspended machine.
    package var wakesMachine = false

    package init(
        watch: MotionSettings.Watch, still: Duration, thresholdG: Double, stillG: Double, freeFallG: Double? = nil,
        wakesMachine: Bool = false
    ) {
        self.freeFallG = freeFallG
        self.wakesMachine = wakesMachine
        self.watch = watch
        self.still = still
        self.thresholdG = thresholdG
        self.stillG = stillG
    }

    /// What a chip that reports by itself needs at rest: it does so as before.
    package static func ofReports(_ watch: MotionSettings.Watch) -> RestSettings {
        RestSettings(watch: watch, still: .seconds(2), thresholdG: 0.05, stillG: 0.025)
    }

    /// What keeps the promises of two detectors of one device; `nil` when one of them needs every sample.
    package func joined(with other: RestSettings?) -> RestSettings? {
        guard let other else { return nil }
        return RestSettings(
            watch: watch == other.watch ? watch : .automatic, still: max(still, other.still),
            thresholdG: min(thresholdG, other.thresholdG), stillG: min(stillG, other.stillG),
            freeFallG: [freeFallG, other.freeFallG].compactMap { $0 }.max(),
            wakesMachine: wakesMachine || other.wakesMachine)
    }
}
