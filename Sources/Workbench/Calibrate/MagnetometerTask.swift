import Binnacle
import Calibration
import PlainText
import SensorGeometry

/// Collects the readings of a magnetometer that is turned in all directions.
final class MagnetometerTask: CalibrationTask {
    private let judge: MagnetometerJudge
    private var thinning = SampleThinning()
    private var reviewedCount = 0
    private var map = DirectionMap([], centre: .zero)
    private var coverage: Coverage?
    private var lacksSamples = false
    private var last: Vector3?

    /// Share of all directions that ends a live calibration; more is hard to reach by hand.
    private static let enoughShare = 0.6
    /// Beyond this number, samples improve a calibration only little.
    private static let enoughSamples = 1500

    init(_ judge: MagnetometerJudge) {
        self.judge = judge
    }

    func add(_ sample: Sample) {
        last = SIMD3<Double>(sample)
        thinning.add(SIMD3<Double>(sample))
    }

    func review() {
        guard thinning.samples.count != reviewedCount else { return }
        reviewedCount = thinning.samples.count
        let samples = MagnetometerJudge.withoutGlitches(thinning.samples, seen: thinning.count)
        map = MagnetometerJudge.map(samples)
        coverage = Coverage(samples)
        lacksSamples =
            hasAllDirections && reviewedCount < Self.enoughSamples
            && (try? judge.finding(of: thinning.samples, seen: thinning.count))?.lacksSamples == true
    }

    private var allowed: MagnetometerFit.Model? {
        guard thinning.samples.count >= MagnetometerJudge.leastSamples else { return nil }
        return coverage.flatMap { MagnetometerJudge.allowed($0, map.missing) }
    }

    private var hasAllDirections: Bool {
        allowed == .ellipsoid && map.coveredShare >= Self.enoughShare
            || judge.model == .sphere && allowed != nil && map.missing.isEmpty
    }

    var isComplete: Bool { hasAllDirections && !lacksSamples }

    /// Noise alone covers all directions of a device that lies still.
    private var isTurned: Bool { reviewedCount >= MagnetometerJudge.leastSamples }

    var fraction: Double {
        guard isTurned else { return 0 }
        return min(map.coveredShare / Self.enoughShare, isComplete ? 1 : 0.99)
    }

    /// What the person who turns the device is to do.
    private var instruction: String {
        guard thinning.count > 0 else { return "waiting for the magnetometer" }
        guard isTurned else { return MagnetometerRefusal.advice(DirectionRegion.allCases) }
        if isComplete { return "enough" }
        return lacksSamples
            ? "keep turning: more samples find the centre better" : MagnetometerRefusal.advice(map.missing)
    }

    var advice: String {
        guard allowed != nil, !isComplete else { return instruction }
        return
            "\(instruction) (Ctrl-C ends it: there is enough for \(allowed == .sphere ? "a sphere" : "an ellipsoid"))"
    }

    var picture: [String] {
        DirectionPicture.lines(map) + [
            "coverage \(coverage.map { min($0.condition, 999).text(1) } ?? "–"), "
                + "\(Int(100 * map.coveredShare)) % of all directions, \(thinning.samples.count) samples"
        ]
    }

    var mayFinish: Bool { allowed != nil }

    /// The cells of ``DirectionMap``.
    var progress: JSONObject { progress(instruction, cells: map.digits, now: last.flatMap(map.place)) }

    func finish() throws(CalibrationRefusal) -> CalibrationResult {
        do throws(MagnetometerRefusal) {
            return result(try judge.finding(of: thinning.samples, seen: thinning.count))
        } catch {
            throw CalibrationRefusal(name: error.name, description: error.description, figures: counts)
        }
    }

    private var counts: JSONObject {
        var object = JSONObject()
        object.add("samples", raw: "\(thinning.samples.count)")
        object.add("samples_seen", raw: "\(thinning.count)")
        object.add("samples_unusable", raw: "\(thinning.unusableCount)")
        let samples = MagnetometerJudge.withoutGlitches(thinning.samples, seen: thinning.count)
        let coverage = Coverage(samples).map(\.condition).flatMap { $0.isFinite ? $0 : nil }
        object.add("coverage", raw: coverage.map { $0.text(2) } ?? "null")
        return object
    }

    // MARK: - The result

