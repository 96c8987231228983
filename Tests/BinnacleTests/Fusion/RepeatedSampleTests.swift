import Binnacle
import BinnacleHeading
import Glibc
import SensorGeometry
import TestSupport
import Testing

/// A sensor that repeats its last sample is left out until it measures again.
@Suite struct RepeatedSampleTests {
    /// A device that turns about x, at 100 samples a second.
    private struct Turning {
        var fusion = SixAxisFusion()
        /// What the sensors show in place of what they measure.
        var (shownRate, shownAcceleration): (SIMD3<Float>?, SIMD3<Float>?)
        /// The steps of the sensors, in rad/s and m/s².
        var (rateStep, accelerationStep): (Float, Float) = (1e-3, 0.01)
        private(set) var (rate, acceleration) = (SIMD3<Float>(), SIMD3<Float>())
        private var degrees = 0.0
        private var time: Int64 = 0
        private var generator = SeededGenerator(seed: 4)

        mutating func turn(_ degreesPerSecond: Double, seconds: Double, look: (inout Turning) -> Void = { _ in }) {
            for _ in 0..<Int(seconds * 100) {
                time += 10_000_000
                degrees += degreesPerSecond / 100
                let angle = degrees * .pi / 180
                func noise(_ most: Float) -> SIMD3<Float> {
                    SIMD3(
                        .random(in: -most...most, using: &generator), .random(in: -most...most, using: &generator),
                        .random(in: -most...most, using: &generator))
                }
                let turned = SIMD3(0, Float(9.80665 * sin(angle)), Float(9.80665 * cos(angle)))
                rate = stepped(SIMD3(Float(degreesPerSecond * .pi / 180), 0, 0) + noise(0.002), rateStep)
                acceleration = stepped(turned + noise(0.03), accelerationStep)
                fusion.update(gyroscope: shownRate ?? rate, at: time)
                fusion.update(acceleration: shownAcceleration ?? acceleration, at: time)
                look(&self)
            }
        }

        private func stepped(_ sample: SIMD3<Float>, _ step: Float) -> SIMD3<Float> {
            (sample / step).rounded(.toNearestOrEven) * step
        }

        /// How far the vertical is off, in degrees.
        var error: Double {
            let up = fusion.orientation.conjugate.rotate(Vector3(0, 0, 1))
            let angle = degrees * .pi / 180
            return acos(max(-1, min(1, dot(up, Vector3(0, sin(angle), cos(angle)))))) * 180 / .pi
        }
    }

    @Test func anAccelerationThatRepeatsWhileTheDeviceTurnsTiltsNothing() {
        var device = Turning()
        device.turn(0, seconds: 5)
        device.turn(30, seconds: 2)
        device.shownAcceleration = device.acceleration
        var worst = 0.0
        device.turn(30, seconds: 1.5) { worst = max(worst, $0.error) }
        #expect(device.fusion.repeated.isAccelerationFrozen)
        // It still repeats when the device stands still again.
        device.turn(0, seconds: 3) { worst = max(worst, $0.error) }
        #expect(device.fusion.repeated.isAccelerationFrozen)
        device.shownAcceleration = nil
        device.turn(30, seconds: 2) { worst = max(worst, $0.error) }
        #expect(!device.fusion.repeated.isAccelerationFrozen)
        #expect(worst < 1.5, "\(worst)")
    }

    @Test func aRateThatRepeatsWhileGravityStandsStillIsLeftOut() {
        var device = Turning()
        device.turn(0, seconds: 5)
        device.turn(30, seconds: 2)
        device.shownRate = device.rate
        device.turn(0, seconds: 1.2)
        #expect(device.fusion.repeated.isRateFrozen)
        device.turn(0, seconds: 5)
        #expect(device.fusion.repeated.isRateFrozen)
        device.shownRate = nil
        device.turn(0, seconds: 1)
        device.turn(30, seconds: 2)
        #expect(!device.fusion.repeated.isRateFrozen)
        #expect(device.error < 1.5, "\(device.error)")
    }

    /// Steps of 0.1 rad/s and 1/16 g hide the noise.
    @Test(arguments: [(0.1, 0.01), (0.001, 0.613), (0.1, 0.613)] as [(Float, Float)], [12, 30, 100] as [Double])
    func aCoarseSensorThatWorksIsNotLeftOut(steps: (Float, Float), rate: Double) {
        var device = Turning()
        (device.rateStep, device.accelerationStep) = steps
        device.turn(0, seconds: 5)
        for _ in 0..<3 {
            // A rate between two steps is that of the nearest one.
            let shown = (rate * .pi / 180 / Double(steps.0)).rounded() * Double(steps.0) * 180 / .pi
            device.turn(shown, seconds: 3) {
                #expect(!$0.fusion.repeated.isRateFrozen && !$0.fusion.repeated.isAccelerationFrozen)
            }
            device.turn(0, seconds: 3) {
                #expect(!$0.fusion.repeated.isRateFrozen && !$0.fusion.repeated.isAccelerationFrozen)
            }
        }
    }
}
