import Binnacle
import LinuxSensors

/// What detectors of how a screen is held mean for their sensors.
extension Configuration {
    /// The rate of a sensor that shows only how a screen is held: a hand turns it no faster.
    static let screenRateHz = 10.0

    /// Has the detectors know their sensors' signs, leaves foreign devices out, and has what nothing else reads be read
    /// slowly.
    ///
    /// - Parameter unrated: The sensors whose sections have no rate.
    mutating func fitScreens(unrated: Set<String>) {
        for index in orientations.indices {
            let name = orientations[index].accelerometer
            guard let place = sensors.firstIndex(where: { $0.name == name }) else { continue }
            orientations[index].settings.isReversed = sensors[place].settings.acceleration == .gravity
            sensors[place].leaveOutForeignDevices()
        }
        let parts = hinges.compactMap(\.parts).flatMap { [$0.display, $0.base] }
        let screens = Set(orientations.map(\.accelerometer) + parts)
        var others = self
        (others.orientations, others.hinges) = ([], [])
        for index in sensors.indices where screens.contains(sensors[index].name) {
            let name = sensors[index].name
            guard unrated.contains(name), others.kinds(of: name).isEmpty, others.optionalKinds(of: name).isEmpty
            else { continue }
            sensors[index].settings.rateHz = Self.screenRateHz
        }
    }
}
