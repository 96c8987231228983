import Binnacle
import LinuxSensors

/// What detectors of how a screen is held mean for their sensors.
extension Configuration {
    /// Has the detectors know their sensors' signs, and leaves foreign devices out.
    mutating func fitScreens() {
        for index in orientations.indices {
            let name = orientations[index].accelerometer
            guard let place = sensors.firstIndex(where: { $0.name == name }) else { continue }
            orientations[index].settings.isReversed = sensors[place].settings.acceleration == .gravity
            sensors[place].leaveOutForeignDevices()
        }
    }
}
