import Calibration
import Foundation
import SensorGeometry
import Testing

/// Which positions an accelerometer was held still in.
@Suite struct StillPhasesTests {
    private static let tick: Int64 = 20_000_000

    /// Plays readings, each for two seconds at 50 Hz.
    private func play(_ readings: [Vector3], noise: Double = 0.02, from start: Int64 = 0) -> StillPhases {
        var phases = StillPhases()
        var time = start
        for reading in readings {
            for number in 0..<100 {
                phases.add(
                    reading + noise * Vector3(sin(Double(number)), cos(Double(number)), 0), timeNanoseconds: time)
                time &+= Self.tick
            }
        }
        return phases
    }

    @Test func sixPositionsAreFoundInAnyOrder() {
        let phases = play(Face.allCases.shuffled().map { 9.8 * $0.axis + Vector3(0.2, -0.3, 0.4) })
        #expect(phases.missing.isEmpty)
        for (face, rest) in phases.rests {
            #expect(rest.count == 100)
            #expect(length(rest.mean - (9.8 * face.axis + Vector3(0.2, -0.3, 0.4))) < 0.01)
        }
    }

    @Test func aPositionThatMovesIsNoRest() {
        let phases = play(Face.allCases.map { 9.8 * $0.axis }, noise: 1.5)
        #expect(phases.rests.isEmpty)
        #expect(phases.seen == Set(Face.allCases))
    }

    @Test func anEdgeIsNoPosition() {
        let phases = play([[0, 6.93, 6.93], [5.6, 5.6, 5.6]])
        #expect(phases.rests.isEmpty)
        #expect(phases.seen.isEmpty)
    }

    @Test func lessThanASecondIsNoRest() {
        var phases = StillPhases()
        for number in Int64(0)..<49 { phases.add([0, 0, 9.8], timeNanoseconds: number * Self.tick) }
        #expect(phases.rests.isEmpty)
        // The device may have moved in a gap, so a rest does not continue across it.
        for number in Int64(0)..<49 { phases.add([0, 0, 9.8], timeNanoseconds: 5_000_000_000 + number * Self.tick) }
        #expect(phases.rests.isEmpty)
        phases.add([0, 0, 9.8], timeNanoseconds: 5_000_000_000 + 50 * Self.tick)
        #expect(phases.rests.keys.map { $0 } == [.screenUp])
        #expect(phases.current == .screenUp)
    }

    @Test func aReadingThatIsNoGravityIsNoRest() {
        #expect(play([[0, 0, 3], [0, 0, 98], [0, 0, 0.0001]]).rests.isEmpty)
    }

    @Test(arguments: [Int64.min, Int64.max - 3_000_000_000, Int64.max])
    func stampsAtTheEndsOfTimeDoNoHarm(start: Int64) {
        let phases = play(Face.allCases.map { 9.8 * $0.axis }, from: start)
        #expect(phases.count == 600)
    }

    @Test func aMissingPositionIsNamed() {
        var rests = Dictionary(uniqueKeysWithValues: Face.allCases.map { ($0, 9.8 * $0.axis) })
        rests[.rightDown] = nil
        let refusal = #expect(throws: AccelerometerRefusal.self) { try AccelerometerFit.sixPositions(rests) }
        #expect(refusal == .missing([.rightDown], moving: []))
        #expect(refusal?.description == "not held still for a second: left edge up")
    }

    /// Sides that were laid some degrees askew would give a sensor their tilt; its offset and scale do not depend on it.
    @Test(arguments: [0.01, 0.02, 0.04]) func skewSidesGiveNoTilt(skewRadians: Double) throws {
        let offset = Vector3(0.06, -0.04, 0.1)
        let scale = Vector3(1.004, 0.995, 1.002)
        var rests: [Face: Vector3] = [:]
        for (number, face) in Face.allCases.enumerated() {
            let turn = Double(number) * 2.4
            let up = face.axis + 1.4 * skewRadians * Vector3(sin(turn), cos(turn), sin(turn + 1))
            rests[face] = scale * (9.80665 / length(up) * up) + offset
        }
        let found = try AccelerometerFit.sixPositions(rests)
        for face in Face.allCases {
            let error = length(found.apply(scale * (9.80665 * face.axis) + offset) - 9.80665 * face.axis)
            #expect(error < (skewRadians > 0.01 ? 1e-6 : 0.2), "\(face)")
            #expect(error < 3 * found.fitError)
        }
    }

    @Test func positionsThatDoNotFitTogetherAreRefused() throws {
        var rests = Dictionary(uniqueKeysWithValues: Face.allCases.map { ($0, 9.8 * $0.axis) })
        // Held 15° off, once.
        rests[.screenUp] = [0, 2.54, 9.47]
        let refusal = #expect(throws: AccelerometerRefusal.self) { try AccelerometerFit.sixPositions(rests) }
        #expect(refusal?.name == "fit")
        for face in Face.allCases { rests[face] = [0, 0, 9.8] }
        #expect(throws: AccelerometerRefusal.self) { try AccelerometerFit.sixPositions(rests) }
        for face in Face.allCases { rests[face] = [.nan, 0, 9.8] }
        #expect(throws: AccelerometerRefusal.self) { try AccelerometerFit.sixPositions(rests) }
        for face in Face.allCases { rests[face] = .zero }
        #expect(throws: AccelerometerRefusal.self) { try AccelerometerFit.sixPositions(rests) }
    }
}
