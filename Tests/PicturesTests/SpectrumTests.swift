import Foundation
import Testing

@testable import Pictures

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
        var mean = [Double](repeating: 0, count: Spectrum.frequencyCount)
        for cell in spectrum.cells {
            for (index, power) in cell.power.enumerated() { mean[index] += Double(power) / Double(count) }
        }
        let strongest = try #require(mean.indices.max { mean[$0] < mean[$1] })
        #expect(abs(Double(strongest) * rate / 512 - frequency) <= rate / 512)
        let area = mean.dropFirst().reduce(0, +) * spectrum.density * rate / 512
        #expect(abs(area - amplitude * amplitude / 2) < 0.01 * amplitude * amplitude)
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
}
