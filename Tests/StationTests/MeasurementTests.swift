import Binnacle
import Foundation
import TestSupport
import Testing
import Workbench

/// The noise of sensors, beside its closed forms.
@Suite struct MeasurementTests {
    /// Normal numbers from a seed.
    private func normal(_ count: Int, seed: UInt64 = 7) -> [Double] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            let (a, b) = (
                Double.random(in: 0x1p-53..<1, using: &generator), Double.random(in: 0..<1, using: &generator)
            )
            return (-2 * log(a)).squareRoot() * cos(2 * .pi * b)
        }
    }

    @Test(arguments: [50.0, 400])
    func whiteNoiseHasItsDensity(rate: Double) throws {
        let deviation = 0.02
        let allan = AllanDeviation(
            normal(Int(rate * 600)).map { Float(9.81 + deviation * $0) }, intervalSeconds: 1 / rate)
        // One-sided: all of the variance lies below half the rate.
        let density = deviation / (rate / 2).squareRoot()
        #expect(abs(try #require(allan.noiseDensity) / density - 1) < 0.02)
        #expect(allan.randomWalk == nil)
        for (seconds, found) in allan.points.prefix(6) {
            #expect(abs(found / (deviation / (rate * seconds).squareRoot()) - 1) < 0.05)
        }
    }

    @Test func aRandomWalkHasItsClosedForm() throws {
        let (rate, step) = (50.0, 1e-4)
        var sum = 0.0
        let values = normal(Int(rate * 1200)).map { number in
            sum += step * number
            return Float(sum)
        }
        let allan = AllanDeviation(values, intervalSeconds: 1 / rate)
        // The variance grows by step² at each sample: K² τ / 3 with K² = step² · rate.
        let walk = step * rate.squareRoot()
        #expect(abs(try #require(allan.randomWalk) / walk - 1) < 0.15)
        let (seconds, found) = try #require(allan.points.first { $0.seconds > 1 })
        #expect(abs(found / (walk * (seconds / 3).squareRoot()) - 1) < 0.1)
    }

    @Test func bothTogetherAreToldApart() throws {
        let (rate, deviation, step) = (100.0, 0.02, 2e-4)
        var sum = 0.0
        let steps = normal(Int(rate * 1800), seed: 3)
        let values = zip(normal(steps.count, seed: 5), steps).map { white, number in
            sum += step * number
            return Float(deviation * white + sum)
        }
        let allan = AllanDeviation(values, intervalSeconds: 1 / rate)
        #expect(abs(try #require(allan.noiseDensity) / (deviation / (rate / 2).squareRoot()) - 1) < 0.05)
        #expect(abs(try #require(allan.randomWalk) / (step * rate.squareRoot()) - 1) < 0.25)
        // The least deviation of the sum lies where both are equal: τ² = 3 N² / K².
        let least = try #require(allan.instability).seconds
        let crossing = (3 * deviation * deviation / rate / (step * step * rate)).squareRoot()
        #expect((crossing / 2.5...crossing * 2.5).contains(least))
    }

    @Test func constantsHaveNoNoise() {
        let allan = AllanDeviation([Float](repeating: 9.8, count: 1000), intervalSeconds: 0.01)
        #expect(allan.noiseDensity == nil && allan.randomWalk == nil)
        #expect(AllanDeviation([1, 2, 3], intervalSeconds: 1).points.isEmpty)
    }

    private func stream(
        _ kind: SampleKind = .accelerometer, seconds: Int = 60, noise: Float = 0.02, drop: Range<Int> = 0..<0,
        shift: (Int) -> Float = { _ in 0 }, stamp: (Int) -> Int64 = { Int64($0) * 10_000_000 }
    ) -> (lines: String, json: [String: Any], passes: Bool) {
        var claims = MeasuredStream.Claims()
        claims.rateHz = 100
        claims.range = 19.6
        claims.noiseDensity = 400
        var measured = MeasuredStream(sensor: "box", kind: kind, claims: claims)
        let numbers = normal(3 * 100 * seconds)
        for index in 0..<100 * seconds where !drop.contains(index) {
            measured.add(
                Sample(
                    timeNanoseconds: stamp(index), x: noise * Float(numbers[3 * index]) + shift(index),
                    y: noise * Float(numbers[3 * index + 1]), z: 9.81 + noise * Float(numbers[3 * index + 2])))
        }
        let result = measured.result()
        let json = try? JSONSerialization.jsonObject(with: Data(result.json.utf8)) as? [String: Any]
        return (result.lines.joined(separator: "\n"), json ?? [:], result.passes)
    }

    private func check(_ name: String, _ json: [String: Any]) -> Bool? {
        let checks = json["checks"] as? [[String: Any]] ?? []
        return checks.first { $0["name"] as? String == name }?["passes"] as? Bool
    }

    @Test func whatAChipClaimsIsJudged() throws {
        let good = stream()
        #expect(good.passes, "\(good.lines)")
        #expect(["rate", "stamps", "gaps", "rest", "noise", "range"].allSatisfy { check($0, good.json) == true })
        let axes = try #require(good.json["axes"] as? [[String: Any]])
        // 0.02 m/s² at 100 Hz is 288 µg/√Hz.
        #expect(axes.allSatisfy { abs(($0["noise_density"] as? Double ?? 0) - 288) < 15 })
        #expect(good.lines.contains("pass"))

        let gap = stream(drop: 1000..<1010)
        #expect(!gap.passes && check("gaps", gap.json) == false && gap.lines.contains("FAIL"))
        #expect(gap.json["gaps"] as? Int == 1)
        #expect(check("noise", stream(noise: 0.06).json) == false)
        #expect(check("rate", stream(stamp: { Int64($0) * 12_500_000 }).json) == false)
        #expect(check("stamps", stream(stamp: { Int64($0) * 10_000_000 + Int64($0 % 2) * 3_000_000 }).json) == false)
        #expect(check("rest", stream(shift: { _ in 6 }).json) == false)
        #expect(check("range", stream(shift: { $0 == 77 ? 19.6 : 0 }).json) == false)
    }

    @Test func aSensorThatMovedIsNotJudged() {
        let moved = stream(shift: { $0 > 3000 ? 1 : 0 })
        #expect(check("noise", moved.json) == nil && check("rest", moved.json) == nil && moved.passes)
        #expect(moved.lines.contains("not judged: it moved"))
    }

    /// The means of a noisy magnetometer's seconds are further apart than a quiet one's that was moved.
    @Test func noiseIsNoMovementAndShakingIs() {
        let noisy = stream(.magnetometer, noise: 6)
        #expect(!noisy.lines.contains("it moved"), "\(noisy.lines)")
        let moved = stream(.magnetometer, noise: 6) { $0 > 3000 ? 12 : 0 }
        #expect(moved.lines.contains("it moved"))
        let shaken = stream { 3 * Float(sin(2 * .pi * 2.7 * Double($0) / 100)) }
        #expect(shaken.lines.contains("it moved"), "\(shaken.lines)")
    }

    /// A bus that garbles one sample in a hundred has no part in the noise, and is reported.
    @Test func garbledSamplesAreNoNoise() throws {
        let garbled = stream(.magnetometer, noise: 0.5) { $0 % 100 == 50 ? 300 : 0 }
        #expect(!garbled.lines.contains("it moved"), "\(garbled.lines)")
        #expect(garbled.lines.contains("; 60 samples are far off all others"), "\(garbled.lines)")
        let axes = try #require(garbled.json["axes"] as? [[String: Any]])
        // 500 nT at 100 Hz are 71 nT/√Hz.
        #expect(axes.allSatisfy { abs(($0["noise_density"] as? Double ?? 0) / 70.7 - 1) < 0.1 }, "\(garbled.lines)")
        // A push of 0.1 s is movement.
        #expect(stream(.magnetometer, noise: 0.5) { 3000..<3010 ~= $0 ? 300 : 0 }.lines.contains("it moved"))
    }

    /// The means of seconds do not show what swings twice in each; a fan's vibration is noise.
    @Test func whatSwingsWithinASecondMovedAndWhatVibratesDidNot() {
        func swung(_ hz: Double, _ size: Double) -> String {
            stream { Float(size * sin(2 * .pi * hz * Double($0) / 100)) }.lines
        }
        #expect(swung(2, 1).contains("not judged: it moved, an axis swings by 1.4"), "\(swung(2, 1))")
        #expect(!swung(20, 1).contains("it moved"), "\(swung(20, 1))")
        #expect(!swung(2, 0.02).contains("it moved"), "\(swung(2, 0.02))")
    }

    @Test func whatIsNoNumberAndStampsThatStandStillAreHarmless() {
        let holes = stream { $0 == 500 ? .nan : 0 }
        #expect(check("gaps", holes.json) == false && check("noise", holes.json) == true)
        #expect(stream(stamp: { _ in 5 }).lines.contains("stamps stand still"))
        #expect(!stream(stamp: { $0 < 3000 ? .min : .max - 6000 + Int64($0) }).lines.isEmpty)
    }

    @Test func tooFewSamplesFail() {
        let result = MeasuredStream(sensor: "box", kind: .gyroscope, claims: .init()).result()
        let text = "0 samples in 0 s are too few, 100 are needed: measure for longer"
        #expect(!result.passes && result.lines == ["box, gyroscope: FAIL: \(text)"])
        #expect(
            result.json.contains(#""checks":[{"name":"samples","passes":false,"text":"\#(text)"}]"#), "\(result.json)")
    }
}
