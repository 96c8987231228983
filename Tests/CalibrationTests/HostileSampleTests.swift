import Calibration
import Foundation
import SensorGeometry
import TestSupport
import Testing

/// Samples that no sensor gives, and those that a broken one does: an answer of `nil` or a refusal, and never a trap.
@Suite struct HostileSampleTests {
    private static func sphere(_ radius: Double, centre: Vector3 = .zero, count: Int = 400) -> [Vector3] {
        // A spiral from pole to pole: even all over.
        (0..<count).map { index in
            let z = 1 - 2 * (Double(index) + 0.5) / Double(count)
            let angle = Double(index) * 2.399963
            let level = (1 - z * z).squareRoot()
            return centre + radius * Vector3(level * cos(angle), level * sin(angle), z)
        }
    }

    private static let clouds: [(String, [Vector3])] = [
        ("none", []),
        ("one", [[1, 2, 3]]),
        ("two points", (0..<200).map { $0 % 2 == 0 ? [40, 0, 0] : [-40, 0, 0] }),
        ("all equal", Array(repeating: [20, 30, -40], count: 500)),
        ("all zero", Array(repeating: .zero, count: 500)),
        ("a line", (0..<200).map { [Double($0), 2 * Double($0), 3 * Double($0)] }),
        ("a plane", (0..<200).map { [45 * cos(Double($0)), 45 * sin(Double($0)), 0] }),
        ("NaN", Array(repeating: [.nan, .nan, .nan], count: 500)),
        ("infinite", Array(repeating: [.infinity, 0, -.infinity], count: 500)),
        ("huge", sphere(1e300)),
        ("tiny", sphere(1e-300)),
        ("whole axes huge", sphere(45).map { [$0.x, $0.y, $0.z * 1e200] }),
    ]

    /// A sensor whose range ends before the field and the iron do, and one with an axis that is not read; coarse steps are neither.
    @Test func theEndOfARangeIsNoDirection() throws {
        let centre = Vector3(55, 20, -30)
        let cloud = Self.sphere(48, centre: centre, count: 2000)
        func refusal(_ change: (Vector3) -> Vector3) -> String? {
            #expect(throws: MagnetometerRefusal.self) { try MagnetometerJudge().judge(cloud.map(change)) }?.name
        }
        #expect(refusal { [min($0.x, 88), $0.y, $0.z] } == "range")
        #expect(refusal { [$0.x, max($0.y, -10), $0.z] } == "range")
        #expect(refusal { [$0.x, 12, $0.z] } == "frozen")
        for step in [0.3, 1.5, 3] {
            let coarse = cloud.map { step * ($0 / step).rounded(.toNearestOrEven) }
            #expect(length(try MagnetometerJudge().judge(coarse).calibration.hardIronMicrotesla - centre) < 0.5)
        }
    }

    @Test(arguments: clouds.indices)
    func nothingComesOfNonsense(index: Int) {
        let (name, samples) = Self.clouds[index]
        for model in [nil, MagnetometerFit.Model.sphere, .ellipsoid] {
            var judge = MagnetometerJudge()
            judge.model = model
            let refusal = #expect(throws: MagnetometerRefusal.self, "\(name)") { try judge.judge(samples) }
            #expect(refusal?.description.isEmpty == false)
        }
        _ = MagnetometerFit.sphere(samples)
        _ = MagnetometerFit.ellipsoid(samples)
        _ = Coverage(samples)
        _ = MagnetometerJudge.map(samples).missing
        var thinning = SampleThinning()
        for sample in samples { thinning.add(sample) }
        #expect(thinning.samples.count + thinning.unusableCount <= samples.count)
        var phases = StillPhases()
        for (number, sample) in samples.enumerated() { phases.add(sample, timeNanoseconds: Int64(number) * 10_000_000) }
        #expect(!phases.missing.isEmpty)
    }

    @Test func samplesThatAreNoNumbersAreLeftOut() throws {
        var samples = Self.sphere(45, centre: [10, 20, 30])
        samples.insert([.nan, 1, 2], at: 7)
        samples.append([.infinity, 1, 2])
        let found = try MagnetometerJudge().judge(samples)
        #expect(found.sampleCount == 400)
        #expect(length(found.calibration.hardIronMicrotesla - Vector3(10, 20, 30)) < 1e-6)
    }

