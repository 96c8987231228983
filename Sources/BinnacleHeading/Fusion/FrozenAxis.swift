package import Binnacle
package import SensorGeometry

/// Finds an axis that keeps its value to the last bit while the device turns: it is frozen, or at the end of its range.
package struct FrozenAxis {
    /// Whether an axis is frozen now.
    package private(set) var isFrozen = false

    private var last = Vector3.zero
    /// For each axis, the sample since which it has kept its value, or the end of the last rest, and whether it is frozen.
    private var starts = InlineArray<3, (time: Int64, value: Vector3, rotation: Quaternion, isFrozen: Bool)>(
        repeating: (0, .zero, .identity, false))

    /// A sensor that is read more often than it measures repeats its values; in seconds.
    private static let leastSeconds = 1.0
    /// Of the vector: by so much the axis should have changed, 3.4° of a turn across it; no sensor's steps are as large.
    private static let leastShare = 0.06

    package init() {}

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - value: The vector in the device's frame, of anything that stays where it is while the device turns.
    ///   - rotation: From the device's frame to one that does not turn.
    ///   - isStill: Whether that frame turns by the gyroscope's offset, and the device does not.
    ///   - time: The sample's stamp.
    package mutating func update(_ value: Vector3, rotation: Quaternion, isStill: Bool = false, at time: Int64) {
        isFrozen = false
        for axis in 0..<3 {
            guard value[axis] == last[axis] else {
                starts[axis] = (time, value, rotation, false)
                continue
            }
            if !starts[axis].isFrozen, Units.seconds(from: starts[axis].time, to: time) >= Self.leastSeconds {
                let start = starts[axis]
                if isStill { (starts[axis].value, starts[axis].rotation) = (value, rotation) }
                let expected = (rotation.conjugate * start.rotation).rotate(start.value)[axis]
                starts[axis].isFrozen = abs(expected - value[axis]) > Self.leastShare * length(start.value)
            }
            if starts[axis].isFrozen { isFrozen = true }
        }
        last = value
    }

    /// Begins again, because the frame that does not turn is another one.
    mutating func interrupt() {
        isFrozen = false
        last = Vector3(.nan, .nan, .nan)
    }
}
