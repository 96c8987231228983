import Binnacle
import Configuration
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

    private static let longestWait: Duration = .seconds(15)

    /// Selects an accelerometer by name, label, node or identity, else the first one.
    package init(sensor: String?, root: String?, output: LineWriter) throws(StationError) {
        finder = DeviceFinder(under: root)
        self.output = output
        let accelerometers = try finder.list().filter { $0.kinds.contains(.accelerometer) }
        guard
            let device = accelerometers.first(where: { device in sensor.map { device.answers(to: $0) } ?? true })
        else {
            let found = accelerometers.map { "'\($0.name.printable)'" }.joined(separator: ", ")
            throw .unavailable(
                "no accelerometer \(sensor.map { "'\($0)' " } ?? "")to check; "
                    + (found.isEmpty ? "none is there" : "found are \(found)"))
        }
        self.device = device
    }

    /// Requests the poses and reports the result; `nextAnswer` waits for Enter, and returns `nil` at the end of the
    /// input.
    package func run(nextAnswer: () -> String?) throws(StationError) {
        output.write("Checking the accelerometer \(device.name.printable). Hold the device as asked, then press Enter.")
        var solver = MountSolver()
        for pose in MountSolver.Pose.allCases {
            try ask(pose.request, nextAnswer)
            let mean = try rest()
            output.write("    x \(mean.x.text(2))  y \(mean.y.text(2))  z \(mean.z.text(2)) m/s²")
            solver.add(pose, x: mean.x, y: mean.y, z: mean.z)
        }
        guard let solution = solver.solve() else {
            throw .data("the poses look all alike: was the device turned? Start again")
        }
        guard solution.worstDegrees < 30 else {
            throw .data(
                "the poses do not fit together (off by up to \(solution.worstDegrees.text(2))°): one was probably another "
                    + "than asked for. Start again")
        }
        report(solution)
        try checkGyroscope(solution.matrix, nextAnswer)
    }

    private func ask(_ request: String, _ nextAnswer: () -> String?) throws(StationError) {
        output.write(request)
        output.flush()
        guard nextAnswer() != nil else {
            throw .unavailable("standard input is not a terminal: the guide needs a person who answers")
        }
    }

    // MARK: - Gyroscope

    /// Requests turns, and reports how the gyroscope beside the accelerometer is mounted.
    private func checkGyroscope(_ matrix: MountMatrix, _ nextAnswer: () -> String?) throws(StationError) {
        let devices = try finder.list()
        let own = device.kinds.contains(.gyroscope) ? device : DeviceKinship.gyroscope(for: device, among: devices)
        guard let gyroscope = own else {
            return output.write("There is no gyroscope that turns with it.")
        }
        output.write("")
        output.write(
            "Checking the gyroscope \(gyroscope.name.printable). Lay the device flat, the screen up, before each turn. After "
                + "Enter keep it still for a second, turn it within \(Self.turnSeconds) s, and keep it still again.")
        var solver = TurnSolver()
        for turn in TurnSolver.Turn.allCases {
            try ask(turn.request, nextAnswer)
            let radians = try turned()
            let degrees = radians * (180 / .pi)
            output.write("    x \(degrees.x.text(2))  y \(degrees.y.text(2))  z \(degrees.z.text(2))°")
            do throws(TurnSolver.Flaw) {
                try solver.add(turn, radians: radians)
            } catch {
                throw .data(
                    error == .noTurn
                        ? "the gyroscope has seen no quarter turn: was the device turned? Start again"
                        : "that was a turn about more than one axis: start again, and turn it about one edge at a time")
            }
        }
        guard let solution = solver.solve() else {
            throw .data("the turns look all alike: were they those that were asked for? Start again")
        }
        report(solution, beside: matrix)
    }

    private func report(_ solution: TurnSolver.Solution, beside matrix: MountMatrix) {
        let differences = (0..<3).compactMap { row -> String? in
            let name = ["x", "y", "z"][row]
            let (found, known) = (solution.matrix.elements, matrix.elements)
            let products = (0..<3).map { found[3 * row + $0] / solution.scale * known[3 * row + $0] }
            let cosine = products.reduce(0, +)
            if cosine > 0.8 { return nil }
            return cosine < -0.8 ? "\(name) is reversed" : "\(name) is another axis"
        }
        guard !differences.isEmpty || solution.scale != 1 else {
            return output.write("The gyroscope turns with the accelerometer: it needs no key of its own.")
        }
        if !differences.isEmpty {
            output.write("Beside the accelerometer's matrix, the gyroscope's \(Spelling.list(differences)).")
        }
        if solution.scale != 1 {
            let unit = solution.scale > 1 ? "radians as degrees" : "degrees as radians"
            output.write("Its scale takes \(unit): the driver, or the hub's firmware, names the wrong unit.")
        }
        output.write("For the configuration, in the same [sensor.NAME]:")
        output.write("")
        output.write("gyroscope_matrix = \"\(solution.matrix)\"")
    }

    /// Time for a turn.
    private static let turnSeconds = 6

    /// The angle of a turn in radians about the gyroscope's own axes.
    private func turned() throws(StationError) -> Vector3 {
        var settings = SensorSettings()
        settings.gyroscopeMatrix = .identity
        let section = SensorSection(device, name: device.name, settings: settings)
        let samples = try collect(
            .gyroscope, WantedSensor(section, [.accelerometer], optionalKinds: [.gyroscope]),
            seconds: Self.turnSeconds, leastCount: 20
        ) { "the gyroscope gave \($0) samples in 15 s: too few to judge a turn" }
        return Self.angle(samples)
    }

    /// Rest before and after the turn.
    private static let restNanoseconds: Int64 = 500_000_000

    /// Integrates the rates, minus the gyroscope's offset.
    private static func angle(_ samples: [Sample]) -> Vector3 {
        guard let first = samples.first, let last = samples.last else { return .zero }
        let rests = [
            samples.filter { $0.timeNanoseconds < first.timeNanoseconds + restNanoseconds },
            samples.filter { $0.timeNanoseconds > last.timeNanoseconds - restNanoseconds },
        ].map(average)
        // The quieter rest: a turn that began early or ended late spoils one of them.
        let offset = rests[0].spread < rests[1].spread ? rests[0].mean : rests[1].mean
        return zip(samples, samples.dropFirst()).reduce(Vector3.zero) { sum, pair in
            let seconds = Double(pair.1.timeNanoseconds - pair.0.timeNanoseconds) * 1e-9
            return sum + (Vector3(pair.1) - offset) * seconds
        }
    }

    private func report(_ solution: MountSolver.Solution) {
        output.write(
            "The poses fit within \(solution.worstDegrees.text(2))°. For the configuration, in its [sensor.NAME]:")
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

    /// The mean of one second at rest, in the sensor's own axes.
    private func rest() throws(StationError) -> Vector3 {
        var settings = SensorSettings()
        settings.mountMatrix = .identity
        let section = SensorSection(device, name: device.name, settings: settings)
        let samples = try collect(
            .accelerometer, WantedSensor(section, [.accelerometer]), seconds: 1, leastCount: 5
        ) { "\(device.name.printable) gave \($0) samples in 15 s: too few to judge a rest" }
        let (mean, spread) = Self.average(samples)
        guard spread < 4 else {
            throw .data("the device moved by more than 2 m/s² during the measurement: start again, and hold it still")
        }
        let length = (mean * mean).sum().squareRoot()
        guard (6...14).contains(length) else {
            throw .data("at rest the accelerometer reads \(length.text(2)) m/s² instead of 9.8: its scale is wrong")
        }
        return mean
    }

    /// The mean of samples, and the largest squared distance from it.
    private static func average(_ samples: [Sample]) -> (mean: Vector3, spread: Double) {
        guard !samples.isEmpty else { return (.zero, .infinity) }
        let readings = samples.map { Vector3($0) }
        let mean = readings.reduce(.zero, +) / Double(readings.count)
        return (mean, readings.map { (($0 - mean) * ($0 - mean)).sum() }.max() ?? 0)
    }

    /// Collects samples of one kind for some time; `scarcity` is the message for too few of them.
    private func collect(
        _ kind: SampleKind, _ wanted: WantedSensor, seconds: Int, leastCount: Int, scarcity: (Int) -> String
    ) throws(StationError) -> [Sample] {
        let source = try Assembly([wanted]).makeSource(finder: finder)
        defer { source.stop() }
        let settings = SampleLoop.Settings(duration: Self.longestWait)
        let stream = source.streams.first { $0.kind == kind }?.id
        let collection = SampleCollection(nanoseconds: Int64(seconds) * 1_000_000_000, leastCount: leastCount)
        let session = SampleLoop(source, capacity: 256, settings: settings) { delivery in
            if let batch = stream.flatMap({ delivery[$0] }) { collection.add(batch) }
        }
        session.delegate = collection
        session.run()
        if collection.isComplete { return collection.samples }
        if let failure = session.failures.first { throw failure }
        throw .unavailable(scarcity(collection.samples.count))
    }
}

extension TurnSolver.Turn {
    fileprivate var request: String {
        switch self {
        case .counterClockwise: "Turn it a quarter counter-clockwise, as seen from above, and let it lie."
        case .ontoBottom: "Stand it on its bottom edge, upright."
        case .ontoLeft: "Stand it on its left edge."
        }
    }
}

extension MountSolver.Pose {
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

private final class SampleCollection: SampleLoopDelegate {
    private(set) var samples: [Sample] = []
    /// Required time and number of samples.
    private let nanoseconds: Int64
    private let leastCount: Int

    init(nanoseconds: Int64, leastCount: Int) {
        self.nanoseconds = nanoseconds
        self.leastCount = leastCount
    }

    var isComplete: Bool {
        guard let first = samples.first, let last = samples.last, samples.count >= leastCount else { return false }
        return last.timeNanoseconds - first.timeNanoseconds >= nanoseconds
    }

    func add(_ batch: SampleBatch) {
        for index in 0..<batch.count { samples.append(batch[index]) }
    }

    func session(_ session: SampleLoop, didTurn answer: SampleAnswer) {
        if isComplete { return session.end() }
        if case .failed(_, let reason) = answer { session.end(StationError(.unavailable, "\(reason)")) }
    }
}
