import Binnacle
import Glibc
import TestSupport
import Testing
import Traces

/// Rows that hold nothing unusual are read by other code than the rest, perhaps on other threads, with the same results.
@Suite struct PlainRowsTests {
    /// Reads a file in bulk, line by line, and in chunks on several threads, and compares what comes.
    ///
    /// - Parameters:
    ///   - text: The file.
    ///   - map: What its columns are.
    ///   - capacities: The sizes of the deliveries.
    ///   - chunkings: Sizes of chunks in bytes, and numbers of threads.
    /// - Returns: How many samples there are.
    /// - Throws: An error when the file cannot be written.
    @discardableResult
    private func compare(
        _ text: [UInt8], map: ColumnMap? = nil, capacities: [Int] = [1, 7, 4096],
        chunkings: [(bytes: Int, threads: Int)] = [(13, 2), (500, 3)]
    ) throws -> Int {
        let file = try TemporaryFile(text)
        var count = 0
        for capacity in capacities {
            func reading(isLineByLine: Bool = false, _ chunking: Chunking = .serial) -> Result<TraceReading, TraceError>
            {
                Result { () throws(TraceError) in
                    try TraceReading(
                        file.path, map: map, capacity: capacity, isLineByLine: isLineByLine, chunking: chunking)
                }
            }
            let lineByLine = reading(isLineByLine: true)
            if case .success(let reading) = lineByLine { count = reading.sampleCount }
            var others = [("in bulk", reading())]
            for (bytes, threads) in chunkings {
                others.append(("\(threads) threads, chunks of \(bytes)", reading(.tiny(bytes, threads))))
            }
            for (name, other) in others where other != lineByLine {
                let kept = "/tmp/binnacle-plain-rows.csv"
                rename(file.path, kept)
                Issue.record("\(name): read otherwise at capacity \(capacity): see \(kept)")
                return count
            }
        }
        return count
    }

    @Test(arguments: 0..<(TestForm.isLong ? 200 : 5))
    func everyRowIsReadAsItsLineWouldBe(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var count = 0
        for _ in 0..<8 {
            var writer = RowWriter(&random)
            let rowCount = [20, 200, 1000].randomElement(using: &random) ?? 20
            let bytes = [1, 40, 300, 2000, 9000].randomElement(using: &random) ?? 40
            // Some files have thousands of bytes in a line.
            count += try compare(
                writer.text(rowCount: rowCount, using: &random),
                chunkings: [(bytes, Int.random(in: 2...4, using: &random))])
        }
        #expect(count > 100, "too few samples to compare anything")
    }