    @Test func aFieldThatTheEarthDoesNotHaveIsRefused() {
        for radius in [5.0, 19, 71, 500] {
            let refusal = #expect(throws: MagnetometerRefusal.self) {
                try MagnetometerJudge().judge(Self.sphere(radius))
            }
            #expect(refusal?.name == "field")
        }
    }

    @Test func aFieldThatThePlaceDoesNotHaveIsRefused() throws {
        var judge = MagnetometerJudge()
        judge.expectedMicrotesla = 50
        #expect(try judge.judge(Self.sphere(43)).calibration.fieldMicrotesla > 42)
        let refusal = #expect(throws: MagnetometerRefusal.self) { try judge.judge(Self.sphere(42)) }
        #expect(refusal?.name == "place")
    }

    @Test func samplesThatLieOnNothingAreRefused() {
        var generator = SeededGenerator(seed: 3)
        let samples = Self.sphere(45).map { $0 * Double.random(in: 0.7...1.3, using: &generator) }
        let refusal = #expect(throws: MagnetometerRefusal.self) { try MagnetometerJudge().judge(samples) }
        #expect(refusal?.name == "fit")
    }

    /// A bus that garbles one value in hundreds moves the centre of a fit by least squares far off.
    @Test(arguments: [Vector3(400, 0, 0), Vector3(9e4, -9e4, 0), Vector3(10, 20, 30)])
    func aGlitchIsLeftOut(glitch: Vector3) throws {
        let samples = Self.sphere(45, centre: [10, 20, 30])
        let found = try MagnetometerJudge().finding(of: samples.dropLast(100) + [glitch] + samples.suffix(100))
        #expect(found.glitchCount == 1 && found.sampleCount == 400)
        #expect(found.calibration == (try MagnetometerJudge().judge(samples)).calibration)
    }

    @Test func manyGlitchesAreNone() {
        let samples = Self.sphere(45)
        #expect(MagnetometerJudge.withoutGlitches(samples).count == 400)
        let spoilt = samples + (0..<20).map { Vector3(500 + Double($0), 0, 0) }
        #expect(MagnetometerJudge.withoutGlitches(spoilt).count == 420)
    }

    /// A thinning discards most good samples and keeps nearly all garbled ones: these are one in a hundred of all samples.
    @Test func glitchesAreAShareOfAllSamples() throws {
        var generator = SeededGenerator(seed: 20)
        var thinning = SampleThinning()
        let sphere = Self.sphere(45, centre: [10, 20, 30], count: 1000)
        for _ in 0..<5 {
            for sample in sphere { thinning.add(sample) }
        }
        let good = thinning.samples.count
        for _ in 0..<50 {
            let axes = (0..<3).map { _ in Double.random(in: -300...300, using: &generator) }
            thinning.add([axes[0], axes[1], axes[2]])
        }
        #expect(thinning.samples.count / 100 < 40, "the thinning leaves most garbled samples")
        let found = try MagnetometerJudge().finding(of: thinning.samples, seen: thinning.count)
        #expect(found.glitchCount > 40 && abs(found.sampleCount - good) <= 9)
        #expect(length(found.calibration.hardIronMicrotesla - Vector3(10, 20, 30)) < 0.5)
        // Of a device that lay for hours, no more than a tenth of the directions are left out.
        let spoilt = Self.sphere(45) + (0..<60).map { Vector3(500 + Double($0), 0, 0) }
        #expect(MagnetometerJudge.withoutGlitches(spoilt, seen: 1_000_000).count == 460)
    }

    @Test func ironThatNoCompassLivesWithIsNoEllipsoid() {
        let samples = Self.sphere(45).map { Vector3($0.x, $0.y, $0.z * 3) }
        var judge = MagnetometerJudge()
        judge.model = .ellipsoid
        let refusal = #expect(throws: MagnetometerRefusal.self) { try judge.judge(samples) }
        #expect(refusal?.name == "shape")
    }

    /// A condition number depends on where zero is; whether a fit can be trusted does not.
    @Test(arguments: [0.0, 60, 100, 400, 2000])
    func strongMagnetsAreNoLackOfCoverage(offset: Double) throws {
        let centre = Vector3(offset, -offset / 2, offset / 3)
        let found = try MagnetometerJudge().judge(Self.sphere(45, centre: centre))
        #expect(found.coverage.condition < 9)
        #expect(length(found.calibration.hardIronMicrotesla - centre) < 1e-3)
        #expect(found.calibration.model == .ellipsoid)
        // A flat spin stays one.
        let spin = (0..<300).map { index -> Vector3 in
            let angle = Double(index) * 0.1
            return centre + Vector3(21 * cos(angle), 21 * sin(angle), -40 + 0.5 * sin(Double(index) * 1.7))
        }
        #expect(throws: MagnetometerRefusal.self) { try MagnetometerJudge().judge(spin) }
    }

    @Test func thinningKeepsTheStillFromOutweighingTheRest() {
        var thinning = SampleThinning()
        for _ in 0..<100_000 { thinning.add([12, 13, 14]) }
        thinning.add([.nan, 0, 0])
        thinning.add([2e5, 0, 0])
        #expect(thinning.samples.count == 4)
        #expect(thinning.count == 100_002)
        #expect(thinning.unusableCount == 2)
        for sample in Self.sphere(9e4, count: 60_000) { thinning.add(sample) }
        #expect(thinning.samples.count == 20_000)
    }

    @Test func aMissingHalfIsNamed() {
        let samples = Self.sphere(45).filter { $0.z > 5 }
        #expect(DirectionMap(samples, centre: .zero).missing == [.lowerHalf])
        #expect(DirectionMap([], centre: .zero).missing == DirectionRegion.allCases)
        #expect(DirectionMap(Self.sphere(1), centre: .zero).missing.isEmpty)
        #expect(MagnetometerRefusal.advice([.lowerHalf]) == "keep turning: the lower half is missing")
    }

    @Test func everyDirectionHasItsCell() throws {
        for direction in Self.sphere(1, count: 2000) {
            let map = DirectionMap([direction], centre: .zero)
            #expect(map.isCovered(direction))
            #expect(!map.isCovered(Vector3.zero - direction))
            #expect(map.coveredShare == 1.0 / 96)
        }
        #expect(DirectionMap.direction(x: 0.8, y: 0.7, isUpper: true) == nil)
        let middle = try #require(DirectionMap.direction(x: 0, y: 0, isUpper: false))
        #expect(middle == Vector3(0, 0, -1))
    }
}
