import Binnacle
import Glibc
import SensorGeometry
import TestSupport
import Testing

import BinnacleHeading

/// The hard iron that a compass learns without a gyroscope: synthetic turns whose iron is known, with noise and a field that differs from
/// place to place.
@Suite struct IronSphereTests {
    /// North and down, in µT: 20 level, 44 down.
    private static let field = Vector3(0, 20, -44)

    /// Turns a device by the attitudes, ten a second, and returns the sphere and the last up.
    private func turned(
        _ sphere: IronSphere? = nil, iron: Vector3, noise: Double = 1, seed: UInt64 = 1, from first: Int = 0,
        count: Int, _ attitude: (Double) -> Quaternion
    ) -> (sphere: IronSphere, up: Vector3) {
        var random = SeededGenerator(seed: seed)
        var sphere = sphere ?? IronSphere(ironSigma: 35)
        var up = Vector3(0, 0, 1)
        for index in first..<first + count {
            let toDevice = attitude(Double(index) * 0.1).conjugate
            up = toDevice.rotate(Vector3(0, 0, 1))
            let measured = toDevice.rotate(Self.field) + iron + Vector3.random(in: -1...1, using: &random) * noise
            sphere.update(measured, up: up, tilt: 0, at: Int64(index) * 100_000_000)
        }
        return (sphere, up)
    }

    /// About the vertical by 40° in a second, and about a level axis to and fro.
    private func tumbling(_ seconds: Double) -> Quaternion {
        Quaternion(aboutVertical: 0.7 * seconds) * Quaternion(rate: Vector3(sin(0.9 * seconds), 0, 0), seconds: 1.4)
    }

    @Test(arguments: [0.0, 10, 30, 60], [1, 2, 3] as [UInt64])
    func aTumblingDeviceShowsItsIron(strength: Double, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let way = Vector3.random(in: -1...1, using: &random)
        let iron = way * (strength / way.length)
        let (sphere, up) = turned(iron: iron, seed: seed, count: 600, tumbling)
        #expect(length(sphere.iron - iron) < 3)
        #expect(sphere.sigma(levelTo: up) < 3)
    }

    /// A turn on a table shows the level part, and nothing of the upright one.
    @Test func aTurnOnATableShowsTheLevelPart() {
        let iron = Vector3(25, -15, 30)
        let (sphere, up) = turned(iron: iron, count: 300) { Quaternion(aboutVertical: 0.6 * $0) }
        let off = sphere.iron - iron
        #expect(length(Vector3(off.x, off.y, 0)) < 3)
        #expect(sphere.sigma(levelTo: up) < 4)
        #expect(sphere.sigma(levelTo: Vector3(1, 0, 0)) > 15)
    }

    @Test func whatWasNotTurnedStaysUnknown() {
        let (sphere, up) = turned(iron: Vector3(25, -15, 30), count: 3000) { Quaternion(aboutVertical: 0.2 * sin($0)) }
        #expect(sphere.sigma(levelTo: up) > 30)
    }

    /// A magnet that is put beside the sensor is other iron, and is learned in the place of the first.
    @Test func otherIronIsLearnedAgain() {
        let first = turned(iron: Vector3(10, 0, 0), count: 400, tumbling)
        #expect(first.sphere.sigma(levelTo: first.up) < 3)
        let second = turned(first.sphere, iron: Vector3(-20, 25, 10), from: 400, count: 900, tumbling)
        #expect(length(second.sphere.iron - Vector3(-20, 25, 10)) < 4)
    }

    @Test func whatWasLearnedServesTheNextStart() throws {
        let iron = Vector3(25, -15, 30)
        let first = turned(iron: iron, count: 600, tumbling)
        let errors = try #require(first.sphere.errors)
        var next = IronSphere(ironSigma: 35)
        #expect(next.errors == nil)
        next.recall(errors)
        #expect(length(next.iron - iron) < 3 && next.sigma(levelTo: first.up) < 4)
        // The device was built in elsewhere since.
        let other = turned(next, iron: Vector3(-20, 25, 10), from: 600, count: 900, tumbling)
        #expect(length(other.sphere.iron - Vector3(-20, 25, 10)) < 4)
    }

    @Test func samplesThatAreNotFiniteAndStampsThatStepBackChangeNothing() {
        var (sphere, up) = turned(iron: .zero, count: 300, tumbling)
        let before = sphere.iron
        sphere.update(Vector3(.nan, 0, 0), up: up, tilt: 0, at: 0)
        sphere.update(Vector3(0, 0, -40), up: Vector3(.nan, 0, 0), tilt: 0, at: 0)
        #expect(sphere.iron == before)
        sphere.update(up * 44 + Vector3(0, 20, 0), up: up, tilt: 0, at: -1)
        #expect(sphere.iron.isFinite)
    }
}
