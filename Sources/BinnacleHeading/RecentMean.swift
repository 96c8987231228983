/// The mean over the last half second, in which a sample weighs less the older it is, and which forgets at once what is older.
///
/// A running mean would keep a trace of a violent moment for seconds, because squares of accelerations differ by a factor
/// of thousands. The half second is kept as eight blocks, so the oldest is forgotten in steps of a sixteenth of a second.
struct RecentMean {
    private typealias Block = (sum: SIMD4<Double>, seconds: Double)

    private var blocks = [Block](repeating: (.zero, 0), count: count)
    /// Which sixteenth of a second the newest block is of; `nil` before the first sample.
    private var newest: Int64?
    /// The weighted sum of the other blocks, which stays until there is a newer one.
    private var older: Block = (.zero, 0)

    private static let count = 8
    /// The weight of a block by its age: (1 − age / 8)².
    private static let weights = (0..<count).map { age in
        let share = 1 - Double(age) / Double(count)
        return share * share
    }
    private static let blockNanoseconds: Int64 = 62_500_000

    /// Takes the figures of a sample, which count for the time since the sample before; returns the weighted mean of what was
    /// taken within the half second.
    mutating func update(_ figures: SIMD4<Double>, seconds: Double, at timeNanoseconds: Int64) -> SIMD4<Double> {
        let block = timeNanoseconds / Self.blockNanoseconds
        if newest != block { begin(block) }
        let place = place(of: block)
        blocks[place].sum += figures * seconds
        blocks[place].seconds += seconds
        // The newest block has the weight 1.
        let wholeSeconds = blocks[place].seconds + older.seconds
        return wholeSeconds > 0 ? (blocks[place].sum + older.sum) / wholeSeconds : figures
    }

    private mutating func begin(_ block: Int64) {
        if let newest, newest < block {
            for gone in 0..<min(block - newest, Int64(Self.count)) { blocks[place(of: block - gone)] = (.zero, 0) }
        } else {
            reset()
        }
        newest = block
        older = (.zero, 0)
        for (age, weight) in Self.weights.enumerated().dropFirst() {
            let block = blocks[place(of: block - Int64(age))]
            older.sum += weight * block.sum
            older.seconds += weight * block.seconds
        }
    }

    mutating func reset() {
        for index in blocks.indices { blocks[index] = (.zero, 0) }
        newest = nil
        older = (.zero, 0)
    }

    private func place(of block: Int64) -> Int {
        let rest = Int(block % Int64(Self.count))
        return rest < 0 ? rest + Self.count : rest
    }
}
