import BinnacleTesting
import Foundation
import Testing

import Binnacle

/// Taps as half-sines of 2 to 8 ms, and what strikes a device without being one.
@Suite struct TapTests {
    /// What an accelerometer at rest measures at 400 Hz, in g, with impulses along its axes.
    private struct Ground {
        static let rateHz = 400.0
        var generator: SplitMix64
        var samples: [SIMD3<Float>]

        init(seconds: Int, seed: UInt64, noiseG: Float = 0.008) {
            generator = SplitMix64(seed: seed)
            samples = []
            for _ in 0..<seconds * Int(Self.rateHz) {
                let noise = SIMD3<Float>.random(in: -noiseG...noiseG, using: &generator)
                samples.append(SIMD3(0, 0, 1) + noise)
            }
        }

        mutating func random(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &generator) }

        /// Adds a wave that begins at a time; its samples are those of points, or means over the sampling period.
        mutating func add(
            at start: Double, seconds: Double, along axis: Int, isFiltered: Bool = false, _ wave: (Double) -> Double
        ) {
            let parts = isFiltered ? 40 : 1
            for index in Int(start * Self.rateHz)...Int((start + seconds) * Self.rateHz) + 1 {
                let middle = Double(index) / Self.rateHz - start
                let sum = (0..<parts).reduce(0.0) { sum, part in
                    let time = middle + (parts == 1 ? 0 : (Double(part) + 0.5) / Double(parts) - 0.5) / Self.rateHz
                    return sum + (time > 0 && time < seconds ? wave(time) : 0)
                }
                samples[index][axis] += Float(sum / Double(parts))
            }
        }

        mutating func addHalfSine(at start: Double, g: Double, along axis: Int, isFiltered: Bool = false) {
            let width = random(0.002...0.008)
            add(at: start, seconds: width, along: axis, isFiltered: isFiltered) { g * sin(.pi * $0 / width) }
        }

        /// The counts and onsets of the taps that are found.
        func taps(_ settings: TapSettings = TapSettings()) -> [(count: Int, onset: Double)] { detect(settings).taps }

        /// And what the detector assumes of the chip.
        func detect(
            _ settings: TapSettings = TapSettings()
        ) -> (taps: [(count: Int, onset: Double)], assumptions: [String]) {
            let stream = SampleStream(sensor: Sensor(name: "desk"), kind: .accelerometer)
            let detector = TapDetector(accelerometer: stream, settings: settings)
            let samples = samples.enumerated().map { index, g in
                let value = g * Units.standardGravity
                return (0, Sample(timeNanoseconds: Int64(index) * 2_500_000, x: value.x, y: value.y, z: value.z))
            }
            let (router, collector) = (Router(), EventCollector())
            router.add(collector)
            detector.report(to: router)
            detector.startDetection()
            Pipeline(source: ScriptedSource(streams: [stream], samples: samples), detectors: [detector], router: router)
                .run()
            let taps = collector.events.compactMap { event -> (count: Int, onset: Double)? in
                let value = { name in event.figures.first { $0.name == name }?.value }
                guard case .integer(let count)? = value(.count), case .integer(let onset)? = value(.onset) else {
                    return nil
                }
                return (Int(count), Double(onset) / 1e9)
            }
            return (taps, detector.assumptions.map(\.text))
        }
    }

    /// With noise of half of what is always calm, its peaks are impulses.
    @Test(arguments: [(Float(0.008), false), (0.035, true)]) func aChipThatIsTooNoisyIsToldOnce(
        noiseG: Float, isTold: Bool
    ) {
        var ground = Ground(seconds: 15, seed: 3, noiseG: noiseG)
        ground.addHalfSine(at: 12, g: 1, along: 2)
        let assumptions = ground.detect().assumptions
        #expect(assumptions.count == (isTold ? 1 : 0))
        #expect(assumptions.allSatisfy { $0.hasPrefix("tap: the samples vary by 0.0") }, "\(assumptions)")
    }

    /// Calm counts from the last tap on, and not from its report.
    @Test(arguments: [0.7, 0.8]) func equalTapsAreFoundAsSoonAsThereWasCalm(pause: Double) {
        var ground = Ground(seconds: 12, seed: 5)
        let times = (0..<8).map { 3 + pause * Double($0) }
        for time in times { ground.addHalfSine(at: time, g: 1, along: 2, isFiltered: true) }
        #expect(ground.taps().map(\.count) == times.map { _ in 1 })
    }

    /// Of points, those between which a tap of 2 ms falls cannot be found.
    @Test(arguments: [(true, 98), (false, 93)]) func tapsAreCounted(isFiltered: Bool, percent: Int) {
        var ground = Ground(seconds: 905, seed: 17)
        var truth: [(count: Int, onset: Double)] = []
        for number in 0..<300 {
            var time = 2 + 3 * Double(number) + ground.random(0...0.5)
            let (count, axis, g) = (number % 3 + 1, Int(ground.random(0...2.99)), ground.random(0.6...3))
            truth.append((count, time))
            for tap in 0..<count {
                let share = tap == 0 ? 1 : ground.random(0.6...1)
                ground.addHalfSine(at: time, g: (number % 2 == 0 ? g : -g) * share, along: axis, isFiltered: isFiltered)
                time += ground.random(0.12...0.35)
            }
        }
        let found = ground.taps()
        for count in 1...3 {
            let right = truth.filter { $0.count == count }.count { tap in
                found.contains { abs($0.onset - tap.onset) < 0.05 && $0.count == count }
            }
            #expect(right >= percent, "\(count)")
        }
        #expect(found.count <= truth.count + 3)
    }

    @Test func aLowerThresholdFindsSofterTaps() {
        var ground = Ground(seconds: 20, seed: 8)
        for number in 0..<6 { ground.addHalfSine(at: 2 + 3 * Double(number), g: 0.12, along: 2, isFiltered: true) }
        var settings = TapSettings()
        settings.thresholdG = 0.05
        #expect(ground.taps(settings).map(\.count) == [1, 1, 1, 1, 1, 1])
        #expect(ground.taps().isEmpty)
    }

    /// Heels of one who walks, alike and not.
    @Test(arguments: [25.0, 40]) func heelsAreNoTaps(hertz: Double) {
        var ground = Ground(seconds: 120, seed: 5)
        var time = 1.0
        while time < 119 {
            let g = 0.5 * exp(ground.random(-0.7...0.7))
            ground.add(at: time, seconds: 0.2, along: 1) { g * sin(2 * .pi * hertz * $0) * exp(-$0 / 0.03) }
            time += ground.random(0.53...0.57)
        }
        #expect(ground.taps().count <= 3)
    }

    /// Keys beside the device, with pauses.
    @Test(arguments: [0.5, 1]) func keysAreNoTaps(most: Double) {
        var ground = Ground(seconds: 300, seed: 6)
        var time = 1.0
        while time < 297 {
            ground.addHalfSine(at: time, g: ground.random(most / 5...most), along: 2)
            time += ground.random(0.1...0.33) + (ground.random(0...1) < 0.1 ? ground.random(0.3...1.5) : 0)
        }
        #expect(ground.taps().count <= 3)
    }
}
