package import Configuration
import PlainText

extension Configuration {
    package func requireDetector(_ path: String) throws(StationError) {
        guard detectorNames.isEmpty, dbus == nil else { return }
        throw StationError(
            .configuration,
            "\(path.printable): no detector: add a section [motion.NAME] or another one of a detector")
    }
}
