import Binnacle
import BinnacleHeading
import Kernels
import Testing

import Pictures

@Suite struct TrackTests {
    private func track(_ count: Int, capacity: Int, step: Int64 = 1_000_000, _ value: (Int) -> Float) -> Track {
        let track = Track([.value], capacity: capacity)
        var start = 0
        // Deliveries of varied lengths.
        while start < count {
            let end = min(count, start + 1 + start % 700)
            let times = (start..<end).map { Int64($0) * step }
            let values = (start..<end).map(value)
            track.append(times, count: times.count) { _, range in
                var found = Extremes()
                for index in range { found.include(values[index]) }
                return found
            }
            start = end
        }
        return track
    }

    @Test func aShortRecordingKeepsEverySample() {
        let track = track(500, capacity: 1024) { Float($0) }
        #expect(track.blockNanoseconds == 0)
        #expect(track.count == 500)
        #expect(track.least[0] == (0..<500).map { Float($0) })
    }

    @Test(arguments: [513, 1_025, 100_000, 300_001])
    func aLongRecordingKeepsEveryExtremeInBoundedMemory(_ count: Int) {
        let spike = count * 2 / 3
        let track = track(count, capacity: 1024) { $0 == spike ? 40 : Float($0 % 7) }
        #expect(track.blockNanoseconds > 0)
        #expect(track.count <= 1024)
        #expect(track.sampleCount == count)
        #expect(track.greatest[0].max() == 40)
        // The spike is in the block of its time, and in no other.
        let block = Int(Int64(spike) * 1_000_000 / track.blockNanoseconds)
        #expect(track.greatest[0][block] == 40)
        #expect(track.greatest[0].filter { $0 == 40 }.count == 1)
        let at = Int64(spike) * 1_000_000
        #expect(track.extremes(of: 0, from: at, to: at + 1)?.greatest == 40)
    }

    @Test func blocksDoNotDependOnTheDeliveries() {
        let whole = Track([.value], capacity: 64)
        let single = Track([.value], capacity: 64)
        let times = (0..<5_000).map { Int64($0) * 3_000_000 }
        let values = times.map { Float($0 % 1_013) }
        func add(_ range: Range<Int>, to track: Track) {
            let (times, values) = (Array(times[range]), Array(values[range]))
            track.append(times, count: times.count) { _, range in
                var found = Extremes()
                for index in range { found.include(values[index]) }
                return found
            }
        }
        for index in times.indices { add(index..<index + 1, to: single) }
        add(0..<20, to: whole)
        add(20..<5_000, to: whole)
        #expect(whole.least == single.least)
        #expect(whole.greatest == single.greatest)
    }

    @Test func anArcOverNorthIsItsShortestForm() {
        let both = Track.union(.angle, Extremes(one: 350), Extremes(one: 10))
        #expect(both.least == 350)
        #expect(both.greatest == 370)
        let wider = Track.union(.angle, both, Extremes(one: 340))
        #expect(wider.least == 340)
        #expect(wider.greatest == 370)
    }

    @Test func hostileStampsAndValuesAreTaken() {
        let track = Track([.value, .bits], capacity: 8)
        for time in [Int64.min, -5, 0, 1, 1, 7, Int64.max, 3, Int64.min] {
            track.append(timeNanoseconds: time, SIMD4(.nan, 3, 0, 0))
            track.append(timeNanoseconds: time, SIMD4(.infinity, 4, 0, 0))
            track.append(timeNanoseconds: time, SIMD4(1, .nan, 0, 0))
        }
        #expect(track.count <= 8)
        #expect(track.extremes(of: 0, from: .min, to: .max)?.greatest == 1)
        #expect(track.extremes(of: 1, from: .min, to: .max)?.least == 7)
    }

    /// A heading has 19 reasons to be missing.
    @Test func eachOfManyStatesIsDrawn() throws {
        let places = HeadingFault.allCases.indices
        let track = Track([.bits], capacity: 8)
        for (place, fault) in HeadingFault.allCases.enumerated() {
            track.append(timeNanoseconds: Int64(place), SIMD4(bit(of: fault), 0, 0, 0))
        }
        let all = try #require(track.extremes(of: 0, from: .min, to: .max))
        #expect(places.count <= 24 && UInt32(all.least) == (1 << places.count) - 1)
        let halves = Scale(track, 0).steps(all.least, all.greatest)
        #expect(UInt32(halves.low) | UInt32(halves.high) << 16 == UInt32(all.least))
    }

    @Test func roundingIsOutwardAndTheExtremesAreExact() {
        let track = track(10_000, capacity: 16) { Float($0) * 0.37 - 1_000 }
        let scale = Scale(track, 0)
        #expect(scale.least == Double(track.least[0].min() ?? .nan))
        #expect(scale.greatest == Double(track.greatest[0].max() ?? .nan))
        for (least, greatest) in zip(track.least[0], track.greatest[0]) where least <= greatest {
            let (low, high) = scale.steps(least, greatest)
            #expect(scale.least + Double(low) * scale.step <= Double(least) + 1e-9)
            #expect(scale.least + Double(high) * scale.step >= Double(greatest) - 1e-9)
        }
    }
}

extension Track {
    /// Takes one sample with its values, NaN where there is none.
    fileprivate func append(timeNanoseconds: Int64, _ values: SIMD4<Float>) {
        withUnsafePointer(to: timeNanoseconds) { time in
            append(time, count: 1) { series, _ in
                var extremes = Extremes()
                extremes.include(values[series])
                return extremes
            }
        }
    }
}
