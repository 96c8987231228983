import Binnacle
import Glibc
import Testing
import Traces

/// A file that lives as long as this object.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8]) throws {
        var template = Array("/tmp/binnacle-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        try #require(descriptor >= 0)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            try #require(count > 0)
            rest = rest.dropFirst(count)
        }
        close(descriptor)
    }

    convenience init(_ text: String) throws {
        try self.init(Array(text.utf8))
    }

    deinit {
        unlink(path)
    }
}

/// The folder with the recordings.
let fixtures = #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Fixtures"

/// Everything that a source delivers, by stream, in its order, and how it ended.
struct Collected {
    var samples: [[Sample]]
    /// The streams' indices in the order in which their samples come.
    var order: [Int] = []
    var failures: [any Error] = []

    init(_ source: TraceSource, capacity: Int = 4096) {
        samples = source.streams.map { _ in [] }
        let delivery = SampleDelivery(streamCount: source.streams.count, capacity: capacity)
        while true {
            delivery.removeAll()
            let answer = source.fill(delivery)
            var positions: [SamplePosition] = []
            for (stream, batch) in delivery.batches.enumerated() {
                for index in 0..<batch.count {
                    samples[stream].append(batch[index])
                    positions.append(
                        SamplePosition(
                            timeNanoseconds: batch[index].timeNanoseconds, streamIndex: stream, sampleIndex: index))
                }
            }
            order += positions.sorted().map(\.streamIndex)
            if case .failed(_, let reason) = answer { failures.append(reason) }
            if answer.isEnd { return }
        }
    }
}

/// A CSV file of the test's own, with the fields of a test table, as numbers.
struct Table {
    let names: [String]
    let rows: [[String]]

    init(_ path: String) throws {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var lines: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let text = line {
            lines.append(String(cString: text).filter { $0 != "\n" && $0 != "\r" && $0 != "\r\n" })
        }
        names = lines[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        rows = lines.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    /// A column's numbers; `nil` where the cell is empty.
    func column(_ name: String) throws -> [Double?] {
        let index = try #require(names.firstIndex(of: name), "\(name)")
        return rows.map { Double($0[index]) }
    }
}

/// The value below which a share of the values lies.
func percentile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
}

/// Cuts a file down to its first hundred bytes.
func truncateFile(_ path: String) -> Bool {
    truncate(path, 100) == 0
}
