import Binnacle
import BinnacleHeading
import BinnacleTesting
import Glibc
import Testing
import Traces

/// What real recordings are known to contain; the measured figures are printed so that a run can be quoted.
@Suite struct TruthTests {
    /// The heading at every sample of a recording.
    private func headings(_ names: [String], _ change: (inout NorthSettings) -> Void) throws -> [HeadingEvent] {
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0
        // Which headings can be trusted is another matter.
        settings.accelerationGateG = nil
        settings.dipGateDegrees = nil
        settings.accuracyLimitDegrees = nil
        settings.interferencePercent = nil
        change(&settings)
        let log = RecordingDelegate()
        try findHeadings(in: names, settings, for: log)
        return log.headings
    }

    private func seconds(_ event: HeadingEvent) -> Double { Double(event.timeNanoseconds) * 1e-9 }

    @Test func broad05HasItsFourMotionsAndNoOther() throws {
        let labels = [(35.39, 68.14), (76.02, 101.21), (124.60, 147.20), (157.40, 178.85)]
        let source = try TraceSource(paths: ["\(fixtures)/broad/broad05_rotation_breaks.csv"])
        let manager = MotionManager(accelerometer: source.firstStream(of: .accelerometer))
        let log = RecordingDelegate()
        manager.delegate = log
        manager.startDetection()
        Pipeline(source: source, detectors: [manager]).run()
        try #require(log.motions.map(\.kind) == labels.flatMap { _ in [MotionEvent.Kind.began, .ended] })
        for (index, (start, end)) in labels.enumerated() {
            let late = Double(log.motions[2 * index].timeNanoseconds) * 1e-9 - start
            let lateEnd = Double(log.motions[2 * index + 1].timeNanoseconds) * 1e-9 - end
            print("broad05 motion \(index + 1): starts \(late) s, ends \(lateEnd) s after its label")
            #expect((-0.1...0.8).contains(late))
            #expect((-0.1...1.5).contains(lateEnd))
        }
    }

    @Test(arguments: [Duration.milliseconds(100), .milliseconds(250)])
    func broad05HeadingAtRest(smoothing: Duration) throws {
        let table = try Table("\(fixtures)/broad/broad05_rotation_breaks.csv")
        let times = try table.column("t_s").compactMap { $0 }
        let references = try table.column("ref_heading_y_deg")
        let horizontal = try table.column("ref_y_horizontal")
        let moving = try table.column("moving")
        let events = try headings(["broad/broad05_rotation_breaks.csv"]) {
            $0.smoothing = smoothing
            $0.uprightAxis = nil
        }
        var errors: [Double] = []
        var lastMotion = -Double.infinity
        var next = events.startIndex
        for (row, time) in times.enumerated() {
            if moving[row] == 1 { lastMotion = time }
            while next < events.endIndex, seconds(events[next]) < time - 0.001 { next += 1 }
            // Settled: at rest for a second. Where +Y stands upright, the reference has no heading of it.
            guard time - lastMotion > 1, let reference = references[row], horizontal[row] ?? 0 > 0.5,
                next < events.endIndex, abs(seconds(events[next]) - time) < 0.001
            else { continue }
            errors.append(abs(Angle.differenceDegrees(from: reference, to: events[next].headingDegrees)))
        }
        let median = percentile(errors, 0.5)
        let p95 = percentile(errors, 0.95)
        print("broad05 at rest, smoothing \(smoothing): \(errors.count) samples, median \(median)°, p95 \(p95)°")
        #expect(errors.count > 5000)
        #expect(median <= 1.5)
        #expect(p95 <= 3)
    }

    @Test func phyphoxWalkHasItsFiveLegs() throws {
        let legs = [(1.0, 28.0, 301.0), (34, 52, 201), (57, 76, 117), (79, 86, 66), (90, 104, 29)]
        let events = try headings(["phyphox_walk/Accelerometer.csv", "phyphox_walk/Magnetometer.csv"]) {
            $0.smoothing = .milliseconds(500)
        }
        for (start, end, expected) in legs {
            let leg = events.filter { seconds($0) >= start && seconds($0) <= end }
            let east = leg.reduce(0) { $0 + sin($1.headingDegrees * .pi / 180) }
            let north = leg.reduce(0) { $0 + cos($1.headingDegrees * .pi / 180) }
            let mean = Angle.normalizedDegrees(atan2(east, north) * 180 / .pi)
            print("phyphox walk \(start)–\(end) s: \(mean)°, expected \(expected)°")
            #expect(abs(Angle.differenceDegrees(from: expected, to: mean)) <= 3)
            #expect(leg.count > 500)
        }
    }

