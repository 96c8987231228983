import SensorGeometry

/// What a detector knows of the gyroscope that it uses.
package struct GyroscopeState: Sendable, Equatable {
    /// What the device is known by when it is plugged in again; `nil` for what is no device.
    package let device: String?
    /// The offset of the samples without a calibration, its uncertainty, and the undisturbed field.
    package let memory: FusionMemory
    /// Whether something is more than a guess: the offset, learned at rest, or the scale and the iron, learned in turns, now or before.
    package let isLearned: Bool
    package let isAtRest: Bool
    /// For how long no magnetometer has corrected the heading, in seconds; `nil` where there is no heading.
    package let secondsAlone: Double?
    /// Whether there is a gyroscope; without one the iron alone is known.
    package let hasGyroscope: Bool

    package init(
        device: String?, memory: FusionMemory, isLearned: Bool, isAtRest: Bool, secondsAlone: Double?,
        hasGyroscope: Bool = true
    ) {
        self.hasGyroscope = hasGyroscope
        self.device = device
        self.memory = memory
        self.isLearned = isLearned
        self.isAtRest = isAtRest
        self.secondsAlone = secondsAlone
    }

    /// The standard deviation of the offset on the axis where it is largest, in °/s.
    package var sigmaDegrees: Double { memory.sigmaDegrees.max() }
}

extension Sensor {
    /// What was learned of the gyroscope before, for samples with the sensor's calibration; `nil` when nothing was.
    package var recalledGyroscope: FusionMemory? {
        guard let gyroscopeDevice, var memory = recallGyroscope?(gyroscopeDevice) else { return nil }
        memory.offset -= gyroscopeOffset
        return memory
    }

    /// What a fusion knows of the gyroscope.
    ///
    /// - Parameters:
    ///   - learned: What it has learned, of samples with the sensor's calibration.
    ///   - isLearned: Whether that is more than a guess.
    ///   - isAtRest: Whether the device is at rest.
    ///   - secondsAlone: For how long no magnetometer has corrected the heading; `nil` where there is no heading.
    /// - Returns: The state, of samples without the calibration.
    package func gyroscopeState(
        _ learned: FusionMemory, isLearned: Bool, isAtRest: Bool, secondsAlone: Double? = nil
    ) -> GyroscopeState {
        var memory = learned
        memory.offset += gyroscopeOffset
        return GyroscopeState(
            device: gyroscopeDevice, memory: memory, isLearned: isLearned, isAtRest: isAtRest,
            secondsAlone: secondsAlone)
    }

    /// What the calibration takes from each rate.
    private var gyroscopeOffset: Vector3 { calibration?.gyroscope?.offset ?? .zero }
}
