/// The section `[dbus]`: the service for desktops on the system bus.
package struct DBusSettings: Sendable, Equatable {
    /// Decides which programs may claim a sensor.
    package enum Claims: String, Sendable, CaseIterable {
        /// polkit, by the action `net.hadess.SensorProxy.claim-sensor`.
        case polkit
        case group
    }

    /// Decides which programs may claim a sensor.
    package var claims = Claims.polkit
    /// The group whose members may claim, with ``Claims/group``.
    package var group = "binnacle"
    package var broadcastsEvents = true

    package init() {}
}
