import Binnacle
import BinnacleHeading
import Glibc
import SensorGeometry
import Synchronization
import TestSupport
import Testing

/// A recording of nine axes with regular stamps, and the columns that a test compares with.
struct Recording: Sendable {
    let gyroscope: [SIMD3<Float>]
    let acceleration: [SIMD3<Float>]
    let field: [SIMD3<Float>]
    /// The reference orientation, where there is one.
    let reference: [Quaternion?]
    let stepNanoseconds: Int64

    init(_ name: String, stepNanoseconds: Int64 = 7_000_000, reference: String? = "ref_q") throws {
        let table = try NumberTable("\(Binary.fixtures)/gyroscope/\(name).csv")
        gyroscope = try table.vectors("gx", "gy", "gz")
        acceleration = try table.vectors("ax", "ay", "az")
        field = try table.vectors("mx", "my", "mz")
        self.reference = try reference.map { try table.quaternions($0) } ?? []
        self.stepNanoseconds = stepNanoseconds
    }

    /// Plays each row to a fusion, in the order of the rows.
    ///
    /// - Parameter row: Offers what it wants of a row to the fusion.
    func play(_ row: (_ index: Int, _ time: Int64) -> Void) {
        for index in gyroscope.indices { row(index, Int64(index) * stepNanoseconds) }
    }
}

/// The numbers of a CSV file; an empty cell is not a number.
struct NumberTable {
    private let names: [String]
    let rows: [[Double]]

    /// The tables by their paths: many tests play the same recordings.
    private static let tables = Mutex<[String: NumberTable]>([:])

    init(_ path: String) throws {
        self = try Self.tables.withLock { tables in
            let table = try tables[path] ?? NumberTable(reading: path)
            tables[path] = table
            return table
        }
    }

    private init(reading path: String) throws {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        var names: [String] = []
        var rows: [[Double]] = []
        while getline(&line, &capacity, file) > 0, let text = line {
            guard !names.isEmpty else {
                names = String(cString: text).filter { $0 != "\n" && $0 != "\"" }
                    .split(separator: ",").map(String.init)
                continue
            }
            var row: [Double] = []
            row.reserveCapacity(names.count)
            var place = text
            while row.count < names.count {
                var end: UnsafeMutablePointer<CChar>?
                let value = strtod(place, &end)
                row.append(end == place ? .nan : value)
                guard let end, end.pointee != 0 else { break }
                place = end + 1
            }
            while row.count < names.count { row.append(.nan) }
            rows.append(row)
        }
        (self.names, self.rows) = (names, rows)
    }

    func column(_ name: String) throws -> Int { try #require(names.firstIndex(of: name), "\(name)") }

    func vectors(_ x: String, _ y: String, _ z: String) throws -> [SIMD3<Float>] {
        let (x, y, z) = (try column(x), try column(y), try column(z))
        return rows.map { SIMD3(Float($0[x]), Float($0[y]), Float($0[z])) }
    }

    func quaternions(_ prefix: String) throws -> [Quaternion?] {
        let w = try column("\(prefix)w")
        return rows.map { row in
            row[w].isNaN ? nil : Quaternion(w: row[w], x: row[w + 1], y: row[w + 2], z: row[w + 3]).normalized
        }
    }
}

/// What a fusion reaches on a recording with a reference, as the comments of the fields say.
struct Score: CustomStringConvertible {
    /// The headings' errors, without their signs, in degrees.
    private(set) var errors: [Double] = []
    /// The whole error of the orientation, in degrees.
    private var totals: [Double] = []
    private var accuracies: [Double] = []
    private var lagNumerator = 0.0
    private var lagDenominator = 0.0
    /// The rows with a reference.
    private var moving = 0

    mutating func take(_ fusion: Fusion, reference: Quaternion?, gyroscope: SIMD3<Float>) {
        guard let reference else { return }
        moving += 1
        guard fusion.fault == nil else { return }
        let error = (fusion.orientation * reference.conjugate).normalized
        let heading = 2 * atan2(error.w < 0 ? -error.z : error.z, abs(error.w))
        errors.append(abs(heading) * 180 / .pi)
        totals.append(error.angle * 180 / .pi)
        accuracies.append(fusion.accuracyDegrees)
        guard abs(heading) < .pi / 3 else { return }
        let rate = reference.rotate(SIMD3<Double>(gyroscope)).z
        lagNumerator += heading * rate
        lagDenominator += rate * rate
    }

    var validShare: Double { Double(errors.count) / Double(moving) }
    var p95: Double { Self.percentile(errors, 0.95) }
    var median: Double { Self.percentile(errors, 0.5) }
    /// The root mean square of the orientation's error.
    var total: Double { (totals.reduce(0) { $0 + $1 * $1 } / Double(totals.count)).squareRoot() }
    var accuracy: Double { Self.percentile(accuracies, 0.5) }
    /// The share of the errors that are within the accuracy.
    var within: Double { Double(zip(errors, accuracies).count { $0 <= $1 }) / Double(errors.count) }
    /// How far the heading is behind a turn, in seconds.
    var lag: Double { -lagNumerator / lagDenominator }

    var description: String {
        func text(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }
        return
            "heading median \(text(median))°, p95 \(text(p95))°, total RMSE \(text(total))°, accuracy \(text(accuracy))°, "
            + "within \(text(within * 100)) %, valid \(text(validShare * 100)) %, lag \(text(lag)) s"
    }

    static func percentile(_ values: [Double], _ share: Double) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        let place = share * Double(sorted.count - 1)
        let index = Int(place)
        guard index + 1 < sorted.count else { return sorted[index] }
        return sorted[index] + (sorted[index + 1] - sorted[index]) * (place - Double(index))
    }
}

extension Fusion {
    /// Takes a row of a recording.
    mutating func take(_ recording: Recording, _ index: Int, at time: Int64) {
        update(gyroscope: recording.gyroscope[index], at: time)
        update(acceleration: recording.acceleration[index], at: time)
        update(field: recording.field[index], at: time)
    }

    /// The gyroscope's offset in rad/s.
    var offsetRadiansPerSecond: Vector3 { memory.offset }

    /// The heading of the device's +Y, in degrees.
    var headingOfY: Double {
        let direction = orientation.rotate(SIMD3(0, 1, 0))
        return Angle.normalizedDegrees(atan2(direction.x, direction.y) * 180 / .pi)
    }
}
