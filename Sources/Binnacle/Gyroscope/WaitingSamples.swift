package import SensorGeometry

/// Samples of an accelerometer or a magnetometer that wait until the gyroscope has reached their stamps.
package struct WaitingSamples {
    private var entries = [(timeNanoseconds: Int64, vector: Vector3)](repeating: (0, .zero), count: Self.capacity)
    private var oldest = 0
    package private(set) var count = 0
    /// 0.25 s at 1 kHz; the oldest goes when there is no room, because it would be too old.
    private static let capacity = 256

    package init() {}

    package mutating func append(_ vector: Vector3, at timeNanoseconds: Int64) {
        if count == Self.capacity { removeFirst() }
        entries[(oldest + count) % Self.capacity] = (timeNanoseconds, vector)
        count += 1
    }

    /// The stamp of the first one; `nil` when there is none.
    package var firstTimeNanoseconds: Int64? { count > 0 ? entries[oldest].timeNanoseconds : nil }

    @discardableResult
    package mutating func removeFirst() -> Vector3 {
        defer {
            oldest = (oldest + 1) % Self.capacity
            count -= 1
        }
        return entries[oldest].vector
    }

    package mutating func removeAll() { count = 0 }
}
