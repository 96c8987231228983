import Foundation
import Testing

/// What a recording holds, read without the project's own reader.
struct Recording {
    struct Sample: Equatable {
        let time: Int64
        let x: Double
        let y: Double
        let z: Double
    }

    /// The samples by the names of their columns without the axis: `chassis.a`, `compass.m`.
    private(set) var streams: [String: [Sample]] = [:]
    let header: String

    init(path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        try #require(!lines.isEmpty, "the recording is empty")
        header = String(lines.removeFirst())
        let columns = header.split(separator: ",").map(String.init)
        try #require(columns.first == "time_ns")
        for line in lines {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            try #require(fields.count == columns.count, "torn: \(line)")
            let time = try #require(Int64(fields[0]))
            for column in stride(from: 1, to: columns.count, by: 3) where !fields[column].isEmpty {
                // name.ax_m_s2 → name.a
                let dot = try #require(columns[column].lastIndex(of: "."))
                let name = String(columns[column][...columns[column].index(after: dot)])
                let values = try (0..<3).map { try #require(Double(fields[column + $0])) }
                streams[name, default: []].append(Sample(time: time, x: values[0], y: values[1], z: values[2]))
            }
        }
    }

    /// The only stream of a kind, `a` or `m`.
    func only(_ kind: String) throws -> [Sample] {
        let found = streams.filter { $0.key.hasSuffix("." + kind) }
        try #require(found.count <= 1, "\(found.keys)")
        return found.values.first ?? []
    }
}
