import Testing
import VirtualDevices

@Suite struct CountTests {
    private static let wide: ClosedRange<Int32> = .min ... .max
    private static let narrow: ClosedRange<Int32> = -32_768...32_767

    @Test func countsAreMilligravityAndMilligauss() {
        let up = VirtualSensor.accelerometer.counts(SIMD3(0, -9.806_65, 19.6133), in: Self.wide)
        #expect(up == SIMD3(0, -1000, 2000))
        #expect(VirtualSensor.magnetometer.counts(SIMD3(-17.4, 10, 44.83), in: Self.wide) == SIMD3(-174, 100, 448))
        #expect(VirtualSensor.gyroscope.counts(SIMD3(7.2, 0, -0.5), in: Self.wide) == SIMD3(7200, 0, -500))
    }

    @Test func finerCountsAreMore() {
        let counts = VirtualSensor.accelerometer.counts(
            SIMD3(0, -9.806_65, 0.000_098_066_5), in: Self.wide, finerBy: 100)
        #expect(counts == SIMD3(0, -100_000, 1))
    }

    @Test func theNearestCountIsTaken() {
        let counts = VirtualSensor.magnetometer.counts(SIMD3(0.149, 0.151, -0.151), in: Self.wide)
        #expect(counts == SIMD3(1, 2, -2))
    }

    @Test(arguments: [narrow, wide]) func whatIsTooLargeStaysAtTheEnd(range: ClosedRange<Int32>) {
        let counts = VirtualSensor.accelerometer.counts(SIMD3(.infinity, -1e12, 0), in: range)
        #expect(counts == SIMD3(range.upperBound, range.lowerBound, 0))
    }

    @Test func whatIsNoNumberIsNoSample() {
        #expect(VirtualSensor.accelerometer.counts(SIMD3(0, .nan, 0), in: Self.wide) == nil)
    }
}
