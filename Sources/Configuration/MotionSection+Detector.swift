package import Binnacle

extension MotionSection {
    /// The gyroscope that the settings need.
    package var usedGyroscope: GyroscopeChoice { settings.usesGyroscope ? gyroscope : .none }

    /// Makes the detector.
    package func makeDetector(on streams: [SampleStream]) -> MotionManager {
        MotionManager(
            name: name, accelerometer: streams.first(accelerometer, .accelerometer),
            gyroscope: usedGyroscope.stream(beside: accelerometer, among: streams), settings: settings)
    }
}

extension NorthSection {
    /// Makes the detector.
    package func makeDetector(on streams: [SampleStream]) -> NorthDetector {
        NorthDetector(
            name: name, accelerometer: streams.first(accelerometer, .accelerometer),
            magnetometer: streams.first(magnetometer, .magnetometer),
            gyroscope: gyroscope.stream(beside: accelerometer, among: streams), settings: settings)
    }
}

extension [SampleStream] {
    func first(_ sensor: String, _ kind: SampleKind) -> SampleStream? {
        first { $0.sensor.name == sensor && $0.kind == kind }
    }
}
