import Binnacle
import Configuration

/// What detectors of orientations assume of the scales of their sensors, for people: each sensor once.
struct ScaleNotices {
    private var told: Set<String> = []

    /// What was not told yet; called at each turn.
    mutating func take(_ assembly: Assembly) -> [String] {
        var notices: [String] = []
        for part in assembly.orientations where part.object.gravityG != 1 {
            guard told.insert(part.section.accelerometer).inserted else { continue }
            notices.append(Self.text(part.section.accelerometer, part.object.gravityG))
        }
        return notices
    }

    /// What is assumed now.
    static func all(_ assembly: Assembly) -> [String] {
        var notices = ScaleNotices()
        return notices.take(assembly)
    }

    private static func text(_ sensor: String, _ lengthG: Float) -> String {
        let length = Figure.Value.number(Double(lengthG), decimals: 2)
        return
            "sensor '\(sensor)': it measures \(length) g at rest, so its scale is wrong; the orientation needs its direction "
            + "alone, and 'binnacle calibrate' corrects it"
    }
}
