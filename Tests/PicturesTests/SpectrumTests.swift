import Foundation
import Kernels
import TestSupport
import Testing

import Binnacle
import Pictures

extension Spectrum {
    fileprivate var meanLevels: [Double] {
        let count = Double(cells.reduce(0) { $0 + $1.count })
        return (0..<Self.frequencyCount).map { index in
            cells.reduce(0) { $0 + $1.levels[index] * Double($1.count) } / count
        }
    }

    fileprivate func append(_ sample: SIMD3<Float>, timeNanoseconds: Int64) {
        let (time, x, y, z) = ([timeNanoseconds], [sample.x], [sample.y], [sample.z])
        append(SampleColumns(count: 1, times: time, x: x, y: y, z: z))
    }
}

@Suite struct SpectrumTests {
    /// A vibration of known frequency and amplitude: the area below the density is its mean square, A²/2.
    @Test(arguments: [(100.0, 12.5, 2.0), (1000.0, 120.0, 0.3)])
    func aVibrationHasItsFrequencyAndItsPower(_ rate: Double, _ frequency: Double, _ amplitude: Double) throws {
        let spectrum = Spectrum()
        for index in 0..<20_000 {
            let value = amplitude * sin(2 * .pi * frequency * Double(index) / rate)
            spectrum.append(
                SIMD3(Float(value), 0, 9.81), timeNanoseconds: Int64((Double(index) / rate * 1e9).rounded()))
        }
        #expect(abs(spectrum.rateHz - rate) < 1e-3 * rate)
        let count = spectrum.cells.reduce(0) { $0 + $1.count }
        #expect(count == (20_000 - 512) / 256 + 1)
        let mean = spectrum.meanLevels
        let strongest = try #require(mean.indices.max { mean[$0] < mean[$1] })
        #expect(abs(Double(strongest) * rate / 512 - frequency) <= rate / 512)
        let area = mean.dropFirst().reduce(0, +) * spectrum.density * rate / 512
        #expect(abs(area - amplitude * amplitude / 2) < 0.01 * amplitude * amplitude)
    }

    /// The area below the density is the mean square also at the two frequencies that have no negative counterpart: half the
    /// sampling rate, and, through the Hann window, which spreads a constant to its neighbours, 0.
    @Test func theLastFrequencyIsNotCountedTwice() {
        let spectrum = Spectrum()
        for index in 0..<4096 {
            spectrum.append(SIMD3(index % 2 == 0 ? 3 : -3, 0, 0), timeNanoseconds: Int64(index) * 10_000_000)
        }
        let area = spectrum.meanLevels.reduce(0, +) * spectrum.density * 100 / 512
        #expect(abs(area - 9) < 0.01)
    }

    /// Noise has one level at all frequencies.
    @Test func noiseIsAsStrongAtTheLastFrequencyAsAtOthers() {
        let spectrum = Spectrum()
        var random = SeededGenerator(seed: 5)
        for index in 0..<400_000 {
            spectrum.append(
                SIMD3(Float.random(in: -1...1, using: &random), 0, 0), timeNanoseconds: Int64(index) * 10_000_000)
        }
        let levels = spectrum.meanLevels
        let usual = levels[2..<256].reduce(0, +) / 254
        #expect(abs(levels[256] / usual / 0.5 - 1) < 0.2)
    }

    @Test func aGapBeginsANewSegmentAndMemoryIsBounded() {
        let spectrum = Spectrum()
        for index in 0..<511 { spectrum.append(SIMD3(1, 2, 3), timeNanoseconds: Int64(index) * 1_000_000) }
        for index in 0..<511 {
            spectrum.append(SIMD3(1, 2, 3), timeNanoseconds: 9_000_000_000 + Int64(index) * 1_000_000)
        }
        #expect(spectrum.cells.isEmpty)
        for index in 0..<400_000 {
            spectrum.append(
                SIMD3(Float(index % 3), 2, 3), timeNanoseconds: 20_000_000_000 + Int64(index) * 1_000_000)
        }
        #expect(spectrum.cells.count <= 128)
        #expect(spectrum.cells.count > 32)
    }

    /// Against the definition, in double precision; the fourth series is a constant, of which nothing is left.
    @Test func theTransformOfFourSeriesIsThatOfTheDefinition() {
        let length = 64
        var random = SeededGenerator(seed: 22)
        let samples = (0..<length).map { _ in
            SIMD4<Float>(
                Float.random(in: -2...2, using: &random), Float.random(in: -2...2, using: &random),
                Float.random(in: -2...2, using: &random), 3)
        }
        let window = (0..<length).map { 0.5 + Float($0) / Float(length) }
        let mean = SIMD4<Float>(0.5, 0, -0.5, 3)
        var power = [Float](repeating: 1, count: length / 2 + 1)
        RealTransform(length).addPower(of: samples, minus: mean, weightedBy: window, to: &power)
        for k in 0...length / 2 {
            var expected = 1.0
            for series in 0..<4 {
                var (real, imaginary) = (0.0, 0.0)
                for n in 0..<length {
                    let value = Double((samples[n] - mean)[series] * window[n])
                    real += value * cos(2 * .pi * Double(k * n) / Double(length))
                    imaginary -= value * sin(2 * .pi * Double(k * n) / Double(length))
                }
                expected += real * real + imaginary * imaginary
            }
            #expect(abs(Double(power[k]) - expected) <= 1e-3 * max(1, expected))
        }
    }

    @Test(arguments: [4, 8, 16, 64, 1024])
    func allFormsOfTheTransformGiveTheSameBits(length: Int) {
        var random = SeededGenerator(seed: 23)
        let samples = (0..<length).map { _ in SIMD4<Float>.random(in: -9...9, using: &random) }
        let window = (0..<length).map { 0.5 + Float($0) / Float(length) }
        func power(_ set: InstructionSet) -> [Float] {
            var power = [Float](repeating: 0, count: length / 2 + 1)
            RealTransform(length).addPower(
                of: samples, minus: SIMD4(1, 2, 3, 4), weightedBy: window, to: &power, using: set)
            return power
        }
        #expect(InstructionSet.available.count > 1)
        for set in InstructionSet.available { #expect(power(set) == power(.scalar), "\(set)") }
    }

    /// Deliveries of any length give the same averages.
    @Test func howSamplesAreCutChangesNothing() {
        let count = 5000
        let times = (0..<count).map { Int64($0) * 1_000_000 + ($0 > 2000 ? 3_000_000_000 : 0) }
        let x = (0..<count).map { $0 == 3333 ? Float.nan : Float(sin(Double($0))) }
        let y = (0..<count).map { Float($0 % 7) }
        func cells(of length: Int) -> [[Float]] {
            let spectrum = Spectrum()
            for start in stride(from: 0, to: count, by: length) {
                let range = start..<min(start + length, count)
                let (t, x, y) = (Array(times[range]), Array(x[range]), Array(y[range]))
                spectrum.append(SampleColumns(count: range.count, times: t, x: x, y: y, z: y))
            }
            return spectrum.cells.map(\.power)
        }
        let whole = cells(of: count)
        #expect(!whole.isEmpty)
        #expect(cells(of: 1) == whole)
        #expect(cells(of: 7) == whole)
    }
}
