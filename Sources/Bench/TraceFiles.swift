import Binnacle
import Glibc
import LinuxSystem
import Traces

/// Recordings of a made-up device, in each format, for the time of a measurement.
///
/// The folder and the files in it go with the object.
final class TraceFiles {
    /// The rows in each file.
    let rowCount: Int
    /// The files, by format.
    let files: [(format: String, path: String, byteCount: Int)]

    private let folder: String

    private static let capacity = 4096

    /// Writes the recordings.
    ///
    /// - Parameters:
    ///   - rowCount: The samples in each.
    ///   - formats: The ends of the files' names.
    ///   - isCancelled: Asked again and again.
    /// - Throws: ``BenchError`` when a file cannot be written.
    init(rowCount: Int, formats: [String], isCancelled: () -> Bool) throws(BenchError) {
        self.rowCount = rowCount
        let folder = try TemporaryFolder.make()
        var files: [(format: String, path: String, byteCount: Int)] = []
        do throws(BenchError) {
            for format in formats {
                let path = "\(folder)/trace.\(format)"
                files.append((format, path, 0))
                try Self.write(rowCount, to: path, isCancelled: isCancelled)
                var status = stat()
                stat(path, &status)
                files[files.count - 1].byteCount = Int(status.st_size)
            }
        } catch {
            Self.remove(files.map(\.path), folder)
            throw error
        }
        self.folder = folder
        self.files = files
    }

    deinit {
        Self.remove(files.map(\.path), folder)
    }

    private static func remove(_ paths: [String], _ folder: String) {
        for path in paths { unlink(path) }
        rmdir(folder)
    }

    /// A quiet device at 100 Hz that is pushed for a second every hour.
    private static func write(_ rowCount: Int, to path: String, isCancelled: () -> Bool) throws(BenchError) {
        let stream = SampleStream(sensor: Sensor(name: "accel_3d"), kind: .accelerometer)
        var numbers = SeededNumbers(seed: 1)
        do throws(TraceError) {
            let writer = try TraceWriter(path: path, streams: [stream])
            let delivery = SampleDelivery(streams: [stream], capacity: capacity)
            for row in 0..<rowCount {
                let isPushed = row % 360_000 >= 359_900
                delivery.batches[0].append(
                    timeNanoseconds: Int64(row) * 10_000_000,
                    x: rounded(numbers.signed() * 0.05 + (isPushed ? Float(row % 20) * 0.2 : 0)),
                    y: rounded(numbers.signed() * 0.05), z: rounded(9.81 + numbers.signed() * 0.05))
                guard delivery.batches[0].isFull || row == rowCount - 1 else { continue }
                if isCancelled() { break }
                try writer.write(delivery)
                delivery.removeAll()
            }
            try writer.flush()
        } catch {
            throw .unavailable(error.description)
        }
        if isCancelled() { throw .cancelled }
    }

    /// As a device gives it: in steps of a ten-thousandth.
    private static func rounded(_ value: Float) -> Float { (value * 10_000).rounded() / 10_000 }
}
