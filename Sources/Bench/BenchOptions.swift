/// What a person asks of a measurement.
package struct BenchOptions: Sendable {
    /// What is measured.
    package var parts: Set<BenchPart> = Set(BenchPart.allCases)
    /// Whether a rough answer will do.
    package var isQuick = false
    /// Whether figures are written as JSON, one object a line.
    package var writesJSON = false

    /// Everything, in full, as tables.
    package init() {}

    /// How it is measured.
    var rounds: Rounds {
        isQuick
            ? Rounds(passes: 5, passNanoseconds: 300_000) : Rounds(passes: 9, passNanoseconds: 2_000_000)
    }

    /// How the way of live samples is measured: longer, because it goes through the system.
    var liveRounds: Rounds {
        isQuick ? Rounds(passes: 5, passNanoseconds: 5_000_000) : Rounds(passes: 9, passNanoseconds: 20_000_000)
    }

    /// How much more than the largest cache the data in main memory takes.
    var memoryFactor: Int { isQuick ? 4 : 8 }

    /// How many samples a recording has.
    var traceRows: Int { isQuick ? 1_000_000 : 5_000_000 }

    /// How it is measured, for a person.
    var lines: [String] {
        [
            "ns are nanoseconds of the processor a sample: the median of \(rounds.passes) passes, in which everything that is compared takes "
                + "its turn; % is the share of",
            "what reading the same data and nothing else reaches; spread is how far the median lies above the best pass, "
                + "where that is worst",
        ]
    }
}