    private func result(_ finding: MagnetometerJudge.Finding) -> CalibrationResult {
        let calibration = finding.calibration
        let fit = [
            ("model", JSONObject.quoted(calibration.model.rawValue)),
            ("hard_iron_uT", CalibrationText.list(calibration.hardIronMicrotesla, 4)),
            ("soft_iron", CalibrationText.list(calibration.softIron, 6)),
            ("field_uT", calibration.fieldMicrotesla.text(4)),
            ("fit_error_percent", calibration.fitErrorPercent.text(3)),
            ("error_uT", finding.errorMicrotesla.text(3)),
        ]
        let table =
            fit.map { "\($0) = \($1)" } + [
                "coverage = \(finding.coverage.condition.text(2))",
                "samples = \(finding.sampleCount)",
            ]
        var figures = counts
        for (key, value) in fit { figures.add(key, raw: value) }
        figures.add("samples_left_out", raw: "\(finding.glitchCount)")
        figures.add("spread_before_percent", raw: finding.spreadBeforePercent.text(2))
        figures.add("spread_after_percent", raw: finding.spreadAfterPercent.text(2))
        figures.add("directions_percent", raw: (100 * finding.map.coveredShare).text(0))
        return CalibrationResult(name: "magnetometer", table: table, report: report(finding), figures: figures)
    }

    private func report(_ finding: MagnetometerJudge.Finding) -> [String] {
        let calibration = finding.calibration
        return [
            "  samples         \(finding.sampleCount) used of \(thinning.count)"
                + (finding.glitchCount > 0 ? "; \(finding.glitchCount) left out, which are far off all others" : ""),
            "  coverage        \(finding.coverage.condition.text(1)) (a sphere needs "
                + "\(Int(Coverage.sphereLimit)) or less, an ellipsoid \(Int(Coverage.ellipsoidLimit)); a full sphere has 5), "
                + "\(Int(100 * finding.map.coveredShare)) % of all directions",
            "  hard iron       \(CalibrationText.words(calibration.hardIronMicrotesla, 1)) µT",
            "  field           \(calibration.fieldMicrotesla.text(1)) µT"
                + (judge.expectedMicrotesla.map { ", \($0.text(1)) µT expected" } ?? ""),
            "  fit error       \(calibration.fitErrorPercent.text(1)) %",
            "  error           \(finding.errorMicrotesla.text(1)) µT, directions without samples included; the "
                + "centre is within \(centrePercent(finding)) % of the field",
            "  spread of |m|   \(finding.spreadBeforePercent.text(1)) % before, "
                + "\(finding.spreadAfterPercent.text(1)) % after",
            verdict(finding),
        ]
    }

    private func verdict(_ finding: MagnetometerJudge.Finding) -> String {
        let missing = finding.map.missing
        let quality =
            finding.isGood
            ? "good"
            : finding.calibration.fitErrorPercent < Self.roughErrorPercent
                ? "usable" : "rough, but better than nothing: iron or electric currents disturbed it"
        let advice = MagnetometerRefusal.advice(missing)
        let model =
            switch finding.sphereReason {
            case .coverage:
                "; a sphere at most, because the coverage is above \(Int(Coverage.ellipsoidLimit)): soft iron is left as it is. "
                    + "For an ellipsoid, \(advice)"
            case .regions:
                "; a sphere at most, because regions are missing: soft iron is left as it is. For an ellipsoid, \(advice)"
            case .shape: "; a sphere, because no sensible ellipsoid fits: soft iron is left as it is"
            case nil: finding.calibration.model == .ellipsoid ? "; an ellipsoid" : "; a sphere, as asked for"
            }
        let wanted = (100 * MagnetometerJudge.goodCentre).text(1)
        let more =
            finding.lacksSamples
            ? "; the centre may be off by \(centrePercent(finding)) %, and \(wanted) % is good: turn it for longer" : ""
        return "verdict: \(quality)\(model)\(more)"
    }

    /// From this fit error on, the samples were disturbed.
    private static let roughErrorPercent = 3.0

    private func centrePercent(_ finding: MagnetometerJudge.Finding) -> String {
        (100 * min(finding.centre.limit, 1)).text(1)
    }
}

/// Draws the directions of samples: the upper and lower hemisphere as two discs.
enum DirectionPicture {
    private static let rows = 9
    private static let columns = 19
    private static let gap = "    "

    /// `#` where samples are, `·` elsewhere; x points right and y up in both discs.
    static func lines(_ map: DirectionMap) -> [String] {
        let title = centred("upper half") + gap + centred("lower half")
        return [title] + (0..<rows).map { row in half(map, row, isUpper: true) + gap + half(map, row, isUpper: false) }
    }

    private static func half(_ map: DirectionMap, _ row: Int, isUpper: Bool) -> String {
        let middle = (row: Double(rows - 1) / 2, column: Double(columns - 1) / 2)
        return String(
            (0..<columns).map { column -> Character in
                // Half a character more than the radius, so that the edge is drawn.
                let x = (Double(column) - middle.column) / (middle.column + 0.5)
                let y = (middle.row - Double(row)) / (middle.row + 0.5)
                guard let direction = DirectionMap.direction(x: x, y: y, isUpper: isUpper) else { return " " }
                return map.isCovered(direction) ? "#" : "·"
            })
    }

    private static func centred(_ text: String) -> String {
        let space = max(0, columns - text.count)
        return String(repeating: " ", count: space / 2) + text + String(repeating: " ", count: space - space / 2)
    }
}
