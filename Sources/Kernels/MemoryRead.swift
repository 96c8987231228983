import CKernels

/// Reads memory in the patterns in which kernels read it, and does nothing else: what a kernel can reach at most.
///
/// Each function gives all bytes or-ed together, which means nothing and keeps every load from being left out.
package enum MemoryRead {
    /// Reads one stream: scans, or a single column.
    ///
    /// - Parameters:
    ///   - bytes: The stream.
    ///   - byteCount: How much of it is read.
    ///   - instructionSet: What it is read with; `scalar` is taken for `baseline`.
    /// - Returns: All bytes together.
    package static func stream(
        _ bytes: UnsafeRawPointer, byteCount: Int, using instructionSet: InstructionSet = .current
    ) -> UInt64 {
        #if arch(x86_64)
            switch instructionSet {
            case .avx512: return ck_read_1_avx512(bytes, byteCount)
            case .avx2: return ck_read_1_avx2(bytes, byteCount)
            default: break
            }
        #endif
        return ck_read_1_baseline(bytes, byteCount)
    }

    /// Reads three columns of 4-byte values side by side: the axes of a vector.
    ///
    /// - Parameters:
    ///   - x: First axis.
    ///   - y: Second axis.
    ///   - z: Third axis.
    ///   - count: How many values of each are read.
    ///   - instructionSet: What they are read with; `scalar` is taken for `baseline`.
    /// - Returns: All bytes together.
    package static func columns(
        _ x: UnsafePointer<Float>, _ y: UnsafePointer<Float>, _ z: UnsafePointer<Float>, count: Int,
        using instructionSet: InstructionSet = .current
    ) -> UInt64 {
        #if arch(x86_64)
            switch instructionSet {
            case .avx512: return ck_read_3_avx512(x, y, z, count)
            case .avx2: return ck_read_3_avx2(x, y, z, count)
            default: break
            }
        #endif
        return ck_read_3_baseline(x, y, z, count)
    }

    /// Reads a column of stamps and three of 4-byte values side by side: samples with their times.
    ///
    /// - Parameters:
    ///   - times: Stamps.
    ///   - x: First axis.
    ///   - y: Second axis.
    ///   - z: Third axis.
    ///   - count: How many values of each are read.
    ///   - instructionSet: What they are read with; `scalar` is taken for `baseline`.
    /// - Returns: All bytes together.
    package static func samples(
        _ times: UnsafePointer<Int64>, _ x: UnsafePointer<Float>, _ y: UnsafePointer<Float>, _ z: UnsafePointer<Float>,
        count: Int, using instructionSet: InstructionSet = .current
    ) -> UInt64 {
        #if arch(x86_64)
            switch instructionSet {
            case .avx512: return ck_read_4_avx512(times, x, y, z, count)
            case .avx2: return ck_read_4_avx2(times, x, y, z, count)
            default: break
            }
        #endif
        return ck_read_4_baseline(times, x, y, z, count)
    }

    /// Reads six columns of 4-byte values side by side: two vectors.
    ///
    /// - Parameters:
    ///   - columns: Where the columns begin, six of them.
    ///   - count: How many values of each are read.
    ///   - instructionSet: What they are read with; `scalar` is taken for `baseline`.
    /// - Returns: All bytes together.
    package static func pairs(
        _ columns: [UnsafePointer<Float>], count: Int, using instructionSet: InstructionSet = .current
    ) -> UInt64 {
        precondition(columns.count == 6, "two vectors have six columns")
        let places: [UnsafeRawPointer?] = columns.map { UnsafeRawPointer($0) }
        return places.withUnsafeBufferPointer { places in
            guard let first = places.baseAddress else { return 0 }
            #if arch(x86_64)
                switch instructionSet {
                case .avx512: return ck_read_6_avx512(first, count)
                case .avx2: return ck_read_6_avx2(first, count)
                default: break
                }
            #endif
            return ck_read_6_baseline(first, count)
        }
    }
}
