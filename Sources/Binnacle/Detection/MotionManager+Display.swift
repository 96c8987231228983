/// The values that a motion manager compares with limits; each name ends with the unit.
private enum Value {
    static let user = "user_g"
    static let linear = "linear_g"
    static let total = "total_g"
    static let rate = "rate_dps"
}

extension MotionManager {
    package var eventSensor: String? { accelerometer?.sensor.name }
    package func report(to router: Router) { delegate = delegate ?? router }

    package var state: String? {
        isMoving ? "moving" : isRotating ? "rotating" : accelerometer?.sensor.isSleeping == true ? "sleeping" : "still"
    }
    package var isActive: Bool { isMoving || isRotating }
    package var limits: [LiveValues.Limit] { settings.limits }

    private var isLinear: Bool { settings.features.contains(.motion) && settings.measure == .linearAcceleration }

    package var sampledValues: [SampledValue] {
        guard let accelerometer else { return [] }
        var values: [SampledValue] = []
        if needsGravity {
            values.append(SampledValue(name: Value.user, place: .squares(0, of: accelerometer), unit: .g))
        }
        if isLinear { values.append(SampledValue(name: Value.linear, place: .squares(1, of: accelerometer), unit: .g)) }
        values.append(SampledValue(name: Value.total, place: .lengths(of: accelerometer), unit: .g))
        if settings.features.contains(.rotation), let gyroscope {
            values.append(SampledValue(name: Value.rate, place: .lengths(of: gyroscope), unit: .degreesPerSecond))
        }
        return values
    }

    package var lanes: [Lane] {
        let curves = sampledValues.map { value in
            switch value.name {
            case Value.user: Lane("user acceleration, \(name)", "g", ["user": value.name])
            case Value.linear: Lane("linear acceleration, \(name)", "g", ["linear": value.name])
            case Value.total: Lane("total acceleration, \(name)", "g", ["total": value.name])
            default: Lane("rate of turn, \(name)", "°/s", ["rate": value.name])
            }
        }
        return [Lane(title: "motion \(name)", states: [Lane.States(name: Lane.States.state)])] + curves
    }
}

extension MotionSettings {
    /// Everything that is compared with an acceleration, in g, or with the rate of turn, in °/s.
    fileprivate var limits: [LiveValues.Limit] {
        var limits: [LiveValues.Limit] = []
        if features.contains(.motion) {
            func motion(_ measure: String, isAbove: Bool = true, from zero: Float = 0) -> LiveValues.Limit {
                let sign: Float = isAbove ? 1 : -1
                return LiveValues.Limit(
                    "motion", of: measure, isAbove: isAbove, begin: zero + sign * thresholdG,
                    end: zero + sign * effectiveReleaseG, isAlwaysShown: true)
            }
            switch measure {
            case .userAcceleration: limits.append(motion(Value.user))
            case .linearAcceleration: limits.append(motion(Value.linear))
            case .magnitude: limits += [motion(Value.total, from: 1), motion(Value.total, isAbove: false, from: 1)]
            }
        }
        if features.contains(.shake) {
            limits.append(LiveValues.Limit("shake", of: Value.user, begin: shakeG, end: shakeG / 2))
        }
        if features.contains(.freeFall) {
            limits.append(LiveValues.Limit("free fall", of: Value.total, isAbove: false, begin: freeFallG))
        }
        if features.contains(.shock) { limits.append(LiveValues.Limit("shock", of: Value.total, begin: shockG)) }
        if features.contains(.rotation) {
            limits.append(
                LiveValues.Limit(
                    "rotation", of: Value.rate, begin: Float(rotationDegreesPerSecond),
                    end: Float(effectiveRotationRelease), isAlwaysShown: true))
        }
        return limits
    }
}

extension SensorSession.Setup {
    /// Makes events of what a motion manager tells it; the delegate of one that is given none.
    ///
    /// A delegate that wants both, calls and events, passes them on to this one.
    public var motionEventDelegate: some MotionManagerDelegate { router }

    /// Looks for motion, shakes, free falls and shocks in the samples of an accelerometer.
    ///
    /// - Parameters:
    ///   - name: The name that events carry, which no other detector of the session has.
    ///   - sensor: The sensor's name; `nil` takes the first accelerometer. Without one the detector tells *device not
    ///     available*.
    ///   - gyroscope: The name of the sensor whose gyroscope is used where the settings need one; `nil` takes the gyroscope of
    ///     the accelerometer's sensor, or else the first.
    ///   - settings: What to look for.
    ///   - delegate: Told what is found, in the place of ``motionEventDelegate``, and held by the session.
    /// - Returns: The detector, which the session starts.
    /// - Throws: The first of the settings' problems, or that the source has no such sensor.
    @discardableResult
    public func detectMotion(
        name: String = "motion", sensor: String? = nil, gyroscope: String? = nil,
        settings: MotionSettings = MotionSettings(), delegate: (any MotionManagerDelegate)? = nil
    ) throws -> MotionManager {
        try settings.check()
        let accelerometer = try stream(of: .accelerometer, named: sensor)
        let manager = MotionManager(
            name: name, accelerometer: accelerometer,
            gyroscope: settings.usesGyroscope ? try stream(turning: accelerometer, named: gyroscope) : nil,
            settings: settings)
        manager.delegate = delegate
        return try add(manager, owning: delegate)
    }
}
