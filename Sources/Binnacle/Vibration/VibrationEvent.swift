/// What a machine does, by its vibration.
package enum MachineState: String, FigureWord, CaseIterable {
    /// Below the limit of running.
    case idle
    /// Above it.
    case running
    /// Above the limit of spinning.
    case spinning
}

/// What was measured in the second that decided it.
package struct VibrationEvent: DetectorResult {
    /// The band in the highest zone, or the first one.
    package let band: String
    /// The number of its limits that are exceeded.
    package let zone: Int
    /// The root mean square of the velocity in the band, in mm/s.
    package let velocityMillimetresPerSecond: Double
    /// The root mean square of the acceleration in the band, in g.
    package let accelerationG: Double
    /// The frequency with the greatest acceleration in the band, in Hz.
    package let frequencyHz: Double
    /// The upper end of what was measured of the band, in Hz.
    package let measuredToHz: Double
    /// The state of the machine; `nil` when none is looked for, or none is known.
    package let machine: MachineState?
    /// How much of what is normal has been learned, up to 100; `nil` where nothing is learned.
    package let learnedPercent: Double?
    /// How long the vibration lasted, or the machine ran, in seconds; only when it has ended.
    package let durationSeconds: Double?
    /// The stamp of the first sample after the second, in nanoseconds.
    package let timeNanoseconds: Int64

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .band: .text(band)
        case .zone: .integer(Int64(zone))
        case .velocity: figure.number(velocityMillimetresPerSecond)
        case .vibration: figure.number(accelerationG)
        case .frequency: figure.number(frequencyHz)
        case .measuredTo: figure.number(measuredToHz)
        case .machine: machine.map { .word($0) }
        case .learned: learnedPercent.map(figure.number)
        case .duration: durationSeconds.map(figure.number)
        default: nil
        }
    }
}
