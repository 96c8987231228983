import SensorGeometry

/// What a sensor of a device is known by: what was learned of it holds neither for another one nor in other axes.
package struct MountedSensor: Sendable, Equatable {
    /// What the device is known by when it is plugged in again.
    package let device: String
    /// How its axes are turned to the device's, as text; `nil` when that is not known.
    package let axes: String?

    package init(device: String, axes: String?) {
        self.device = device
        self.axes = axes
    }

    /// Whether what was learned of it holds for a sensor that is open.
    package func holds(for sensor: MountedSensor) -> Bool {
        device == sensor.device && (axes == nil || axes == sensor.axes)
    }
}

/// What a detector knows of the gyroscope and the magnetometer that it uses.
package struct GyroscopeState: Sendable, Equatable {
    /// The gyroscope; `nil` for what is no device.
    package let gyroscope: MountedSensor?
    /// The magnetometer; `nil` for what is no device, and where none is used.
    package let magnetometer: MountedSensor?
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
        gyroscope: MountedSensor?, magnetometer: MountedSensor? = nil, memory: FusionMemory, isLearned: Bool,
        isAtRest: Bool, secondsAlone: Double?, hasGyroscope: Bool = true
    ) {
        self.hasGyroscope = hasGyroscope
        self.gyroscope = gyroscope
        self.magnetometer = magnetometer
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
        guard let gyroscopeDevice, var memory = recallLearned?(.gyroscope, gyroscopeDevice) else { return nil }
        memory.offset -= gyroscopeOffset
        return memory
    }

    /// What was learned of the magnetometer before: the field and the iron; `nil` when nothing was.
    package var recalledMagnetometer: FusionMemory? {
        magnetometerDevice.flatMap { recallLearned?(.magnetometer, $0) }
    }

    /// What a fusion knows of the gyroscope.
    ///
    /// - Parameters:
    ///   - learned: What it has learned, of samples with the sensor's calibration.
    ///   - magnetometer: The sensor with the magnetometer; `nil` where none is used.
    ///   - isLearned: Whether that is more than a guess.
    ///   - isAtRest: Whether the device is at rest.
    ///   - secondsAlone: For how long no magnetometer has corrected the heading; `nil` where there is no heading.
    /// - Returns: The state, of samples without the calibration.
    package func gyroscopeState(
        _ learned: FusionMemory, magnetometer: Sensor? = nil, isLearned: Bool, isAtRest: Bool,
        secondsAlone: Double? = nil
    ) -> GyroscopeState {
        var memory = learned
        memory.offset += gyroscopeOffset
        return GyroscopeState(
            gyroscope: gyroscopeDevice, magnetometer: magnetometer?.magnetometerDevice, memory: memory,
            isLearned: isLearned, isAtRest: isAtRest, secondsAlone: secondsAlone)
    }

    /// What the calibration takes from each rate.
    private var gyroscopeOffset: Vector3 { calibration?.gyroscope?.offset ?? .zero }
}
