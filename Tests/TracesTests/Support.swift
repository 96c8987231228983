import Binnacle
import BinnacleHeading
import BinnacleTesting
import Glibc
import Testing
import Traces

/// A file that lives as long as this object.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8]) throws {
        // Letters would say something of the recording: mkstemp has made 9Hz of them.
        path = "/tmp/binnacle-test-\(UInt64.random(in: 0 ... .max))"
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
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

extension TraceRepairs {
    /// Whether there were no defects.
    var isEmpty: Bool { counts.isEmpty }
}

/// Plays recordings, by their names in the fixtures, to a detector of the heading.
func findHeadings(
    in names: [String], _ settings: NorthSettings, calibration: MagnetometerCalibration? = nil,
    for delegate: any NorthDetectorDelegate
) throws {
    let source = try TraceSource(paths: names.map { "\(fixtures)/\($0)" })
    // The makers of these sensors have removed the hard iron.
    var settings = settings
    settings.uncalibratedIronMicrotesla = 0
    let magnetometer = source.firstStream(of: .magnetometer)
    magnetometer?.sensor.calibration = calibration.map { SensorCalibration(magnetometer: $0) }
    let detector = NorthDetector(
        accelerometer: source.firstStream(of: .accelerometer), magnetometer: magnetometer,
        settings: settings)
    detector.delegate = delegate
    detector.startDetection()
    Pipeline(source: source, detectors: [detector]).run()
}

/// Everything that a source delivers, by stream, in its order, and how it ended.
struct Collected {
    var samples: [[Sample]]
    /// The streams' indices in the order in which their samples come.
    var order: [Int] = []
    var failures: [any Error] = []

    init(_ source: TraceSource, capacity: Int = 4096) {
        samples = source.streams.map { _ in [] }
        let delivery = SampleDelivery(streams: source.streams, capacity: capacity)
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

/// A sample with the index of its stream, as it arrives.
struct Arrival: Equatable, CustomStringConvertible {
    let stream: Int
    let sample: Sample

    init(_ stream: Int, _ timeNanoseconds: Int64, _ x: Float = 1, _ y: Float = 2, _ z: Float = 3) {
        self.stream = stream
        sample = Sample(timeNanoseconds: timeNanoseconds, x: x, y: y, z: z)
    }

    init(stream: Int, sample: Sample) {
        self.stream = stream
        self.sample = sample
    }

    var description: String { "\(stream)@\(sample.timeNanoseconds) \(sample.x) \(sample.y) \(sample.z)" }

    /// Equal to the last bit, the sign of a zero too.
    static func == (left: Arrival, right: Arrival) -> Bool {
        func bits(_ sample: Sample) -> [UInt32] { [sample.x.bitPattern, sample.y.bitPattern, sample.z.bitPattern] }
        return left.stream == right.stream && left.sample.timeNanoseconds == right.sample.timeNanoseconds
            && bits(left.sample) == bits(right.sample)
    }
}

extension ScriptedSource {
    /// Delivers a list of samples in the order in which they arrive.
    convenience init(_ arrivals: [Arrival], streams: [SampleStream]) {
        self.init(streams: streams, samples: arrivals.map { ($0.stream, $0.sample) })
    }
}

/// Streams of sensors with these names and kinds, in the order of the list.
func makeStreams(_ sensors: [(name: String, kind: SampleKind)]) -> [SampleStream] {
    sensors.map { SampleStream(sensor: Sensor(name: $0.name), kind: $0.kind) }
}

/// A path in a folder of its own at which there is no file yet.
final class UnusedPath {
    let path: String
    private let folder: String

    init(_ name: String = "recording.csv") {
        var template = Array("/tmp/binnacle-test-XXXXXX".utf8CString)
        _ = mkdtemp(&template)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = "\(folder)/\(name)"
    }

    /// What the file holds by now.
    func bytes() throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return bytes
    }

    func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }

    deinit {
        unlink(path)
        rmdir(folder)
    }
}

extension Collected {
    /// The samples of all streams in the order in which they come.
    var arrivals: [Arrival] {
        var next = samples.map { _ in 0 }
        return order.map { stream in
            defer { next[stream] += 1 }
            return Arrival(stream: stream, sample: samples[stream][next[stream]])
        }
    }
}
