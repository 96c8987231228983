package import Binnacle
import PlainText

extension Configuration {
    /// A stream that a detector needs.
    package typealias Need = (sensor: String, kind: SampleKind, by: String)

    /// The streams that the detectors need, each once, in the order of the sensors in the configuration.
    package var needs: [Need] {
        var needs: [Need] = []
        for motion in motions { needs.append((motion.accelerometer, .accelerometer, "motion.\(motion.name)")) }
        for north in norths {
            needs.append((north.accelerometer, .accelerometer, "north.\(north.name)"))
            needs.append((north.magnetometer, .magnetometer, "north.\(north.name)"))
        }
        return sensors.flatMap { sensor in
            SampleKind.allCases.compactMap { kind in needs.first { $0.sensor == sensor.name && $0.kind == kind } }
        }
    }

    /// What detectors need of a sensor.
    package func kinds(of sensor: String) -> [SampleKind] {
        needs.filter { $0.sensor == sensor }.map(\.kind)
    }
}
