package import Binnacle
import LinuxSensors

/// How many samples a second the detectors need, so that no device is asked for more.
///
/// Measured on recordings with a known truth, of which samples were left out (docs/measurements.md, "Rates").
extension Configuration {
    private enum RateHz {
        /// A hand turns a screen no faster.
        static let screen = 10.0
        /// Motions begin and end at most 0.2 s later than at 71 Hz; at half of it 0.4 s.
        static let motion = 50.0
        /// At half of it a third of the shocks and shakes is missed.
        static let impact = 100.0
        /// A compass alone loses 2° of 14° in motion, and beside a gyroscope nothing is lost.
        static let heading = 25.0
        /// The vertical beside a gyroscope; at half of it a magnet was found too late.
        static let vertical = 50.0
        /// Rates between which the turns are interpolated: at half of it a fast turn doubles the error.
        static let gyroscope = 100.0
    }

    /// What the detectors need of a sensor: the samples a second of each kind that is used.
    package func neededRatesHz(of sensor: String) -> [SampleKind: Double] {
        var needed: [SampleKind: Double] = [:]
        func need(_ rate: Double, _ kind: SampleKind, of name: String) {
            if name == sensor { needed[kind] = max(needed[kind] ?? 0, rate) }
        }
        func need(_ gyroscope: GyroscopeChoice, beside accelerometer: String) {
            switch gyroscope {
            case .none: break
            case .automatic: need(RateHz.gyroscope, .gyroscope, of: accelerometer)
            case .sensor(let name): need(RateHz.gyroscope, .gyroscope, of: name)
            }
        }
        for motion in motions {
            let isCalm = motion.settings.features.isSubset(of: [.motion, .rotation])
            need(isCalm ? RateHz.motion : RateHz.impact, .accelerometer, of: motion.accelerometer)
            need(motion.usedGyroscope, beside: motion.accelerometer)
        }
        for north in norths {
            // The heading of a desktop is seldom claimed, and makes do with what shows how its screen is held.
            let isRare = desktopDetectors.contains(north.name)
            let rate = isRare ? RateHz.screen : north.gyroscope == .none ? RateHz.heading : RateHz.vertical
            need(rate, .accelerometer, of: north.accelerometer)
            need(RateHz.heading, .magnetometer, of: north.magnetometer)
            need(north.gyroscope, beside: north.accelerometer)
        }
        let screens = orientations.map(\.accelerometer) + hinges.compactMap(\.parts).flatMap { [$0.display, $0.base] }
        for name in screens { need(RateHz.screen, .accelerometer, of: name) }
        return needed
    }

    /// Has each sensor whose section has no rate be asked for what the detectors need.
    mutating func fitRates() {
        for index in sensors.indices where !sensors[index].hasRate {
            sensors[index].settings.neededRatesHz = neededRatesHz(of: sensors[index].name)
        }
    }
}
