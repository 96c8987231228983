import LinuxSensors
import TableReading

extension SensorSettings {
    /// Reads what a section says of reading its device; what is wrong is reported.
    init(reading table: TableReader) {
        self.init()
        if let rate = table.double("rate_hz") {
            // Slower, and every sample would come after a gap.
            if (2...100_000).contains(rate) {
                rateHz = rate
            } else {
                table.refuse("rate_hz", "(\(rate)) is not between 2 and 100000")
            }
        }
        if let interval = table.positiveSeconds("update_interval_s") {
            if interval <= .milliseconds(500) {
                updateInterval = interval
            } else {
                table.refuse("update_interval_s", "is longer than 0.5 s: detection would start anew at every sample")
            }
        }
        trigger = table.string("trigger")
        isPolled = table.boolean("polling") ?? isPolled
        acceleration = table.choice("acceleration", as: Acceleration.self) ?? acceleration
        guard let text = table.string("mount_matrix") else { return }
        do throws(MountMatrix.Flaw) {
            mountMatrix = try MountMatrix(text)
        } catch {
            switch error {
            case .shape:
                table.refuse(
                    "mount_matrix", "has to be three rows of three numbers, as in \"1, 0, 0; 0, 1, 0; 0, 0, 1\"")
            case .singular: table.refuse("mount_matrix", "has determinant 0: two axes would become one")
            }
        }
    }
}
