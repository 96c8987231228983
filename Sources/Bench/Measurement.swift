/// A part of what `binnacle bench` measures.
protocol Measurement {
    /// How many steps a progress bar gives to it.
    ///
    /// - Parameter levels: The levels of memory.
    /// - Returns: Their number.
    func stepCount(_ levels: [MemoryLevel]) -> Int

    /// Measures, and writes what came of it.
    func run(_ session: Session) throws(BenchError)
}
