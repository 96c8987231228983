import Kernels

/// A kernel that writes columns, gone through all samples in pieces of one delivery; what it writes is forgotten.
final class ColumnKernel {
    /// Where results go: as many columns as the kernel writes, with room for a piece.
    struct Output {
        let times: UnsafeMutablePointer<Int64>
        let columns: [UnsafeMutablePointer<Float>]
    }

    /// Works on a range of the samples and writes from the beginning of the output on.
    typealias Body = (_ range: Range<Int>, _ output: Output, _ set: InstructionSet) -> Void

    private let count: Int
    private let pieceCount: Int
    private let begin: () -> Void
    private let body: Body
    private let output: Output

    /// - Parameters:
    ///   - count: The number of samples.
    ///   - columnCount: How many columns of 4-byte values are written.
    ///   - pieceCount: How many samples the kernel gets at a time.
    ///   - arena: Where what is written has room.
    ///   - begin: Called before the first piece of each run.
    ///   - body: The kernel.
    init(
        count: Int, columnCount: Int, pieceCount: Int = 4096, in arena: Arena, begin: @escaping () -> Void = {},
        body: @escaping Body
    ) {
        self.count = count
        self.pieceCount = min(pieceCount, count)
        self.begin = begin
        self.body = body
        let room = self.pieceCount
        output = Output(
            times: arena.column(Int64.self, count: room, filledWith: 0),
            columns: (0..<columnCount).map { _ in arena.column(Float.self, count: room, filledWith: 0) })
    }

    /// What is measured side by side.
    ///
    /// - Parameters:
    ///   - reading: The samples as they are read alone.
    ///   - sets: The forms.
    /// - Returns: The contest.
    func contest(_ reading: Reading, _ sets: [InstructionSet]) -> Contest {
        Contest(
            sampleCount: count, byteCount: reading.byteCount, limits: reading.variants(sets),
            contenders: sets.map { set in
                Variant(set.rawValue) { times in
                    for _ in 0..<times { self.run { self.body($0, self.output, set) } }
                }
            },
            findFault: { self.fault(sets) })
    }

    private func run(_ body: (Range<Int>) -> Void) {
        begin()
        var start = 0
        while start < count {
            let end = min(start + pieceCount, count)
            body(start..<end)
            start = end
        }
    }

    /// Compares, bit by bit, what each form writes with what the reference writes; gives the first form that differs.
    private func fault(_ sets: [InstructionSet]) -> String? {
        for set in sets {
            var hashes: [[UInt64]] = []
            for form in [InstructionSet.scalar, set] {
                var hash: [UInt64] = []
                run { range in
                    body(range, output, form)
                    hash.append(Self.hash(output, range.count))
                }
                hashes.append(hash)
            }
            if hashes[0] != hashes[1] { return set.rawValue }
        }
        return nil
    }

    /// What columns hold, as a number; all NaNs are alike.
    private static func hash(_ output: Output, _ count: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func take(_ bits: UInt64) { hash = (hash ^ bits) &* 0x9E37_79B9_7F4A_7C15 ^ hash >> 29 }
        for index in 0..<count { take(UInt64(bitPattern: output.times[index])) }
        for column in output.columns {
            for index in 0..<count { take(column[index].isNaN ? 1 << 63 : UInt64(column[index].bitPattern)) }
        }
        return hash
    }
}
