package import Binnacle

extension MotionSection {
    /// Makes the detector.
    package func makeDetector(on streams: [SampleStream]) -> MotionManager {
        MotionManager(name: name, accelerometer: streams.first(accelerometer, .accelerometer), settings: settings)
    }
}

extension NorthSection {
    /// Makes the detector.
    package func makeDetector(on streams: [SampleStream]) -> NorthDetector {
        NorthDetector(
            name: name, accelerometer: streams.first(accelerometer, .accelerometer),
            magnetometer: streams.first(magnetometer, .magnetometer), settings: settings)
    }
}

extension [SampleStream] {
    fileprivate func first(_ sensor: String, _ kind: SampleKind) -> SampleStream? {
        first { $0.sensor.name == sensor && $0.kind == kind }
    }
}
