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
        // No expectation: while it is being written, it may be looked at between two of its pieces.
        guard !lines.isEmpty else { throw MockFailure(message: "\(path) is empty") }
        header = String(lines.removeFirst())
        let columns = header.split(separator: ",").map(String.init)
        guard columns.first == "time_ns", columns.count % 3 == 1 else { throw MockFailure(message: header) }
        for line in lines {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count == columns.count, let time = Int64(fields[0]) else {
                throw MockFailure(message: "torn: \(line)")
            }
            for column in stride(from: 1, to: columns.count, by: 3) where !fields[column].isEmpty {
                let values = fields[column..<column + 3].compactMap { Double($0) }
                // name.ax_m_s2 → name.a
                guard values.count == 3, let dot = columns[column].lastIndex(of: ".") else {
                    throw MockFailure(message: "torn: \(line)")
                }
                let name = String(columns[column][...columns[column].index(after: dot)])
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
