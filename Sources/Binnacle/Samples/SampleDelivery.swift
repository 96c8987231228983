import SensorGeometry

/// What a source hands over at one time: a batch for each stream of the pipeline, some of them empty.
///
/// A delivery is a stretch of the samples' order of arrival in which stamps do not fall, over all its streams
/// together. Merged by stamp, ties by the order of the streams, two streams have the order of arrival again. Where the arrival order steps back in time, a source ends the delivery; so cutting a recording
/// into deliveries differently never changes what is detected.
public final class SampleDelivery {
    /// One batch per stream, in the order of the streams.
    package let batches: [SampleBatch]
    /// What the streams are known by, in their order.
    package let streams: [StreamID]
    /// The most samples of one stream that fit.
    package let capacity: Int
    // Stored privately, as what follows in SampleBatch: what another module could change is checked at each access.
    private var foundLosses: [SampleLoss] = []
    /// What the source knows to be lost before the samples of this delivery, or instead of them.
    package var losses: [SampleLoss] { foundLosses }
    private var foundRests: [SampleRest] = []
    /// What the source knows of rests: those that have begun after the samples before, and those that end with the samples here.
    package var rests: [SampleRest] { foundRests }
    /// The raw scans that the samples were decoded from; `nil` unless a recording asked for them.
    ///
    /// A source that reads scans adds them: the first is behind the first sample of each batch that has samples, and so
    /// on. Samples that come from none leave it empty.
    package var scans: ScanColumn?
    /// Whether a recording asked for ``scans``.
    package var keepsScans: Bool { hasScans }
    private var hasScans = false

    /// Creates an empty delivery.
    ///
    /// - Parameters:
    ///   - streams: The streams in their order, each once.
    ///   - capacity: The most samples of one stream that fit, at least 1.
    package init(streams: [SampleStream], capacity: Int) {
        self.capacity = capacity
        self.streams = streams.map(\.id)
        precondition(Set(self.streams).count == streams.count, "a stream stands there twice")
        batches = streams.map { _ in SampleBatch(capacity: capacity) }
    }

    /// The place of a stream in ``batches``; `nil` when the delivery has no room for it.
    ///
    /// - Complexity: O(*n*) in the number of streams, for which a table would take longer.
    package func index(of stream: StreamID) -> Int? { streams.firstIndex(of: stream) }

    /// The batch of a stream; `nil` when the delivery has no room for it.
    public subscript(stream: StreamID) -> SampleBatch? { index(of: stream).map { batches[$0] } }

    /// Whether no stream has a sample.
    package var isEmpty: Bool { batches.allSatisfy(\.isEmpty) }

    /// The latest stamp in the delivery, in nanoseconds.
    package var lastTimeNanoseconds: Int64? {
        var latest: Int64?
        for batch in batches {
            if let time = batch.lastTimeNanoseconds { latest = max(latest ?? time, time) }
        }
        return latest
    }

    /// Whether stamps do not tell how long nothing came from a stream before this delivery.
    package func hidesTime(of stream: StreamID?) -> Bool {
        losses.contains { $0.stream == stream && ($0.cause == .suspend || $0.cause == .clock) }
    }

    /// Adds a loss.
    public func append(_ loss: SampleLoss) {
        foundLosses.append(loss)
    }

    /// Adds the beginning or the end of a rest.
    package func append(_ rest: SampleRest) {
        foundRests.append(rest)
    }

    /// Asks for the raw scans from now on.
    package func keepScans() {
        guard !hasScans else { return }
        hasScans = true
        scans = ScanColumn()
    }

    /// Removes every sample and keeps the room.
    package func removeAll() {
        if hasScans { scans?.removeAll() }
        if !foundLosses.isEmpty { foundLosses.removeAll(keepingCapacity: true) }
        if !foundRests.isEmpty { foundRests.removeAll(keepingCapacity: true) }
        for batch in batches { batch.removeAll() }
    }
}

