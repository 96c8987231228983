public import Binnacle

extension NorthDetector {
    package var eventSensor: String? { magnetometer?.sensor.name }
    package func report(to router: Router) { delegate = delegate ?? router }

    package var state: String? { heading == nil ? nil : isFacing ? "facing" : "away" }
    package var isActive: Bool { isFacing }

    package var figures: [Figure] {
        let names: [Figure.Name] = [
            .heading, .reference, .declination, .accuracy, .age, .axis, .off, .field, .dip, .turnRate,
        ]
        let found = heading.map { names.figures(of: $0) } ?? []
        return found + (lastFault.map { [Figure(.reason, .text($0.rawValue))] } ?? [])
    }

    /// The strength of the magnetometer's samples.
    private static let strength = "strength_uT"

    package var sampledValues: [SampledValue] {
        guard let magnetometer else { return [] }
        return [
            SampledValue(name: Figure.Name.heading.rawValue, place: .row(0), form: .angle),
            SampledValue(name: Figure.Name.accuracy.rawValue, place: .row(1)),
            SampledValue(name: Figure.Name.reason.rawValue, place: .row(2), form: .bits),
            SampledValue(name: Self.strength, place: .lengths(of: magnetometer)),
        ]
    }

    package var lanes: [Lane] {
        var heading = Lane(title: "heading of \(name)", unit: "°")
        heading.direction = Lane.Direction(
            name: Figure.Name.heading.rawValue, accuracy: Figure.Name.accuracy.rawValue)
        heading.states = [
            Lane.States(
                name: Figure.Name.reason.rawValue, prefix: "none: ", words: HeadingFault.allCases.map(\.rawValue))
        ]
        heading.sectors = [
            Lane.Sector(
                label: "facing", from: settings.bearingDegrees - settings.toleranceDegrees,
                to: settings.bearingDegrees + settings.toleranceDegrees,
                margin: settings.effectiveExitDegrees - settings.toleranceDegrees)
        ]
        for sector in settings.sectors {
            heading.sectors.append(
                Lane.Sector(
                    label: "sector \(sector.name)", from: sector.fromDegrees,
                    to: sector.fromDegrees + 2 * sector.toleranceDegrees, margin: sector.marginDegrees))
        }
        return [heading, Lane("strength of the field, \(name)", "µT", ["|B|": Self.strength])]
    }

    /// How near the bearing is faced, how inaccurate a heading may be, and which fields are those of the Earth.
    package var limits: [LiveValues.Limit] {
        var limits = [
            LiveValues.Limit(
                "facing", of: Figure.Name.off.rawValue, isAbove: false, begin: Float(settings.toleranceDegrees),
                end: Float(settings.effectiveExitDegrees))
        ]
        if let limit = settings.accuracyLimitDegrees {
            limits.append(LiveValues.Limit("no heading", of: Figure.Name.accuracy.rawValue, begin: Float(limit)))
        }
        if let range = settings.plausibleFieldMicrotesla {
            limits.append(
                LiveValues.Limit("implausible", of: Self.strength, isAbove: false, begin: Float(range.lowerBound)))
            limits.append(LiveValues.Limit("implausible", of: Self.strength, begin: Float(range.upperBound)))
        }
        return limits
    }

    package var summary: [String] {
        let all = validCount + faultCounts.values.reduce(0, +)
        guard all > 0 else { return ["\(name): no sample to find a heading at"] }
        let share = Figure.Value.number(100 * Double(validCount) / Double(all), decimals: 1)
        return ["\(name): a heading at \(share) % of the samples"]
            + HeadingFault.allCases.compactMap { fault in
                faultCounts[fault].map { "  none at \($0): \(fault.rawValue)" }
            }
    }
}

extension SensorSession.Setup {
    /// Makes events of what a north detector tells it; the delegate of one that is given none.
    ///
    /// A delegate that wants both, calls and events, passes them on to this one.
    public var northEventDelegate: some NorthDetectorDelegate { router }

    /// Looks for headings in the samples of an accelerometer and a magnetometer.
    ///
    /// - Parameters:
    ///   - name: The name that events carry, which no other detector of the session has.
    ///   - accelerometer: The sensor's name; `nil` takes the first accelerometer.
    ///   - magnetometer: The sensor's name; `nil` takes the first magnetometer.
    ///   - gyroscope: The sensor's name; `nil` takes the gyroscope of the accelerometer's sensor, or else the first. The
    ///     detector does without where the source has none.
    ///   - settings: What to look for.
    ///   - delegate: Told what is found, in the place of ``northEventDelegate``, and held by the session.
    /// - Returns: The detector, which the session starts.
    /// - Throws: The first of the settings' problems, or that the source has no such sensor.
    @discardableResult
    public func detectNorth(
        name: String = "north", accelerometer: String? = nil, magnetometer: String? = nil,
        gyroscope: String? = nil, settings: NorthSettings = NorthSettings(),
        delegate: (any NorthDetectorDelegate)? = nil
    ) throws -> NorthDetector {
        try settings.check()
        let accelerometer = try stream(of: .accelerometer, named: accelerometer)
        let detector = NorthDetector(
            name: name, accelerometer: accelerometer,
            magnetometer: try stream(of: .magnetometer, named: magnetometer),
            gyroscope: try stream(turning: accelerometer, named: gyroscope), settings: settings)
        detector.delegate = delegate
        return try add(detector, owning: delegate)
    }
}
