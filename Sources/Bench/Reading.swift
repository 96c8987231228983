import Kernels

/// Data that are read and nothing else, the way a kernel reads them: what the kernel is compared with.
enum Reading {
    /// One stream of so many bytes.
    case stream(UnsafeRawPointer, byteCount: Int)
    /// Three columns of so many values.
    case columns([UnsafePointer<Float>], count: Int)
    /// A column of stamps and three of so many values.
    case samples(UnsafePointer<Int64>, [UnsafePointer<Float>], count: Int)
    /// Six columns of so many values.
    case pairs([UnsafePointer<Float>], count: Int)

    /// Cuts columns for a pattern of access, and touches all of them.
    ///
    /// - Parameters:
    ///   - pattern: How they are read.
    ///   - byteCount: How large they are together, at most.
    ///   - arena: What they are cut from.
    init(_ pattern: AccessPattern, byteCount: Int, in arena: Arena) {
        let count = AccessPattern.sampleCount(byteCount: byteCount, bytesPerSample: pattern.bytesPerSample)
        func floats(_ columns: Int) -> [UnsafePointer<Float>] {
            (0..<columns).map { _ in UnsafePointer(arena.column(Float.self, count: count, filledWith: 1)) }
        }
        switch pattern {
        case .stream:
            let size = count * pattern.bytesPerSample
            self = .stream(arena.column(UInt8.self, count: size, filledWith: 1), byteCount: size)
        case .columns: self = .columns(floats(3), count: count)
        case .samples: self = .samples(arena.column(Int64.self, count: count, filledWith: 1), floats(3), count: count)
        case .pairs: self = .pairs(floats(6), count: count)
        }
    }

    /// How many bytes are read.
    var byteCount: Int {
        switch self {
        case .stream(_, let byteCount): byteCount
        case .columns(_, let count): count * AccessPattern.columns.bytesPerSample
        case .samples(_, _, let count): count * AccessPattern.samples.bytesPerSample
        case .pairs(_, let count): count * AccessPattern.pairs.bytesPerSample
        }
    }

    /// The reading with each instruction set that has a form of its own.
    func variants(_ sets: [InstructionSet]) -> [Variant] {
        sets.filter { $0 != .scalar }.map { set in
            Variant(set.rawValue) { times in
                for _ in 0..<times { Sink.take(self.once(set)) }
            }
        }
    }

    @inline(__always)
    private func once(_ set: InstructionSet) -> UInt64 {
        switch self {
        case .stream(let bytes, let byteCount): MemoryRead.stream(bytes, byteCount: byteCount, using: set)
        case .columns(let axes, let count):
            MemoryRead.columns(axes[0], axes[1], axes[2], count: count, using: set)
        case .samples(let times, let axes, let count):
            MemoryRead.samples(times, axes[0], axes[1], axes[2], count: count, using: set)
        case .pairs(let columns, let count): MemoryRead.pairs(columns, count: count, using: set)
        }
    }
}
