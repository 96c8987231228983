import Foundation
import Testing

import Binnacle

/// What an orientation takes for gravity: 1 g, or the length that a device with a wrong scale shows at rest.
@Suite struct GravityLengthTests {
    private var gravity = GravityLength(gateG: 0.25, isLearned: true)
    private var timeNanoseconds: Int64 = 0

    /// Plays samples at 20 Hz, each a vector in g as a function of the time since the first of them in seconds.
    ///
    /// - Returns: After how many seconds the first of them was accepted; `nil` when none was.
    @discardableResult
    private mutating func play(_ seconds: Double, _ vector: (Double) -> SIMD3<Double>) -> Double? {
        var first: Double?
        for index in 0..<Int(seconds * 20) {
            let time = Double(index) / 20
            let force = SIMD3<Float>(vector(time)) * Units.standardGravity
            if gravity.accepts(force, squared: (force * force).sum(), at: timeNanoseconds) { first = first ?? time }
            timeNanoseconds += 50_000_000
        }
        return first
    }

    /// A device that is held in a hand: its direction changes all the time, its length a little.
    private func held(_ g: Double) -> (Double) -> SIMD3<Double> {
        { SIMD3(sin(3 * $0), 0, cos(3 * $0)) * g * (1 + 0.05 * sin(11 * $0)) }
    }

    @Test mutating func aWrongScaleCountsAfterTwoSeconds() {
        #expect(play(5) { _ in SIMD3(0, 26, 0) } == 2)
        #expect(gravity.lengthG == 26)
        // From then on in each direction, also in a hand.
        #expect(play(3, held(26)) == 0)
        #expect(gravity.lengthG == 26)
    }

    /// The first case is far from 1 g, and the gates of the other two overlap with that of 1 g.
    @Test(arguments: [2, 1.3, 0.7]) mutating func oneGCountsAgainAfterAWrongStart(wrong: Double) {
        play(20) { _ in SIMD3(0, 0, wrong) }
        #expect(abs(Double(gravity.lengthG) - wrong) < 1e-3)
        play(1, held(1))
        #expect(abs(Double(gravity.lengthG) - wrong) < 1e-3)
        play(0.2, held(1))
        #expect(gravity.lengthG == 1)
        #expect(play(5, held(1)) == 0)
        #expect(gravity.lengthG == 1)
    }

    @Test mutating func aBendATurnAndASwellAreNoScale() {
        // At rest, 0.8 g sideways for 20 s, and 2 g for 25 s.
        play(1) { _ in SIMD3(0, 0, 1) }
        #expect(play(20) { _ in SIMD3(0.8, 0, 1) } == nil)
        #expect(play(1) { _ in SIMD3(0, 0, 1) } == 0)
        #expect(play(25) { _ in SIMD3(0, 0, 2) } == nil)
        #expect(play(1) { _ in SIMD3(0, 0, 1) } == 0)
        // A wave of 8 s.
        play(80) { SIMD3(0, 0, 1 + 0.35 * cos(2 * .pi * $0 / 8)) }
        #expect(gravity.lengthG == 1)
    }

    @Test mutating func aSwellAtTheStartIsNoScale() {
        for amplitude in [0.3, 0.35, 0.5] {
            gravity = GravityLength(gateG: 0.25, isLearned: true)
            play(32) { SIMD3(0, 0, 1 + amplitude * cos(2 * .pi * $0 / 8)) }
            #expect(gravity.lengthG == 1, "\(amplitude) g")
        }
    }

    /// An offset of the axes can bring one direction near 1 g and keep another one from it.
    @Test mutating func anotherLengthAfterOneGHasToLastForHalfAMinute() {
        play(1) { _ in SIMD3(0, 0, 1) }
        #expect(play(40) { _ in SIMD3(0, 0.6, 0) } == 30)
        #expect(abs(gravity.lengthG - 0.6) < 1e-3)
    }

    @Test mutating func whatLastedBeforeAGapOrAStopDoesNotCount() {
        play(1.9) { _ in SIMD3(0, 0, 3) }
        gravity.interrupt()
        timeNanoseconds += 3_600_000_000_000
        #expect(play(1.9) { _ in SIMD3(0, 0, 3) } == nil)
        #expect(gravity.lengthG == 1)
    }

    @Test mutating func aFreeFallAndWhatIsNoNumberAreNoGravity() {
        #expect(play(5) { _ in SIMD3(0, 0, 0.1) } == nil)
        #expect(play(5) { _ in SIMD3(.infinity, 0, 0) } == nil)
        #expect(play(5) { _ in SIMD3(.nan, 0, 0) } == nil)
        #expect(gravity.lengthG == 1)
        // Stamps of a hostile recording are no trap.
        for time in [Int64.max, .min, 0, .max] {
            _ = gravity.accepts(SIMD3(0, 0, 50), squared: 2500, at: time)
        }
    }
}
