import Binnacle
import PlainText

/// Measures the noise of a sensor at rest, as `binnacle doctor --measure` does.
final class NoiseTask: CalibrationTask {
    private let kind: SampleKind
    private let neededSeconds: Double
    private var measured: MeasuredStream

    init(_ kind: SampleKind, for duration: Duration?) {
        self.kind = kind
        neededSeconds = (duration ?? .seconds(60)) / .seconds(1)
        measured = MeasuredStream(sensor: "", kind: kind, claims: MeasuredStream.Claims())
    }

    func add(_ sample: Sample) { measured.add(sample) }

    var isComplete: Bool { measured.seconds >= neededSeconds }

    var fraction: Double { min(measured.seconds / neededSeconds, 1) }

    var advice: String {
        guard measured.count > 0 else { return "waiting for the \(kind.rawValue)" }
        return isComplete ? "enough" : "leave it lying still for \(neededSeconds.text(0)) s"
    }

    func finish() throws(CalibrationRefusal) -> CalibrationResult {
        var figures = JSONObject()
        figures.add("samples_seen", raw: "\(measured.count)")
        let seconds = measured.seconds.text(1)
        figures.add("seconds", raw: seconds)
        let (density, refusal) = measured.noise()
        if let refusal { throw CalibrationRefusal(name: refusal.name, description: refusal.text, figures: figures) }
        let (table, key, _) = SensorCalibration.noiseKey(of: kind)
        let value = MeasuredStream.shown(density)
        figures.add(key, raw: value)
        // The first line of a measurement names the sensor, as the caller does.
        let lines = ["\(key) = \(value)", "seconds = \(seconds)", "samples = \(measured.count)"]
        return CalibrationResult(
            name: table, table: lines, report: Array(measured.result().lines.dropFirst()), figures: figures)
    }
}
