/// Finds changes of the light around a device in single readings, and tells its delegate.
package final class AmbientLightDetector: AmbientReader, AmbientDetector {
    package static let kind = "light"
    /// When a change is reported.
    package let settings: AmbientLightSettings

    /// The last level that was read; `nil` before the first.
    private var latest: LightEvent?
    /// The level reported to the delegate last.
    private var told: LightEvent?

    /// Creates a detector that does not detect yet.
    ///
    /// - Precondition: ``AmbientLightSettings/problems()`` finds none.
    package init(name: String = "light", settings: AmbientLightSettings = AmbientLightSettings()) {
        settings.requireValid()
        self.settings = settings
        super.init(name: name)
    }

    package func reset() { (told, latest) = (nil, nil) }

    /// Looks at a reading.
    ///
    /// - Parameters:
    ///   - level: The level; one that is no number, below 0 or beyond any light is left out.
    ///   - unit: Its unit.
    ///   - timeNanoseconds: When it was read, in the samples' clock.
    package func process(level: Double, unit: LightEvent.Unit, at timeNanoseconds: Int64) {
        guard isDetecting, (0...1e9).contains(level) else { return }
        hasFailed = false
        let event = LightEvent(level: level, unit: unit, timeNanoseconds: timeNanoseconds)
        latest = event
        if let told, told.unit == unit {
            let least = max(1, told.level * settings.changePercent / 100)
            guard abs(level - told.level) >= least else { return }
        }
        told = event
        tell(.lightChanged, event)
    }
}

extension AmbientLightDetector {
    package var figures: [Figure] { latest.map { [Figure.Name.illuminance, .brightness].figures(of: $0) } ?? [] }

    package var lanes: [Lane] {
        [Lane("light of \(name)", "", ["lx": Figure.Name.illuminance.rawValue, "%": Figure.Name.brightness.rawValue])]
    }

    package var ambientKinds: Set<AmbientReading.Kind> { [.light] }

    package func process(_ outcome: AmbientReading.Outcome) {
        switch outcome {
        case .read(.light(let level, let unit), let time): process(level: level, unit: unit, at: time)
        case .failed(.light, let failure): didFail(because: failure)
        case .read, .failed: break
        }
    }
}

/// When an ``AmbientLightDetector`` tells a change.
package struct AmbientLightSettings: CheckedSettings {
    /// The least change, in percent of the level reported last; 10 by default.
    ///
    /// It is at least 1 of the unit.
    package var changePercent = 10.0

    package init() {}

    package func findProblems(_ list: inout ProblemList<AmbientLightSettings>) {
        list.requirePositive(\.changePercent, changePercent)
    }
}

/// A level of the light around a device.
package struct LightEvent: Sendable, Equatable {
    /// The unit of a level.
    package enum Unit: Sendable {
        case lux
        /// Percent of what the sensor can measure: it has no unit of its own.
        case percent
    }

    /// The level, in the unit.
    package let level: Double
    package let unit: Unit
    /// When it was read, in nanoseconds of the samples' clock.
    package let timeNanoseconds: Int64
}

extension LightEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .illuminance: unit == .lux ? figure.number(level) : nil
        case .brightness: unit == .percent ? figure.number(level) : nil
        default: nil
        }
    }
}
