import Foundation
import TestSupport
import Testing

/// How samples are cut into deliveries changes no event: of recordings with three sensors in which something fails.
@Suite struct DeliverySizeTests {
    /// What is done to a recording, whose columns are known by their names.
    enum Fault: CaseIterable {
        case none, swappedRates, reversedRate, silentGyroscope, silentMagnetometer, silentAccelerometer, gaps, losses
        case notNumbers
    }

    private static func columns(_ header: [String], _ letters: Set<Character>) -> [Int] {
        header.indices.filter { header[$0].lowercased().first.map(letters.contains) ?? false }.prefix(3).map { $0 }
    }

    /// Damages a recording's rows; `nil` for a row that is left out.
    private func damage(
        _ row: [String], _ index: Int, of count: Int, _ fault: Fault, _ header: [String],
        _ generator: inout SeededGenerator
    ) -> [String]? {
        var row = row
        func blank(_ letters: Set<Character>) {
            guard (count / 3..<count / 2).contains(index) else { return }
            for column in Self.columns(header, letters) { row[column] = "" }
        }
        let rates = Self.columns(header, ["g"])
        switch fault {
        case .none: break
        case .swappedRates: row.swapAt(rates[0], rates[1])
        case .reversedRate:
            row[rates[2]] = row[rates[2]].hasPrefix("-") ? String(row[rates[2]].dropFirst()) : "-" + row[rates[2]]
        case .silentGyroscope: blank(["g"])
        case .silentMagnetometer: blank(["m"])
        case .silentAccelerometer: blank(["a"])
        case .gaps: if index % 2000 < 700, index / 2000 % 3 == 1 { return nil }
        case .losses: if Double.random(in: 0..<1, using: &generator) < 0.02 { return nil }
        case .notNumbers: if Double.random(in: 0..<1, using: &generator) < 0.01 { row[rates[0]] = "nan" }
        }
        return row
    }

    /// A damaged recording, which is repeated until it has enough rows; the first column is the time in seconds.
    private func damaged(
        _ name: String, _ fault: Fault, rows fewest: Int = 1, _ generator: inout SeededGenerator
    ) throws -> TemporaryFile {
        let original = try String(contentsOfFile: "\(Binary.golden)/\(name)", encoding: .utf8)
        let lines = original.split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let rows = lines.dropFirst().enumerated().compactMap { index, fields in
            damage(fields, index, of: lines.count - 1, fault, lines[0], &generator)
        }
        var text = lines[0].joined(separator: ",") + "\n"
        text += rows.map { $0.joined(separator: ",") + "\n" }.joined()
        let rests = rows.map { (time: Double($0[0]) ?? 0, text: "," + $0.dropFirst().joined(separator: ",") + "\n") }
        for pass in stride(from: 1, through: fewest / rows.count, by: 1) {
            for rest in rests { text += "\(rest.time + 250 * Double(pass))" + rest.text }
        }
        return try TemporaryFile(text)
    }

    /// Arrow and CSV, as a file and through a pipe, on one processor and on all: recordings that are long enough to be read ahead.
    @Test(arguments: TestForm.isLong ? Fault.allCases : [.gaps, .notNumbers, .silentGyroscope])
    func theSameEventsFromEveryFormOnEveryNumberOfProcessors(fault: Fault) throws {
        var generator = SeededGenerator(seed: 37)
        let source = try damaged("broad05.csv", fault, rows: 100_000, &generator)
        let folder = try TemporaryFolder()
        for name in ["own.csv", "own.arrows"] {
            #expect(try Binary.run(["convert", source.path, "-o", name], in: folder.path).status == 0)
            let size = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")[.size] as? Int
            #expect(try #require(size) > 4_194_304, "\(name) is read by one thread alone")
        }
        func replay(_ input: String, _ words: String) throws -> (status: Int32, text: String) {
            let output = try TemporaryFile()
            let line = "\(input) '\(Binary.path)' replay --json \(words) 2>/dev/null"
            let shell = Child(["/bin/sh", "-c", line])
            shell.folder = folder.path
            shell.standardOutput = try output.writer()
            try shell.run()
            shell.waitUntilExit()
            let text = try output.text()
            return (
                shell.terminationStatus,
                ["/dev/stdin", "own.arrows"].reduce(text) { $0.replacingOccurrences(of: $1, with: "own.csv") }
            )
        }
        let expected = try replay("taskset -c 0", "own.csv")
        #expect(expected.status == 0 && expected.text.contains("\"kind\":\"heading\""))
        for name in ["own.csv", "own.arrows"] {
            for processors in ["taskset -c 0", "env"] {
                let size = Int.random(in: 1..<6000, using: &generator)
                for (input, words) in [
                    (processors, name), (processors, "--batch \(size) \(name)"),
                    ("cat \(name) | \(processors)", "--batch \(size) -"),
                ] {
                    let result = try replay(input, words)
                    #expect(result.status == 0)
                    // Compared before it is shown, which would take minutes.
                    let isSame = result.text == expected.text
                    #expect(isSame, "\(input) \(words): \(result.text.count) of \(expected.text.count) bytes")
                }
            }
        }
    }

    @Test(arguments: ["broad05.csv", "xio.csv"], Fault.allCases)
    func theSameEventsFromDeliveriesOfEverySize(name: String, fault: Fault) throws {
        var generator = SeededGenerator(seed: 20)
        let file = try damaged(name, fault, &generator)
        let expected = try Binary.run(["replay", "--json", file.path])
        #expect(expected.output.contains("\"kind\":\"heading\""))
        var sizes = [1, 7, 4096]
        for _ in 0..<TestForm.count(2, long: 20) { sizes.append(Int.random(in: 2..<6000, using: &generator)) }
        for size in sizes {
            let result = try Binary.run(["replay", "--json", "--batch", "\(size)", file.path])
            #expect(result.status == expected.status)
            #expect(result.output == expected.output, "deliveries of \(size)")
        }
        // A pipe is read as its writer writes.
        let piped = try TemporaryFile()
        let shell = Child([
            "/bin/sh", "-c", "cat '\(file.path)' | '\(Binary.path)' replay --json /dev/stdin 2>/dev/null",
        ])
        shell.standardOutput = try piped.writer()
        try shell.run()
        shell.waitUntilExit()
        #expect(try piped.text().replacingOccurrences(of: "/dev/stdin", with: file.path) == expected.output)
    }
}
