import Binnacle
import Glibc
import SensorGeometry
import Testing

import BinnacleHeading

@Suite struct FrozenAxisTests {
    /// Turns about x by 30°/s for five seconds; returns when an axis counted as frozen first and last, in samples of 10 ms.
    private func frozen(change: (Int, inout Vector3) -> Void) -> ClosedRange<Int>? {
        var watch = FrozenAxis()
        var found: ClosedRange<Int>?
        for index in 0..<500 {
            let rotation = Quaternion(rate: Vector3(30 * .pi / 180, 0, 0), seconds: Double(index) / 100)
            var value = rotation.conjugate.rotate(Vector3(0, 0, 9.81))
            change(index, &value)
            watch.update(value, rotation: rotation, at: Int64(index) * 10_000_000)
            if watch.isFrozen { found = (found?.lowerBound ?? index)...index }
        }
        return found
    }

    @Test func anAxisAlongTheTurnMayKeepItsValue() {
        #expect(frozen { _, value in value.x = 0 } == nil)
    }

    @Test func anAxisAcrossTheTurnThatKeepsItsValueIsFrozenUntilItChanges() {
        let found = frozen { index, value in if (100..<400).contains(index) { value.z = 8.5 } }
        #expect(found == 200...399)
    }

    @Test func anAxisThatIsFrozenStaysSoWhenTheDeviceTurnsBack() {
        var watch = FrozenAxis()
        var wasFrozen = false
        for index in 0..<800 {
            let angle = sin(Double(index) / 100 * .pi / 2) * 0.5
            let rotation = Quaternion(rate: Vector3(angle, 0, 0), seconds: 1)
            watch.update(Vector3(0, Double(index) / 1000, 9.81), rotation: rotation, at: Int64(index) * 10_000_000)
            if wasFrozen { #expect(watch.isFrozen) }
            wasFrozen = watch.isFrozen
        }
        #expect(wasFrozen)
    }

    /// The frame of a device at rest turns by what is left of the gyroscope's offset.
    @Test func aValueMayStayTheSameAtRest() {
        var watch = FrozenAxis()
        for index in 0..<60_000 {
            let rotation = Quaternion(rate: Vector3(0.001, 0, 0), seconds: Double(index) / 100)
            watch.update(Vector3(0, 0, 9.81), rotation: rotation, isStill: true, at: Int64(index) * 10_000_000)
        }
        #expect(!watch.isFrozen)
    }

    @Test func valuesThatAreRepeatedForLessThanASecondAreOfASlowSensor() {
        #expect(
            frozen { index, value in
                let rotation = Quaternion(rate: Vector3(30 * .pi / 180, 0, 0), seconds: Double(index / 50 * 50) / 100)
                value = rotation.conjugate.rotate(Vector3(0, 0, 9.81))
            } == nil)
    }
}