    @Test func phyphoxWalkAgreesWithTheReferenceAllTheWay() throws {
        let oracle = try Table("\(fixtures)/phyphox_walk/oracle_heading_y_ema0.5.csv")
        let times = try oracle.column("t_s").compactMap { $0 }
        let expected = try oracle.column("heading_y_magnetic_deg").compactMap { $0 }
        let events = try headings(["phyphox_walk/Accelerometer.csv", "phyphox_walk/Magnetometer.csv"]) {
            $0.smoothing = .milliseconds(500)
            $0.uprightAxis = nil
        }
        let errors = errors(of: events, times, expected)
        print(
            "phyphox walk against its reference: median \(percentile(errors, 0.5))°, p95 \(percentile(errors, 0.95))°")
        #expect(percentile(errors, 0.5) <= 1)
    }

    @Test func xioHeadingOfTheXAxis() throws {
        let oracle = try Table("\(fixtures)/xio/oracle_compass.csv")
        let times = try oracle.column("t_s").compactMap { $0 }
        let expected = try oracle.column("compass_heading_x_cw_deg").compactMap { $0 }
        // The reference does not smooth: compared with smoothed headings it shows its own noise, which is above 1°.
        for (smoothing, limit) in [(Duration.zero, 1.0), (NorthSettings().smoothing, 1.5)] {
            let events = try headings(["xio/sensor_data.csv"]) {
                $0.headingAxis = .plusX
                $0.smoothing = smoothing
            }
            let errors = errors(of: events, times, expected)
            print("xio, smoothing \(smoothing): \(errors.count) samples, median \(percentile(errors, 0.5))°")
            #expect(errors.count > 1000)
            #expect(percentile(errors, 0.5) <= limit)
        }
    }

    /// For each reference the error of the nearest heading within 10 ms.
    private func errors(of events: [HeadingEvent], _ times: [Double], _ expected: [Double]) -> [Double] {
        var errors: [Double] = []
        var next = 0
        for (time, reference) in zip(times, expected) {
            while next + 1 < events.count, abs(seconds(events[next + 1]) - time) <= abs(seconds(events[next]) - time) {
                next += 1
            }
            guard abs(seconds(events[next]) - time) < 0.01 else { continue }
            errors.append(abs(Angle.differenceDegrees(from: reference, to: events[next].headingDegrees)))
        }
        return errors
    }
}

@Suite struct HeadingVectorTests {
    @Test(arguments: [
        ("exp_heading_y", DeviceAxis.plusY), ("exp_heading_negz", .minusZ), ("exp_heading_x", .plusX),
    ])
    func thePureFunctionReproducesTheVectors(column: String, axis: DeviceAxis) throws {
        let table = try Table("\(fixtures)/heading/heading_vectors.csv")
        let columns = try ["ax", "ay", "az", "mx", "my", "mz"].map { try table.column($0).compactMap { $0 } }
        var worst = 0.0
        for (row, expected) in try table.column(column).enumerated() {
            let attitude = Attitude(
                acceleration: SIMD3(columns[0][row], columns[1][row], columns[2][row]),
                field: SIMD3(columns[3][row], columns[4][row], columns[5][row]))
            let heading = attitude?.headingDegrees(of: axis)
            #expect((heading == nil) == (expected == nil), "\(table.rows[row][0])")
            guard let heading, let expected else { continue }
            let error = abs(Angle.differenceDegrees(from: expected, to: heading))
            worst = max(worst, error)
            #expect(error <= 0.02, "\(table.rows[row][0])")
        }
        print("heading vectors, \(axis.rawValue): largest error \(worst)°")
    }

    @Test func inclinationAndHorizontalFieldAreReproducedToo() throws {
        let table = try Table("\(fixtures)/heading/heading_vectors.csv")
        let columns = try ["ax", "ay", "az", "mx", "my", "mz"].map { try table.column($0).compactMap { $0 } }
        let inclinations = try table.column("exp_inclination")
        let horizontals = try table.column("exp_horizontal_uT")
        for row in table.rows.indices {
            guard
                let attitude = Attitude(
                    acceleration: SIMD3(columns[0][row], columns[1][row], columns[2][row]),
                    field: SIMD3(columns[3][row], columns[4][row], columns[5][row])),
                let inclination = inclinations[row], let horizontal = horizontals[row]
            else { continue }
            #expect(abs(attitude.dipDegrees - inclination) < 0.01)
            #expect(abs(attitude.horizontalField - horizontal) < 0.001)
        }
    }
}
