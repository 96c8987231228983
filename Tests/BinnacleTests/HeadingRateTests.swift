import Binnacle
import Glibc
import SensorGeometry
import Testing

/// The rate of a heading beside that of the axis' azimuth in a small step.
@Suite struct HeadingRateTests {
    private static let radian = Double.pi / 180

    private func azimuth(of axis: Vector3, _ orientation: Quaternion) -> Double {
        let direction = orientation.rotate(axis)
        return atan2(direction.x, direction.y)
    }

    @Test(arguments: [Vector3(0, 1, 0), Vector3(1, 0, 0), Vector3(0, 0, -1)], [-60.0, -20, 0, 35, 75])
    func itIsThatOfTheAzimuth(axis: Vector3, pitch: Double) throws {
        for yaw in stride(from: 0.0, to: 360, by: 45) {
            for rate in [Vector3(20, 0, 0), Vector3(0, 30, 0), Vector3(0, 0, -40), Vector3(15, -25, 8)] {
                let orientation =
                    Quaternion(aboutVertical: yaw * Self.radian)
                    * Quaternion(rate: Vector3(pitch, 0.3 * pitch, 0) * Self.radian, seconds: 1)
                let up = orientation.conjugate.rotate(Vector3(0, 0, 1))
                guard abs(dot(axis, up)) < 0.99 else { continue }
                let step = 1e-5
                let next = orientation * Quaternion(rate: rate * Self.radian, seconds: step)
                let change = remainder(azimuth(of: axis, next) - azimuth(of: axis, orientation), 2 * .pi)
                let found = try #require(headingRate(of: axis, up: up, rate: rate))
                #expect(abs(change / step / Self.radian - found) < 0.05, "\(yaw) \(rate): \(found)")
            }
        }
    }

    @Test func anUprightAxisHasNone() {
        #expect(headingRate(of: Vector3(0, 0, 1), up: Vector3(0, 0, 1), rate: Vector3(1, 2, 3)) == nil)
    }
}
