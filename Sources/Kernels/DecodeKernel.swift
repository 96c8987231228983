import CKernels

/// Decodes scans to columns: stamps as recorded, and the axes in the samples' unit.
///
/// `scans` need not be aligned; `count` times the format's stride are read. Each column receives `count` values; `times` those
/// in nanoseconds, 0 if the scans have none. All forms of the kernel give the same bits.
package func decodeScans(
    _ scans: UnsafeRawPointer, count: Int, format: ScanFormat, conversion: ScanConversion,
    times: UnsafeMutablePointer<Int64>?, x: UnsafeMutablePointer<Float>, y: UnsafeMutablePointer<Float>,
    z: UnsafeMutablePointer<Float>, using instructionSet: InstructionSet = .current
) {
    var done = 0
    #if arch(x86_64)
        if count >= 8, instructionSet >= .avx2, let order = format.compactOrder {
            done = decodeCompact(scans, count, format, order, conversion, times, x, y, z, instructionSet)
        }
    #endif
    decodeOneByOne(scans, done..<count, format, conversion, times, x, y, z)
}

/// The reference: one scan after the other, with the type of the elements selected outside the loop.
private func decodeOneByOne(
    _ scans: UnsafeRawPointer, _ range: Range<Int>, _ format: ScanFormat, _ conversion: ScanConversion,
    _ times: UnsafeMutablePointer<Int64>?, _ x: UnsafeMutablePointer<Float>, _ y: UnsafeMutablePointer<Float>,
    _ z: UnsafeMutablePointer<Float>
) {
    let (xOffset, yOffset, zOffset, stride, shift) =
        (format.xOffset, format.yOffset, format.zOffset, format.stride, format.shift)
    @inline(__always)
    func decode(_ value: (UnsafeRawPointer, Int) -> Int32) {
        for i in range {
            let scan = scans + i * stride
            let sample = conversion.apply(
                x: Double(value(scan, xOffset) >> shift), y: Double(value(scan, yOffset) >> shift),
                z: Double(value(scan, zOffset) >> shift))
            x[i] = sample.x
            y[i] = sample.y
            z[i] = sample.z
        }
    }
    switch format.element {
    case .int16LittleEndian:
        decode { Int32(Int16(littleEndian: $0.loadUnaligned(fromByteOffset: $1, as: Int16.self))) }
    case .int16BigEndian:
        decode { Int32(Int16(bigEndian: $0.loadUnaligned(fromByteOffset: $1, as: Int16.self))) }
    case .int32LittleEndian:
        decode { Int32(littleEndian: $0.loadUnaligned(fromByteOffset: $1, as: Int32.self)) }
    }
    guard let times else { return }
    guard let timestampOffset = format.timestampOffset else {
        for i in range { times[i] = 0 }
        return
    }
    for i in range {
        times[i] = scans.loadUnaligned(fromByteOffset: i * stride + timestampOffset, as: Int64.self)
    }
}

#if arch(x86_64)
    /// Returns the number of decoded scans, a multiple of eight.
    private func decodeCompact(
        _ scans: UnsafeRawPointer, _ count: Int, _ format: ScanFormat, _ order: SIMD16<UInt8>,
        _ conversion: ScanConversion, _ times: UnsafeMutablePointer<Int64>?, _ x: UnsafeMutablePointer<Float>,
        _ y: UnsafeMutablePointer<Float>, _ z: UnsafeMutablePointer<Float>, _ instructionSet: InstructionSet
    ) -> Int {
        let rows = (conversion.x, conversion.y, conversion.z)
        let done = withUnsafePointer(to: order) { order in
            withUnsafePointer(to: rows) { rows in
                (instructionSet >= .avx512 ? ck_decode_scans16_avx512 : ck_decode_scans16_avx2)(
                    scans, count, format.stride, UnsafeRawPointer(order).assumingMemoryBound(to: UInt8.self),
                    Int32(format.shift), UnsafeRawPointer(rows).assumingMemoryBound(to: Double.self),
                    format.timestampOffset == nil ? nil : times, x, y, z)
            }
        }
        if format.timestampOffset == nil, let times { for i in 0..<done { times[i] = 0 } }
        return done
    }
#endif
