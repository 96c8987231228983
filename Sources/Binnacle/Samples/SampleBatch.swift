/// Up to `capacity` samples of one stream as columns: the form in which samples travel.
///
/// One batch belongs to one stream and is reused: whoever is handed a batch reads it before returning and keeps
/// nothing of it. Stamps never fall within a batch.
///
/// The columns are raw memory, so that the hot loops run over them without checks. That memory is confined to
/// this class: it is allocated once, every index goes through a precondition here, and ``columns`` is read by the
/// detectors of this module only while the batch is alive.
public final class SampleBatch {
    /// The number of samples the batch can hold.
    public let capacity: Int
    /// The number of samples in the batch.
    public private(set) var count = 0

    private let times: UnsafeMutablePointer<Int64>
    private let xs: UnsafeMutablePointer<Float>
    private let ys: UnsafeMutablePointer<Float>
    private let zs: UnsafeMutablePointer<Float>

    /// Creates an empty batch.
    ///
    /// - Parameter capacity: The number of samples it can hold, at least 1.
    public init(capacity: Int) {
        precondition(capacity > 0, "a batch needs room for at least one sample")
        self.capacity = capacity
        times = .allocate(capacity: capacity)
        xs = .allocate(capacity: capacity)
        ys = .allocate(capacity: capacity)
        zs = .allocate(capacity: capacity)
    }

    deinit {
        times.deallocate()
        xs.deallocate()
        ys.deallocate()
        zs.deallocate()
    }

    /// Whether there is no sample in the batch.
    public var isEmpty: Bool { count == 0 }
    /// Whether there is no room for another sample.
    public var isFull: Bool { count == capacity }

    /// The sample at an index below ``count``.
    public subscript(index: Int) -> Sample {
        precondition(index >= 0 && index < count, "sample \(index) of a batch of \(count)")
        return Sample(timeNanoseconds: times[index], x: xs[index], y: ys[index], z: zs[index])
    }

    /// The stamp of the last sample.
    public var lastTimeNanoseconds: Int64? {
        count > 0 ? times[count - 1] : nil
    }

    /// Appends one sample.
    ///
    /// - Precondition: The batch is not full.
    public func append(timeNanoseconds: Int64, x: Float, y: Float, z: Float) {
        precondition(count < capacity, "the batch is full")
        times[count] = timeNanoseconds
        xs[count] = x
        ys[count] = y
        zs[count] = z
        count += 1
    }

    /// Appends one sample.
    ///
    /// - Precondition: The batch is not full.
    public func append(_ sample: Sample) {
        append(timeNanoseconds: sample.timeNanoseconds, x: sample.x, y: sample.y, z: sample.z)
    }

    /// Appends a range of another batch's samples.
    ///
    /// - Precondition: The range lies within the other batch, and there is room for it.
    public func append(_ other: SampleBatch, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= other.count, "range outside the batch")
        precondition(range.count <= capacity - count, "the batch has no room for \(range.count) samples")
        (times + count).update(from: other.times + range.lowerBound, count: range.count)
        (xs + count).update(from: other.xs + range.lowerBound, count: range.count)
        (ys + count).update(from: other.ys + range.lowerBound, count: range.count)
        (zs + count).update(from: other.zs + range.lowerBound, count: range.count)
        count += range.count
    }

    /// Appends samples that a kernel writes into the columns.
    ///
    /// - Parameters:
    ///   - added: How many; all of them have to be written.
    ///   - write: Given where the new samples' stamps and axes belong; keeps none of it.
    /// - Precondition: There is room for them.
    package func append(
        count added: Int,
        _ write: (
            _ times: UnsafeMutablePointer<Int64>, _ x: UnsafeMutablePointer<Float>, _ y: UnsafeMutablePointer<Float>,
            _ z: UnsafeMutablePointer<Float>
        ) -> Void
    ) {
        precondition(added >= 0 && added <= capacity - count, "the batch has no room for \(added) samples")
        write(times + count, xs + count, ys + count, zs + count)
        count += added
    }

    /// Removes every sample and keeps the room.
    public func removeAll() {
        count = 0
    }

    /// The columns as the kernels take them; valid while the batch is alive and not changed.
    package var columns: SampleColumns {
        SampleColumns(count: count, times: times, x: xs, y: ys, z: zs)
    }
}

/// A batch's columns as pointers, for the kernels; not to be kept.
package struct SampleColumns {
    package let count: Int
    package let times: UnsafePointer<Int64>
    package let x: UnsafePointer<Float>
    package let y: UnsafePointer<Float>
    package let z: UnsafePointer<Float>

    package init(
        count: Int, times: UnsafePointer<Int64>, x: UnsafePointer<Float>, y: UnsafePointer<Float>,
        z: UnsafePointer<Float>
    ) {
        self.count = count
        self.times = times
        self.x = x
        self.y = y
        self.z = z
    }

    package func vector(_ index: Int) -> SIMD3<Float> { SIMD3(x[index], y[index], z[index]) }
}

extension SampleColumns {
    package func sample(_ index: Int) -> Sample {
        Sample(timeNanoseconds: times[index], x: x[index], y: y[index], z: z[index])
    }
}
