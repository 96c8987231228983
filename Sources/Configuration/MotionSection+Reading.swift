import Binnacle
import TableReading

extension MotionSection {
    /// The section's keys.
    static let keys = [
        "accelerometer", "detect", "measure", "threshold_g", "release_g", "min_duration_s", "quiet_s", "shake_g",
        "shake_refractory_s", "free_fall_g", "free_fall_s", "shock_g", "shock_refractory_s", "gravity_s", "gap_s",
        "update_interval_s",
    ]

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    init?(name: String, reading table: TableReader, sensors: [String]) {
        let sensor = table.required("accelerometer", "it names the sensor to watch")
            .flatMap { table.reference("accelerometer", $0, to: "sensor", among: sensors) }
        let settings = MotionSettings(reading: table)
        guard let sensor else { return nil }
        self.init(name: name, accelerometer: sensor, settings: settings)
    }
}

extension MotionSettings {
    /// Reads the settings, with the default for each key that is absent or refused.
    fileprivate init(reading table: TableReader) {
        self.init()
        if let nodes = table.array("detect", of: "strings") {
            let found = table.choices("detect", nodes, as: Feature.self)
            // When all that was named is unknown, saying that nothing is named would mislead.
            if !found.isEmpty || nodes.isEmpty { features = Set(found) }
        }
        measure = table.choice("measure", as: Measure.self) ?? measure
        thresholdG = table.float("threshold_g") ?? thresholdG
        releaseG = table.float("release_g")
        minimumDuration = table.seconds("min_duration_s") ?? minimumDuration
        quiet = table.seconds("quiet_s") ?? quiet
        shakeG = table.float("shake_g") ?? shakeG
        shakeRefractory = table.seconds("shake_refractory_s") ?? shakeRefractory
        freeFallG = table.float("free_fall_g") ?? freeFallG
        freeFallDuration = table.seconds("free_fall_s") ?? freeFallDuration
        shockG = table.float("shock_g") ?? shockG
        shockRefractory = table.seconds("shock_refractory_s") ?? shockRefractory
        gravityTimeConstant = table.seconds("gravity_s") ?? gravityTimeConstant
        gapLimit = table.seconds("gap_s") ?? gapLimit
        updateInterval = table.seconds("update_interval_s") ?? updateInterval
        table.report(problems(), derived: ["release_g": "threshold_g"])
    }
}
