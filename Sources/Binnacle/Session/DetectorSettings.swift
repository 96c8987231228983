/// What a session finds in the samples of one accelerometer, and reports as events alone.
public enum DetectorSettings: Sendable, Equatable {
    /// Single, double and triple taps; of an accelerometer at 400 Hz, which a live source has to be asked for.
    case tap(TapSettings = TapSettings())
    /// The steps of the person who carries the accelerometer.
    case steps(StepSettings = StepSettings())
    /// When a device rests, and when it goes somewhere.
    case stationary(StationarySettings = StationarySettings())
    /// How strongly a machine vibrates.
    case vibration(VibrationSettings = VibrationSettings())
    /// The upper edge and the lean of a screen.
    ///
    /// ``OrientationSettings/postures`` are those of the hinge that ``SensorSession/Setup/detectHinge(name:screen:base:settings:)``
    /// was called for before.
    case orientation(OrientationSettings = OrientationSettings())
}

extension SensorSession.Setup {
    /// Adds one of the detectors that need one accelerometer and no delegate.
    ///
    /// - Parameters:
    ///   - settings: What is looked for, as in `.tap()`.
    ///   - name: The name that events carry, which no other detector of the session has; `nil` is that of the case.
    ///   - sensor: The sensor's name; `nil` takes the first accelerometer. Where the source has none, an event says so.
    /// - Returns: The detector, which the session starts.
    /// - Throws: The first of the settings' problems, or that the source has no such sensor.
    @discardableResult
    public func detect(
        _ settings: DetectorSettings, name: String? = nil, sensor: String? = nil
    ) throws -> any Detector {
        let stream = try stream(of: .accelerometer, named: sensor)
        func made<Made: AccelerometerDetector>(_ type: Made.Type, _ settings: Made.Settings) throws -> Made {
            try settings.check()
            return try add(Made(name: name ?? Made.kind, accelerometer: stream, settings: settings))
        }
        switch settings {
        case .tap(let settings): return try made(TapDetector.self, settings)
        case .steps(let settings): return try made(StepDetector.self, settings)
        case .stationary(let settings): return try made(StationaryDetector.self, settings)
        case .vibration(let settings): return try made(VibrationDetector.self, settings)
        case .orientation(let settings):
            let detector = try made(OrientationDetector.self, settings)
            detector.hinge = detectors.lazy.compactMap { $0 as? HingeDetector }.last
            return detector
        }
    }
}