/// Up to `capacity` samples of one stream as columns: the form in which samples travel.
///
/// One batch belongs to one stream and is reused: a function that is given a batch reads it before it returns and keeps
/// nothing of it. Stamps never fall within a batch.
///
/// The columns are raw memory, so that the hot loops run over them without checks. That memory is confined to
/// this class: it is allocated once, every index goes through a precondition here, and `columns` is read by the
/// detectors of this module only while the batch is alive. A batch may show samples that lie elsewhere, in a mapped
/// file for instance, instead of copies of them; it keeps their owner alive for as long as it does.
public final class SampleBatch {
    /// The number of samples the batch can hold.
    package let capacity: Int
    /// The number of samples in the batch.
    public var count: Int { shown.count }
    /// The columns as the kernels take them; valid while the batch is alive and not changed.
    ///
    /// They lie in the batch's own memory, or in that of ``owner``.
    package var columns: SampleColumns { shown }
    private var shown: SampleColumns

    /// The first stamp of the batch that lay before the one before it; `nil` when there was none.
    private(set) var stampError: StampOrderError?

    /// The batch's own memory, all of it.
    private let own: SampleRoom
    /// Who has the samples, when they are borrowed.
    private var owner: AnyObject?

    /// Creates an empty batch with room for `capacity` samples, at least 1.
    package init(capacity: Int) {
        precondition(capacity > 0, "a batch needs room for at least one sample")
        self.capacity = capacity
        own = SampleRoom(
            count: capacity, times: .allocate(capacity: capacity), x: .allocate(capacity: capacity),
            y: .allocate(capacity: capacity), z: .allocate(capacity: capacity))
        shown = own.columns(0)
    }

    deinit {
        own.times.deallocate()
        own.x.deallocate()
        own.y.deallocate()
        own.z.deallocate()
    }

    package var isEmpty: Bool { count == 0 }
    /// Whether there is no room for another sample.
    public var isFull: Bool { count == capacity }

    /// The sample at an index below ``count``.
    public subscript(index: Int) -> Sample {
        precondition(index >= 0 && index < count, "sample \(index) of a batch of \(count)")
        return columns.sample(index)
    }

    /// The stamp of the last sample.
    package var lastTimeNanoseconds: Int64? {
        count > 0 ? columns.times[count - 1] : nil
    }

    /// Appends one sample.
    ///
    /// A sample whose stamp lies before the last one is not appended: the stream fails.
    ///
    /// - Precondition: The batch is not full.
    public func append(timeNanoseconds: Int64, x: Float, y: Float, z: Float) {
        precondition(count < capacity, "the batch is full")
        keep()
        let count = count
        if count > 0, timeNanoseconds < own.times[count - 1] {
            if stampError == nil {
                stampError = StampOrderError(lastNanoseconds: own.times[count - 1], nextNanoseconds: timeNanoseconds)
            }
            return
        }
        own.times[count] = timeNanoseconds
        own.x[count] = x
        own.y[count] = y
        own.z[count] = z
        shown.count += 1
    }

    /// Appends one sample.
    ///
    /// - Precondition: The batch is not full.
    package func append(_ sample: Sample) {
        append(timeNanoseconds: sample.timeNanoseconds, x: sample.x, y: sample.y, z: sample.z)
    }

