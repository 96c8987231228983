import Binnacle
import Kernels

/// What is known at each accelerometer sample of a delivery: the axis that has a heading, where there is one, and what it was
/// found from, as columns for the kernel.
struct HeadingColumns: ~Copyable {
    /// The axis at each sample; `nil` where there is no heading.
    private(set) var axes: [DeviceAxis?] = []
    private let ownAccelerations = ScratchVectors()
    private let ownFields = ScratchVectors()
    private let accuracies = ScratchColumn()
    /// How fast the heading grows at each sample, in °/s; empty where no gyroscope decides.
    private var turnRates: [Double] = []

    /// The smoothed accelerations, of no value where there is no heading; valid until the next delivery.
    var accelerations: AxisColumns { ownAccelerations.columns }
    /// The smoothed fields, with the same restrictions.
    var fields: AxisColumns { ownFields.columns }

    /// Makes room for a delivery's samples and forgets those before.
    mutating func begin(_ count: Int) {
        axes.removeAll(keepingCapacity: true)
        turnRates.removeAll(keepingCapacity: true)
        ownAccelerations.reserve(count)
        ownFields.reserve(count)
        accuracies.reserve(count)
    }

    /// Appends a sample that has a heading; there is room for it.
    mutating func append(
        _ axis: DeviceAxis, acceleration: SIMD3<Float>, field: SIMD3<Float>, accuracyDegrees: Float,
        turnRateDegrees: Double? = nil
    ) {
        ownAccelerations[axes.count] = acceleration
        ownFields[axes.count] = field
        accuracies.values[axes.count] = accuracyDegrees
        if let turnRateDegrees {
            while turnRates.count < axes.count { turnRates.append(0) }
            turnRates.append(turnRateDegrees)
        }
        axes.append(axis)
    }

    /// Appends a sample that has none.
    mutating func appendMissing() {
        axes.append(nil)
    }

    /// What the heading at a sample was found from; `nil` where there is none.
    func source(at index: Int, timeNanoseconds: Int64) -> HeadingHold.Source? {
        guard let axis = axes[index],
            let attitude = Attitude(
                acceleration: SIMD3<Double>(ownAccelerations[index]), field: SIMD3<Double>(ownFields[index]))
        else { return nil }
        return HeadingHold.Source(
            pointing: HeadingFinder.Pointing(axis: axis, attitude: attitude),
            accuracyDegrees: Double(accuracies.values[index]), timeNanoseconds: timeNanoseconds,
            turnRateDegrees: index < turnRates.count ? turnRates[index] : nil)
    }
}
