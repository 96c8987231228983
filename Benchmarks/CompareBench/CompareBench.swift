import BenchSupport

/// What Benchmarks/compare talks to: does one piece of work at a time, and says how long it took.
///
/// A command is a line of words on standard input, an answer is a line of numbers on standard output: nanoseconds first,
/// and then the results, which the caller compares with those of other programs.
@main
enum CompareBench {
    static func main() {
        let columns = ColumnWork()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "load" where words.count == 4:
                columns.load(words[1], columnCount: number(words[2]), count: number(words[3]))
            case "threshold" where words.count == 4:
                columns.findCrossings(set: words[1], high: value(words[2]), low: value(words[3]))
            case "facing" where words.count == 4:
                columns.findFacing(set: words[1], toleranceDegrees: value(words[2]), exitDegrees: value(words[3]))
            case "play" where words.count == 4: TraceWork.play(words[1], form: words[2], processors: words[3])
            default: fail("no such command: \(line)")
            }
        }
    }

    private static func number(_ word: String) -> Int {
        guard let number = Int(word), number > 0 else { fail("\(word) is no count") }
        return number
    }

    private static func value(_ word: String) -> Float {
        guard let value = Float(word) else { fail("\(word) is no number") }
        return value
    }
}
