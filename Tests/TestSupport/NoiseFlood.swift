/// Sections of a configuration in which the noise of a simulated sensor makes events.
package enum NoiseFlood {
    /// A sensor whose noise makes some hundred shakes a second, or none at all.
    package static func sections(floods: Bool) -> String {
        """
        [sensor.box]
        source = "simulated"
        model = "still"
        rate_hz = 4000
        [motion.moved]
        accelerometer = "box"
        detect = ["shake"]
        gravity_s = 0.001
        shake_g = \(floods ? "0.0035" : "9")
        shake_refractory_s = 0.001
        """
    }
}
