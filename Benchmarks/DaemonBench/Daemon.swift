import BenchSupport

/// A daemon under measurement, on two devices that are FIFOs.
struct Daemon {
    let tree: BenchTree
    let program: Program
    /// From before it was started until it said that it is ready.
    let startNanoseconds: Int64

    /// One accelerometer, one magnetometer, and a detector of each sort.
    ///
    /// A shock is told with its first sample.
    static let sensors = """
        [sensor.chassis]
        source = "iio"
        match = { name = "accel_3d" }
        [sensor.compass]
        source = "iio"
        match = { name = "magn_3d" }
        [motion.moved]
        accelerometer = "chassis"
        shock_refractory_s = 0.001
        shock_window_s = 0
        [north.bow]
        accelerometer = "chassis"
        magnetometer = "compass"

        """

    /// The same, with each sample of the accelerometer read as it comes.
    static let promptSensors = sensors.replacing("name = \"accel_3d\" }", with: "name = \"accel_3d\" }\nlatency_s = 0")

    /// Starts a daemon and waits until it is ready; output and messages go to files in the tree.
    init(
        _ binary: String, output: String? = nil, errors: String? = nil, configuration: (BenchTree) -> String
    ) {
        let tree = BenchTree(["in_accel", "in_magn"])
        self.tree = tree
        let manager = NotifySocket(tree.root + "/notify")
        let path = tree.put("binnacle.toml", configuration(tree))
        let begin = monotonic()
        program = Program(
            [binary, "run", "--root", tree.root, "--config", path], output: output.map { tree.root + "/" + $0 },
            errors: errors.map { tree.root + "/" + $0 }, environment: ["NOTIFY_SOCKET=" + manager.path])
        manager.waitForReady()
        startNanoseconds = monotonic() - begin
    }

    /// Ends it and removes its files.
    @discardableResult
    func end() -> Program.Usage {
        let usage = program.end()
        tree.remove()
        return usage
    }

    /// What it uses meanwhile: percent of one core, and wake-ups a second.
    func cost(during body: () -> Void) -> (share: Double, rate: Double) {
        let (time, wakeUps, begin) = (program.processorNanoseconds, program.wakeUpCount, monotonic())
        body()
        let elapsed = Double(monotonic() - begin)
        let share = Double(program.processorNanoseconds - time) / elapsed * 100
        return (share, Double(program.wakeUpCount - wakeUps) / elapsed * 1e9)
    }

    /// Writes one scan of each device in turn, at rest and facing north, each at its own time.
    func feed(hertz: Int, seconds: Int) {
        feed(hertz: tree.devices.map { _ in Double(hertz) }, seconds: seconds)
    }

    /// The same, with each device at the rate that the daemon has asked of it.
    func feedAsAsked(seconds: Int) {
        feed(hertz: tree.devices.indices.map(tree.rateHz), seconds: seconds)
    }

    private func feed(hertz: [Double], seconds: Int) {
        let periods = hertz.map { Int64(1e9 / $0) }
        let begin = monotonic()
        // Devices know nothing of each other, so each wakes the daemon by itself.
        var dues = [begin, begin + periods[1] / 2]
        while true {
            let device = dues[0] <= dues[1] ? 0 : 1
            guard dues[device] < begin + Int64(seconds) * 1_000_000_000 else { return }
            sleepUntil(dues[device])
            if device == 0 { rest() } else { tree.devices[1].writeScan(x: 0, y: 2000, z: -4000) }
            dues[device] += periods[device]
        }
    }

    /// Writes one scan of an accelerometer at rest.
    func rest() { tree.writeScan(x: 0, z: 981) }
}
