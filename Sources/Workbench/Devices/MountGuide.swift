import Binnacle
import Configuration
import Handlers
import LinuxSensors
package import LinuxSystem
import PlainText
import SensorGeometry
package import Station

/// Guides a user through the poses that determine an accelerometer's mount matrix and sign.
package struct MountGuide {
    private let device: SensorDevice
    private let finder: DeviceFinder
    private let output: LineWriter

    /// The longest wait for a pose's samples.
    private static let longestWait: Duration = .seconds(15)

    /// Chooses the accelerometer by its name, label, node or identity, or the first one.
    package init(sensor: String?, root: String?, output: LineWriter) throws(StationError) {
        finder = DeviceFinder(under: root)
        self.output = output
        let accelerometers = try finder.list().filter { $0.kinds.contains(.accelerometer) }
        guard
            let device = accelerometers.first(where: { device in sensor.map { device.answers(to: $0) } ?? true })
        else {
            let found = accelerometers.map { "'\($0.name.printable)'" }.joined(separator: ", ")
            throw StationError(
                .unavailable,
                "no accelerometer \(sensor.map { "'\($0)'" } ?? "") to check; "
                    + (found.isEmpty ? "none is there" : "found are \(found)"))
        }
        self.device = device
    }

    /// Asks for the poses and reports the result; `nextAnswer` waits for Enter, and returns `nil` at the end of the
    /// input.
    package func run(nextAnswer: () -> String?) throws(StationError) {
        output.write("Checking the accelerometer \(device.name.printable). Hold the device as asked, then press Enter.")
        var solver = MountSolver()
        for pose in MountSolver.Pose.allCases {
            output.write(pose.request)
            output.flush()
            guard nextAnswer() != nil else {
                throw StationError(.unavailable, "nobody answers: the guide needs a person at a terminal")
            }
            let mean = try rest()
            output.write("    x \(number(mean.x))  y \(number(mean.y))  z \(number(mean.z)) m/s²")
            solver.add(pose, x: mean.x, y: mean.y, z: mean.z)
        }
        guard let solution = solver.solve() else {
            throw StationError(.data, "the poses look all alike: was the device turned? Start again")
        }
        guard solution.worstDegrees < 30 else {
            throw StationError(
                .data,
                "the poses do not fit together (off by up to \(number(solution.worstDegrees))°): one was probably another "
                    + "than asked for. Start again")
        }
        report(solution)
    }

    private func report(_ solution: MountSolver.Solution) {
        output.write(
            "The poses fit within \(number(solution.worstDegrees))°. For the configuration, in its [sensor.NAME]:")
        output.write("")
        output.write("acceleration = \"\(solution.acceleration.rawValue)\"")
        output.write("mount_matrix = \"\(solution.matrix)\"")
        output.write("")
        output.write("Or, for every program on this machine, in /etc/udev/hwdb.d/61-sensor-local.hwdb, and then")
        output.write("acceleration = \"gravity\" without a mount_matrix in the configuration:")
        output.write("")
        output.write("sensor:modalias:\(device.modalias?.printable ?? "MODALIAS-OF-THE-DEVICE"):*")
        output.write(" ACCEL_MOUNT_MATRIX=\(solution.hardwareDatabaseMatrix)")
    }

    /// The mean of one second at rest, in the device's own axes.
    private func rest() throws(StationError) -> Vector3 {
        var sensorSettings = SensorSettings()
        sensorSettings.mountMatrix = .identity
        let section = SensorSection(device, name: device.name, settings: sensorSettings)
        let source = try Assembly([(section, [.accelerometer])]).makeSource(finder: finder)
        defer { source.stop() }
        var settings = Session.Settings()
        settings.duration = Self.longestWait
        let rest = Rest()
        let session = Session(source, capacity: 256, settings: settings) { rest.add($0) }
        session.delegate = rest
        session.run()
        if rest.isComplete { return try mean(rest.samples) }
        if let failure = session.failures.first { throw failure }
        throw StationError(
            .unavailable,
            "\(device.name.printable) gave \(rest.samples.count) samples in 15 s: too few to judge a rest")
    }

    private func mean(_ samples: [Sample]) throws(StationError) -> Vector3 {
        let readings = samples.map { SIMD3<Double>($0) }
        let mean = readings.reduce(.zero, +) / Double(readings.count)
        let spread = readings.map { (($0 - mean) * ($0 - mean)).sum() }.max() ?? 0
        guard spread < 4 else {
            throw StationError(
                .data, "the device moved by more than 2 m/s² while it was looked at: start again, and hold it still")
        }
        let length = (mean * mean).sum().squareRoot()
        guard (6...14).contains(length) else {
            throw StationError(
                .data, "at rest the accelerometer reads \(number(length)) m/s² instead of 9.8: its scale is wrong")
        }
        return mean
    }

    private func number(_ value: Double) -> String {
        Figure.Value.number(value, decimals: 2).description
    }
}

extension MountSolver.Pose {
    /// The instruction for the user.
    fileprivate var request: String {
        switch self {
        case .flat: "Lay it flat, the screen up."
        case .leftDown: "Stand it on its left edge."
        case .rightDown: "Stand it on its right edge."
        case .topDown: "Stand it on its top edge, upside down."
        case .bottomDown: "Stand it on its bottom edge, upright."
        }
    }
}

/// Collects the samples of one pose.
private final class Rest: SessionDelegate {
    private(set) var samples: [Sample] = []

    /// The sample time that a rest needs.
    private static let nanoseconds: Int64 = 1_000_000_000

    var isComplete: Bool {
        guard let first = samples.first, let last = samples.last, samples.count >= 5 else { return false }
        return last.timeNanoseconds - first.timeNanoseconds >= Self.nanoseconds
    }

    func add(_ delivery: SampleDelivery) {
        let batch = delivery.batches[0]
        for index in 0..<batch.count { samples.append(batch[index]) }
    }

    func session(_ session: Session, didTurn answer: SampleAnswer) {
        if isComplete { return session.end() }
        if case .failed(_, let reason) = answer { session.end(StationError(.unavailable, "\(reason)")) }
    }
}
