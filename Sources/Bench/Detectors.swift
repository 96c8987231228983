import Binnacle

/// A detector that looks at a walk of ten seconds again and again, as fast as it can.
private final class DetectorRun {
    private static let rateHz = 400.0
    static let batch = 4000

    private let delivery: SampleDelivery
    private let samples: [SIMD3<Float>]
    private let detector: (any EventDetector)?
    private var start: Int64 = 0

    init(_ make: (SampleStream) -> (any EventDetector)?) {
        let stream = SampleStream(sensor: Sensor(name: "accel_3d"), kind: .accelerometer)
        delivery = SampleDelivery(streams: [stream], capacity: Self.batch)
        var settings = SimulationSettings()
        settings.model = .walk
        settings.rateHz = Self.rateHz
        let model = MotionModel(settings)
        samples = (0..<Int64(Self.batch)).map { model.specificForce(at: $0 + 800) }
        detector = make(stream)
        detector?.startDetection()
    }

    func run() {
        delivery.removeAll()
        let interval = Int64(1e9 / Self.rateHz)
        delivery.batches[0].append(count: Self.batch) { times, x, y, z in
            for (index, sample) in samples.enumerated() {
                times[index] = start + Int64(index) * interval
                (x[index], y[index], z[index]) = (sample.x, sample.y, sample.z)
            }
        }
        start += Int64(Self.batch) * interval
        detector?.process(delivery)
    }
}

extension Bench {
    /// Measures detectors of one accelerometer without what is around them.
    func measureDetectors() throws(BenchError) {
        let runs: [(name: String, run: DetectorRun)] = [
            ("filling the delivery", DetectorRun { _ in nil }),
            ("motion", DetectorRun { MotionManager(accelerometer: $0) }),
            ("tap", DetectorRun { TapDetector(accelerometer: $0) }),
            ("steps", DetectorRun { StepDetector(accelerometer: $0) }),
            ("stationary", DetectorRun { StationaryDetector(accelerometer: $0) }),
            ("vibration", DetectorRun { VibrationDetector(accelerometer: $0) }),
        ]
        let times = try times(runs.map { run in Variant(run.name) { run.run.run() } })
        let rows = zip(runs, times).map { run, time in
            var row = FigureRow(type: "detector")
            row.add("detector", run.name, head: "detector")
            row.add(
                "ns_alone", number: (time.median - times[0].median) / Double(DetectorRun.batch), decimals: 1,
                head: "alone")
            row.add("ns_per_sample", nanoseconds: time.scaled(by: 1 / Double(DetectorRun.batch)))
            return row
        }
        write("detectors: a walk at 400 Hz in deliveries of \(DetectorRun.batch), ns a sample", rows)
    }
}
