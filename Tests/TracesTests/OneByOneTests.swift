import Binnacle
import BinnacleHeading
import Testing
import Traces

/// Live samples come one by one; a replay in large deliveries has to find the same.
@Suite struct OneByOneTests {
    private static let golden = fixtures + "/../Golden"

    private func events(_ path: String, _ play: (TraceSource, Pipeline) -> Void) throws -> [String] {
        let source = try TraceSource(paths: [path])
        let router = Router()
        var lines: [String] = []
        router.add(ClosureHandler { lines.append($0.json) })
        // Every accelerometer gets a manager, so that several detectors speak about one delivery.
        let managers = source.streams.filter { $0.kind == .accelerometer }.map {
            MotionManager(name: "motion \($0.sensor.name)", accelerometer: $0)
        }
        var settings = NorthSettings()
        settings.uncalibratedIronMicrotesla = 0
        let north = NorthDetector(
            accelerometer: source.firstStream(of: .accelerometer), magnetometer: source.firstStream(of: .magnetometer),
            settings: settings)
        for manager in managers { manager.delegate = router }
        north.delegate = router
        let detectors: [any DrivenDetector] = managers + [north]
        for detector in detectors { detector.startDetection() }
        play(source, Pipeline(source: source, detectors: detectors, router: router))
        return lines
    }

    @Test(arguments: [
        "broad05", "broad33", "xio", "walk-recording", "simulated-drop", "simulated-turn", "simulated-faults",
        "simulated-three-sensors", "simulated-evemu",
    ])
    func theSameSamplesOfferedOneByOneGiveTheSameEvents(name: String) throws {
        let path = "\(Self.golden)/\(name)" + (name.hasSuffix("evemu") ? ".evemu" : ".csv")
        let whole = try events(path) { _, pipeline in pipeline.run() }
        let oneByOne = try events(path) { source, pipeline in
            let all = Collected(source)
            var next = Array(repeating: 0, count: all.samples.count)
            let delivery = SampleDelivery(streams: source.streams, capacity: 1)
            for stream in all.order {
                delivery.removeAll()
                delivery.batches[stream].append(all.samples[stream][next[stream]])
                next[stream] += 1
                pipeline.offer(delivery)
            }
            pipeline.router.finish()
        }
        #expect(oneByOne == whole)
        #expect(whole.count > 2)
    }
}
