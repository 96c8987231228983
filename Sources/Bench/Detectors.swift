import Binnacle

extension Bench {
    /// Measures detectors of one accelerometer without what is around them.
    func measureDetectors() throws(BenchError) {
        let (count, rateHz) = (4000, 400.0)
        var settings = SimulationSettings()
        settings.model = .walk
        settings.rateHz = rateHz
        let model = MotionModel(settings)
        let samples = (0..<Int64(count)).map { model.sample(.accelerometer, at: $0 + 800) }
        /// Looks at a walk of ten seconds again and again, as fast as it can.
        func variant(_ name: String, _ make: (SampleStream) -> (any EventDetector)?) -> Variant {
            let stream = SampleStream(sensor: Sensor(name: "accel_3d"), kind: .accelerometer)
            let delivery = SampleDelivery(streams: [stream], capacity: count)
            let detector = make(stream)
            detector?.startDetection()
            let interval = Int64(1e9 / rateHz)
            var start: Int64 = 0
            return Variant(name) {
                delivery.removeAll()
                delivery.batches[0].append(count: count) { times, x, y, z in
                    for (index, sample) in samples.enumerated() {
                        times[index] = start + Int64(index) * interval
                        (x[index], y[index], z[index]) = (sample.x, sample.y, sample.z)
                    }
                }
                start += Int64(count) * interval
                detector?.process(delivery)
            }
        }
        let runs = [
            variant("filling the delivery") { _ in nil },
            variant("motion") { MotionManager(accelerometer: $0) },
            variant("tap") { TapDetector(accelerometer: $0) },
            variant("steps") { StepDetector(accelerometer: $0) },
            variant("stationary") { StationaryDetector(accelerometer: $0) },
            variant("vibration") { VibrationDetector(accelerometer: $0) },
        ]
        let times = try times(runs)
        let rows = zip(runs, times).map { run, time in
            var row = FigureRow(type: "detector")
            row.add("detector", run.label, head: "detector")
            row.add(
                "ns_alone", number: (time.median - times[0].median) / Double(count), decimals: 1,
                head: "alone")
            row.add("ns_per_sample", nanoseconds: time.scaled(by: 1 / Double(count)))
            return row
        }
        write("detectors: a walk at 400 Hz in deliveries of \(count), ns a sample", rows)
    }
}
