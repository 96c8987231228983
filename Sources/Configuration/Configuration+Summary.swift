extension Configuration {
    /// What is in it, on one line.
    package var summary: String {
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        let parts = [
            count(sensors.count, "sensor"), count(motions.count, "motion detector"),
            count(norths.count, "north detector"), count(handlers.count, "handler"),
        ]
        let origin = files.count > 1 ? ", in \(files.count) files" : ""
        return "ok: " + parts.joined(separator: ", ") + origin
    }
}
