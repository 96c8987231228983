import Kernels

/// Scans of a made-up device, in one of the layouts.
struct MadeScans {
    /// The scans, one behind the other.
    let bytes: UnsafeRawPointer
    let count: Int
    /// When the device is moved.
    let row: EventRow

    /// Makes as many as a level of memory takes.
    init(_ layout: ScanLayout, _ course: KernelMeasurement.Course, seed: UInt64) {
        let stride = layout.format.stride
        let count = AccessPattern.sampleCount(byteCount: course.level.byteCount, bytesPerSample: stride)
        let bytes = UnsafeMutableRawPointer(course.arena.column(UInt8.self, count: count * stride))
        var numbers = SeededNumbers(seed: seed)
        let row = EventRow(count: count, rate: course.rate, numbers: &numbers)
        row.forEach(count: count) { index, isInside in
            let scan = bytes + index * stride
            // What belongs to no axis may hold anything.
            for offset in Swift.stride(from: 0, to: stride, by: 8) {
                scan.storeBytes(of: numbers.next(), toByteOffset: offset, as: UInt64.self)
            }
            let noise = numbers.next()
            layout.store(Int32(noise % 128) - 64, in: scan, at: layout.format.xOffset)
            layout.store(Int32((noise >> 8) % 128) - 64, in: scan, at: layout.format.yOffset)
            layout.store((isInside ? 1_300 : 970) + Int32((noise >> 16) % 32), in: scan, at: layout.format.zOffset)
            if let offset = layout.format.timestampOffset {
                scan.storeBytes(of: Int64(index) * 10_000_000, toByteOffset: offset, as: Int64.self)
            }
        }
        self.bytes = UnsafeRawPointer(bytes)
        self.count = count
        self.row = row
    }
}