    /// Appends a range of another batch's samples.
    ///
    /// - Precondition: The range lies within the other batch, and there is room for it.
    package func append(_ other: SampleBatch, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= other.count, "range outside the batch")
        append(other.columns.slice(range))
    }

    /// Appends samples that lie in columns.
    ///
    /// - Precondition: There is room for them.
    package func append(_ columns: SampleColumns) {
        append(count: columns.count) { times, x, y, z in
            times.update(from: columns.times, count: columns.count)
            x.update(from: columns.x, count: columns.count)
            y.update(from: columns.y, count: columns.count)
            z.update(from: columns.z, count: columns.count)
        }
    }

    /// Shows samples that lie elsewhere, without copying them, until the batch is emptied.
    ///
    /// The owner is kept alive; it is up to the caller that it does not change the samples meanwhile. A source lends
    /// what stays as it is until it is asked the next time.
    ///
    /// - Parameters:
    ///   - columns: No more samples than the batch has room for.
    ///   - owner: The owner of their memory.
    /// - Precondition: The batch is empty.
    package func borrow(_ columns: SampleColumns, of owner: AnyObject) {
        precondition(count == 0, "a batch with samples of its own borrows none")
        precondition(columns.count <= capacity, "the batch has no room for \(columns.count) samples")
        shown = columns
        self.owner = owner
    }

    /// Shows a range of another batch's samples, without copying them, until this batch is emptied.
    ///
    /// - Precondition: This batch is empty, has room for the range, and the range lies within the other one.
    package func borrow(_ other: SampleBatch, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= other.count, "range outside the batch")
        borrow(other.columns.slice(range), of: other)
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
        let room = room
        write(room.times, room.x, room.y, room.z)
        shown.count += added
    }

    /// Makes copies of borrowed samples, so that their owner may change them.
    package func keep() {
        guard let owner else { return }
        let borrowed = shown
        removeBorrowed()
        append(borrowed)
        // Until they are copied their owner has to stay.
        withExtendedLifetime(owner) {}
    }

    /// Corrects every sample, in place; borrowed samples become copies first.
    func calibrate(_ calibration: AxisCalibration) {
        keep()
        let offset = SIMD3<Float>(calibration.offset)
        let x = SIMD3<Float>(calibration.matrix.x)
        let y = SIMD3<Float>(calibration.matrix.y)
        let z = SIMD3<Float>(calibration.matrix.z)
        for index in 0..<count {
            let v = SIMD3(own.x[index], own.y[index], own.z[index]) - offset
            // In a fixed order, so that every build gives the same bits.
            own.x[index] = x.x * v.x + x.y * v.y + x.z * v.z
            own.y[index] = y.x * v.x + y.y * v.y + y.z * v.z
            own.z[index] = z.x * v.x + z.y * v.y + z.z * v.z
        }
    }

    /// Removes every sample and keeps the room.
    package func removeAll() {
        stampError = nil
        shown.count = 0
        if owner != nil { removeBorrowed() }
    }

    private func removeBorrowed() {
        owner = nil
        shown = own.columns(0)
    }

    /// The room behind the samples, for a reader that writes samples straight into it; valid while the batch is alive.
    ///
    /// What is written there becomes part of the batch with ``grow(by:)``.
    package var room: SampleRoom {
        keep()
        return SampleRoom(
            count: capacity - count, times: own.times + count, x: own.x + count, y: own.y + count, z: own.z + count)
    }

    /// Appends the samples that were written into the reserved space.
    ///
    /// - Precondition: That many were written at its beginning, and there is room for them.
    package func grow(by count: Int) {
        precondition(count >= 0 && count <= capacity - self.count, "the batch has no room for \(count) samples")
        shown.count += count
    }
}

/// A batch's columns as pointers, for the kernels; not to be kept.
@usableFromInline package struct SampleColumns {
    @usableFromInline package internal(set) var count: Int
    @usableFromInline package let times: UnsafePointer<Int64>
    @usableFromInline package let x: UnsafePointer<Float>
    @usableFromInline package let y: UnsafePointer<Float>
    @usableFromInline package let z: UnsafePointer<Float>

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

    @inlinable package func vector(_ index: Int) -> SIMD3<Float> { SIMD3(x[index], y[index], z[index]) }

    package func sample(_ index: Int) -> Sample {
        Sample(timeNanoseconds: times[index], x: x[index], y: y[index], z: z[index])
    }

    /// Where a sample stands among those of all streams, of which this one has a place in their order.
    package func position(of index: Int, at order: Int) -> SamplePosition {
        SamplePosition(timeNanoseconds: times[index], streamIndex: order, sampleIndex: index)
    }

    /// A part of the samples.
    ///
    /// - Precondition: The range lies within them.
    package func slice(_ range: Range<Int>) -> SampleColumns {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside the columns")
        return SampleColumns(
            count: range.count, times: times + range.lowerBound, x: x + range.lowerBound, y: y + range.lowerBound,
            z: z + range.lowerBound)
    }
}

/// The room behind a batch's samples as pointers; not to be kept.
package struct SampleRoom {
    /// For how many samples there is room.
    package let count: Int
    package let times: UnsafeMutablePointer<Int64>
    package let x: UnsafeMutablePointer<Float>
    package let y: UnsafeMutablePointer<Float>
    package let z: UnsafeMutablePointer<Float>

    /// The first samples that were written there.
    fileprivate func columns(_ count: Int) -> SampleColumns {
        SampleColumns(
            count: count, times: UnsafePointer(times), x: UnsafePointer(x), y: UnsafePointer(y), z: UnsafePointer(z))
    }
}
