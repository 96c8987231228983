public import Binnacle

extension AttitudeDetector {
    package var eventSensor: String? { accelerometer?.sensor.name }

    /// What is watched for decides it; without a limit it is only known or not.
    package var state: String? {
        guard latest != nil else { return nil }
        let (isHeeled, isPitched) = limitState
        return isHeeled ? "heeled" : isPitched ? "pitched" : limits.isEmpty ? "known" : "level"
    }
    package var isActive: Bool { limitState.isHeeled || limitState.isPitched }

    package var figures: [Figure] { latest.map { EventKind.attitudeFigures.figures(of: $0) } ?? [] }

    package var sampledValues: [SampledValue] {
        [
            SampledValue(name: Figure.Name.roll.rawValue, place: .row(0)),
            SampledValue(name: Figure.Name.pitch.rawValue, place: .row(1)),
            SampledValue(name: direction.rawValue, place: .row(2), form: magnetometer == nil ? .value : .angle),
            SampledValue(name: Figure.Name.yawAccuracy.rawValue, place: .row(3)),
        ]
    }

    /// A heading has a compass card; a yaw that counts from elsewhere has none.
    var direction: Figure.Name { magnetometer == nil ? .yaw : .heading }

    package var lanes: [Lane] {
        let tilt = Lane(
            "roll and pitch of \(name)", "°",
            ["roll": Figure.Name.roll.rawValue, "pitch": Figure.Name.pitch.rawValue])
        guard magnetometer != nil else {
            return [tilt]
                + (gyroscope == nil ? [] : [Lane("yaw of \(name)", "°", ["yaw": direction.rawValue])])
        }
        var heading = Lane(title: "heading of \(name)", unit: "°")
        heading.direction = Lane.Direction(name: direction.rawValue, accuracy: Figure.Name.yawAccuracy.rawValue)
        return [tilt, heading]
    }

    package var limits: [LiveValues.Limit] {
        func limits(_ word: String, _ name: Figure.Name, _ degrees: Double?) -> [LiveValues.Limit] {
            guard let degrees else { return [] }
            let (begin, end) = (Float(degrees), Float(degrees - settings.hysteresisDegrees))
            return [
                LiveValues.Limit(word, of: name.rawValue, begin: begin, end: end),
                LiveValues.Limit(word, of: name.rawValue, isAbove: false, begin: -begin, end: -end),
            ]
        }
        return limits("heel", .roll, settings.heelDegrees) + limits("pitch", .pitch, settings.pitchDegrees)
    }
}

extension SensorSession.Setup {
    /// Looks for the attitude of a body in the samples of an accelerometer and, as far as the source has them, a gyroscope and a
    /// magnetometer.
    ///
    /// - Parameters:
    ///   - name: The name that events carry, which no other detector of the session has.
    ///   - accelerometer: The sensor's name; `nil` takes the first accelerometer.
    ///   - gyroscope: The sensor's name; `nil` takes the gyroscope of the accelerometer's sensor, or else the first.
    ///   - magnetometer: The sensor's name; `nil` takes the magnetometer of the accelerometer's sensor, or else the first, where
    ///     `usesMagnetometer` says so.
    ///   - usesMagnetometer: Whether the turn about the vertical counts from north; otherwise from where the body pointed at first.
    ///   - settings: How to find an attitude, and when to report one.
    /// - Returns: The detector, which the session starts.
    /// - Throws: The first of the settings' problems, or that the source has no such sensor.
    @discardableResult
    public func detectAttitude(
        name: String = "attitude", accelerometer: String? = nil, gyroscope: String? = nil, magnetometer: String? = nil,
        usesMagnetometer: Bool = true, settings: AttitudeSettings = AttitudeSettings()
    ) throws -> any Detector {
        try settings.check()
        let up = try stream(of: .accelerometer, named: accelerometer)
        let near = magnetometer == nil ? up.flatMap { stream(of: .magnetometer, from: $0.sensor.name) } : nil
        let detector = AttitudeDetector(
            name: name, accelerometer: up, gyroscope: try stream(turning: up, named: gyroscope),
            magnetometer: usesMagnetometer ? try near ?? stream(of: .magnetometer, named: magnetometer) : nil,
            settings: settings)
        return try add(detector)
    }
}