    /// More than the reader's buffer holds, so that rows are cut at its end, with lines of very different lengths.
    @Test(arguments: 0..<2)
    func rowsAreReadAsTheirLinesWouldBeAcrossTheBuffersEnd(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) + 1000)
        var text = [UInt8]("t_ms,note,ax_g,ay_g,az_g\n".utf8)
        for row in 0..<10_000 {
            let note = String(repeating: "n", count: Int.random(in: 0...90, using: &random))
            let axis = Double(Int.random(in: -99_999...99_999, using: &random)) / 10_000
            text +=
                "\(row).\(row % 1000),\(row % 2500 == 7 ? note + note + note + note : note),\(axis),0.5,-1.25\n".utf8
        }
        #expect(try compare(text, capacities: [4096], chunkings: [(10_000, 2), (70_000, 4), (262_144, 3)]) == 10_000)
    }

    @Test(arguments: [
        // Blanks, quotes and number signs at the beginning of fields that no sensor needs.
        "note,t_s,ax,ay,az\n#1,1,1,2,3\n \u{23}x,2,1,2,3\nx#,3,1,2,3\n\"a,b\",4,1,2,3\n,5,1,2,3\n\t#,6,1,2,3\n",
        "ax\tay\taz\tnote\tt_s\n1\t2\t3\tx\t1\n\t\t\t#x\t2\n\t\t\t #x\t3\n1\t2\t3\t#x\t4\n1\t2\t3\t\t5\n",
        // Marks in fields that no sensor needs, and in those that one does.
        "t_s;note;ax;ay;az\n1;1.2.3,4;1;2;3\n2;12:30,5;1,5;2.5;3\n3;x;1,5.2;2;3\n4;.;.5;5.;3\n5;;1.;,5;3\n",
        // What is behind the last column that is needed.
        "t_s,ax,ay,az,a,b\n1,1,2,3\n2,1,2,3,\n3,1,2,3,\"a,b\",c\n4,1,2,3,x,y,z\n5,1,2,3,#\n6,1,2,3.5\r\n",
        // Ends of lines.
        "t_s,ax,ay,az\n1,1,2,3.5\r\n2,1,2,3.5\r\r\n3,1,2,\r\n4,1,2\r,3\n\r\n5,1,2,3\r\n6,1,2,3.25\r",
        "t_s,ax,ay,az\n1,1,2,3\n2,1.5,2.5,3.5\n3,1.5,2.5,3.5",
        // Stamps at the ends of what 64 bits hold, and steps of more than they do.
        "t_ns,ax,ay,az\n-9223372036854775808,1,2,3\n-9223372036854775807,1,2,3\n9223372036854775807,1,2,3\n",
        "t_ns,ax,ay,az\n-9223372036854775808,1,2,3\n9223372036854775807,1,2,3\n-9223372036854775807,1,2,3\n",
        "t_s,ax,ay,az\n0,1,2,3\n9223372036.854775807,1,2,3\n9223372036.9,1,2,3\n-9223372036.0,1,2,3\n",
        // Steps around the longest that is believed at once.
        "t_s,ax,ay,az\n0.0,1,2,3\n10.0,1,2,3\n20.000000001,1,2,3\n20.5,1,2,3\n19.0,1,2,3\n20.5,1,2,3\n20.75,1,2,3\n",
        // Numbers for missing values, of one of two sensors and of both.
        "t_s,ax,ay,az,mx,my,mz\n1,1,2,9,20,0,-40\n2,-9999,-9999,-9999,20,0,-40\n3,1,2,9,-9999,-9999,-9999\n"
            + "4,-9999,-9999,-9999,-9999,-9999,-9999\n5,999.99,999.99,999.99,,,\n6,-9999,9999,-9999,1,2,3\n"
            + "7,-9999,-9999,-9998,-9999,-9999,-40\n8,1,2,9,20,0,-40\n",
        // Values around the largest that is believed.
        "t_s,ax,ay,az\n1,1.0,2.0,3.0\n2,10000000.0,2.0,3.0\n3,10000000.5,2.0,3.0\n4,-10000001.0,2.0,3.0\n",
    ])
    func whatIsUnusualIsLeftToItsLine(text: String) throws {
        try compare(Array(text.utf8))
    }

    /// A line may have 64 KiB, and not a byte more.
    @Test(arguments: [-1, 0, 1])
    func aPlainRowMayBeAsLongAsALine(difference: Int) throws {
        let rest = "2.5,1.0,2.0,3.0,"
        let long = rest + String(repeating: "x", count: 65_536 - rest.utf8.count + difference)
        for end in ["\n", "\r\n"] {
            let text = "t_s,ax,ay,az,note\(end)1.5,1.0,2.0,3.0,\(end)\(long)\(end)3.5,1.0,2.0,3.0,\(end)"
            try compare(Array(text.utf8))
        }
    }

    @Test(arguments: 0..<4)
    func numbersAreThoseOfStrtod(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var fields: [String] = []
        // Every length around those that are read eight bytes at a time.
        for whole in 0...10 {
            for decimals in 0...18 where whole + decimals > 0 {
                for _ in 0..<4 {
                    let digits = (0..<whole + decimals).map { _ in String(Int.random(in: 0...9, using: &random)) }
                    let sign = ["", "-", "+"].randomElement(using: &random) ?? ""
                    let mark = decimals > 0 || Bool.random(using: &random) ? "." : ""
                    fields.append(
                        sign + digits.prefix(whole).joined() + mark + digits.dropFirst(whole).joined())
                }
            }
        }
        fields = fields.filter { abs(strtod($0, nil)) < 9e5 }
        try #require(fields.count > 400)
        let rows = fields.enumerated().map { "\($0.offset).\($0.offset % 10),\($0.element),\($0.element),1.5\n" }
        let file = try TemporaryFile("t_s,ax_g,ay_g,az_g\n" + rows.joined())
        let source = try TraceSource(paths: [file.path])
        let samples = Collected(source).samples[0]
        #expect(source.repairs.isEmpty)
        try #require(samples.count == fields.count)
        for (field, sample) in zip(fields, samples) {
            let expected = Float(strtod(field, nil) * 9.80665)
            #expect(sample.x.bitPattern == expected.bitPattern, "\(field)")
            #expect(sample.y.bitPattern == expected.bitPattern, "\(field)")
        }
    }
}
