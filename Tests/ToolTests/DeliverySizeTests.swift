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

    @Test(arguments: ["broad05.csv", "xio.csv"], Fault.allCases)
    func theSameEventsFromDeliveriesOfEverySize(name: String, fault: Fault) throws {
        var generator = SeededGenerator(seed: 20)
        let text = try String(contentsOfFile: "\(Binary.golden)/\(name)", encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let header = lines[0].map(String.init)
        let rows = lines.dropFirst().enumerated().compactMap { index, fields in
            damage(fields.map(String.init), index, of: lines.count - 1, fault, header, &generator)
        }
        let file = try TemporaryFile(
            ([header] + rows).map { $0.joined(separator: ",") }.joined(separator: "\n") + "\n")
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
