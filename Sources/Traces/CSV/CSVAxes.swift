import Binnacle
import PlainText
import SensorGeometry

/// Finds the axes of a file's sensors: groups columns by their names, and chooses among the groups by their values.
struct CSVAxes {
    struct Problem: Error {
        let message: String
        var remedy: TraceRemedy?
    }

    /// The columns of one quantity.
    private struct Group {
        let sensor: String?
        /// `nil` for bare x, y, z.
        var kind: SampleKind?
        let stem: String
        let content: ColumnName.Content
        let strangeWords: Int
        let isUncalibrated: Bool
        var columns: [Int?] = [nil, nil, nil]

        var isWhole: Bool { !columns.contains(nil) }
        var places: [Int] { columns.compactMap { $0 } }
        /// The words that may be those of the place of a sensor, such as the ankle.
        var body: Set<String> { ColumnWords.unknown(in: stem) }
        var isRaw: Bool { stem.split(separator: " ").contains("raw") }
    }

    private let mapped: MappedColumns
    private let names: [String]
    private let table: HeadTable
    private let hints: TraceHints
    private let file: TraceFileName
    private let path: String
    /// The unit that a line before the rows says of a gyroscope.
    private let turnUnit: (unit: TraceUnit, line: Int)?
    /// Assumptions, and contradictions to the header.
    private(set) var notices: [String] = []
    /// What further rows would hardly change, so that none are waited for.
    private(set) var remarks: [String] = []
    /// Whether a column has a name of Core Motion, in which a device that lies on its back reads −1 g.
    private lazy var isOfIOS = names.contains(where: Self.isOfIOS)
    /// How the device lay, in columns that say it with one word for all rows: the axis that pointed up, and its sign.
    private lazy var statedAttitudes = Self.statedAttitudes(table)

    init(
        _ mapped: MappedColumns, _ names: [String], _ table: HeadTable, _ hints: TraceHints, _ path: String,
        turnUnit: (unit: TraceUnit, line: Int)?
    ) {
        self.turnUnit = turnUnit
        self.mapped = mapped
        self.names = names
        self.table = table
        self.hints = hints
        self.path = path
        file = TraceFileName(path)
    }

    /// The streams in the order of their first columns.
    mutating func streams(_ advice: CSVAdvice) throws(Problem) -> [CSVLayout.Stream] {
        var groups = try grouped()
        for index in groups.indices where groups[index].kind == nil { groups[index].kind = kindOfBare(groups[index]) }
        for index in groups.indices where isGauss(groups[index]) { groups[index].kind = .magnetometer }
        for index in groups.indices where isLoad(groups[index]) { groups[index].kind = .accelerometer }
        let known = groups.filter { $0.kind != nil }
        var chosen: [Group] = []
        var handled: [(sensor: String?, kind: SampleKind)] = []
        for group in known {
            guard let kind = group.kind, !handled.contains(where: { $0.sensor == group.sensor && $0.kind == kind })
            else { continue }
            handled.append((group.sensor, kind))
            let same = known.filter { $0.sensor == group.sensor && $0.kind == kind }
            let others = known.filter { $0.isWhole && $0.sensor == group.sensor && $0.kind != kind }
            let hasOther = known.contains { $0.isWhole && $0.kind != kind }
            if let one = try choose(same, kind, beside: others, chosen, hasOther: hasOther, advice) {
                chosen.append(one)
            }
        }
        guard !chosen.isEmpty else { throw nothingFound(groups, advice) }
        let strange = mapped.columns.indices.filter { mapped.columns[$0].hasStrangeRate }.map { names[$0].printable }
        if !strange.isEmpty {
            notices.append(
                "\(strange.joined(separator: ", ")) left out: that is no unit of a gyroscope that is known; say which it is "
                    + "with --map, as in gx=COLUMN:deg/s")
        }
        reportStrangeAxes(groups)
        reportOtherQuantities(chosen)
        chosen.sort { ($0.places.min() ?? 0) < ($1.places.min() ?? 0) }
        var streams: [CSVLayout.Stream] = []
        for group in chosen { streams.append(try stream(group, advice)) }
        return streams
    }

    // MARK: - Groups

    /// Groups axes by sensor, kind and the words that they have in common.
    private func grouped() throws(Problem) -> [Group] {
        var found: [Group] = []
        for (index, column) in mapped.columns.enumerated() {
            guard case .axis(let axis, _) = column.role else { continue }
            let kind = column.kind(assuming: hints.assumedKind)
            let place = found.firstIndex {
                $0.sensor == column.sensor && $0.kind == kind && $0.stem == column.stem && $0.content == column.content
                    && $0.columns[axis] == nil
            }
            if let place {
                found[place].columns[axis] = index
                continue
            }
            var group = Group(
                sensor: column.sensor, kind: kind, stem: column.stem, content: column.content,
                strangeWords: column.strangeWords, isUncalibrated: column.isUncalibrated)
            group.columns[axis] = index
            found.append(group)
        }
        return found
    }

    /// Whether axes that have but the unit g are a magnetometer's in gauss: the file's name says so, and their length is not gravity's.
    private mutating func isGauss(_ group: Group) -> Bool {
        guard group.isWhole, file.kind == .magnetometer, hints.assumedKind == nil, !hasOtherAxes else { return false }
        let units = group.places.compactMap { place -> TraceUnit? in
            guard case .known(let unit) = mapped.columns[place].unit else { return nil }
            return unit.kind == .accelerometer && unit.meant(for: .magnetometer) != nil ? unit : nil
        }
        let values = table.vectors(group.places)
        guard units.count == 3, values.isEnough,
            abs(values.medianMagnitude * units[0].factor / Gravity.standard - 1) > 0.15
        else { return false }
        notices.append("\(shown(group)): taken as a magnetometer in gauss, as the file's name says")
        return true
    }

    /// Whether axes that one letter g names are loads in g, and no rates of turn: their length stays at 1, as gravity does.
    private mutating func isLoad(_ group: Group) -> Bool {
        let own = Set(group.places)
        let hasOthers = mapped.columns.indices.contains { place in
            if case .axis = mapped.columns[place].role { !own.contains(place) } else { false }
        }
        guard group.isWhole, group.kind == .gyroscope, !hasOthers, hints.assumedKind == nil, file.kind == nil,
            own.allSatisfy({ mapped.columns[$0].namedKind == nil && mapped.columns[$0].unit == .none }),
            own.allSatisfy({ names[$0].first == "G" || names[$0].first == "g" }),
            !mapped.kinds.contains(.gyroscope)
        else { return false }
        let values = table.vectors(group.places)
        guard values.isEnough, values.spread < 0.2, abs(values.medianMagnitude - 1) < 0.1 else { return false }
        notices.append(
            "\(shown(group)): taken as an accelerometer, because their length stays at \(values.shown), as gravity does"
        )
        return true
    }

    /// The kind of bare x, y, z, from the file's name or from their values.
    private mutating func kindOfBare(_ group: Group) -> SampleKind? {
        guard group.isWhole, !hasOtherAxes, !file.isOther || hints.map?.acceleration == .linear else {
            return nil
        }
        if let kind = file.kind {
            notices.append("\(shown(group)): taken as \(kind.withArticle), as the file's name says")
            return kind
        }
        if hints.map?.acceleration == .linear { return .accelerometer }
        let values = table.vectors(group.places)
        guard values.isEnough, values.spread < 0.2, case .unit(let unit) = Quantity.of(.accelerometer).judge(values),
            abs(values.medianMagnitude * Quantity.of(.accelerometer).units[unit].unit.factor - Gravity.standard) < 1
        else { return nil }
        notices.append(
            "\(shown(group)): taken as an accelerometer, because their length stays at \(values.shown), as gravity does"
        )
        return .accelerometer
    }

    private var hasOtherAxes: Bool {
        mapped.columns.contains { if case .axis(_, .some) = $0.role { true } else { false } }
    }

    /// Names the axes of which nothing is known, because they may be those of a better sensor.
    private mutating func reportStrangeAxes(_ groups: [Group]) {
        let strange = mapped.columns.indices.filter { mapped.columns[$0].strangeAxis == 0 }.map { first in
            mapped.columns.indices.filter {
                mapped.columns[$0].strangeAxis != nil && mapped.columns[$0].stem == mapped.columns[first].stem
            }
        }
        let bare = groups.filter { $0.kind == nil && $0.isWhole }.map(\.places).filter { places in
            // A unit says what they are.
            places.allSatisfy { mapped.columns[$0].unit == .none }
        }
        for places in strange + bare where places.count == 3 {
            remarks.append("\(shown(places)) left out: their names do not say what they measure; say it with --map")
        }
    }

    /// Names the columns whose unit is that of a sensor which is not played, because their names say something else.
    private mutating func reportOtherQuantities(_ chosen: [Group]) {
        for kind in SampleKind.allCases where !chosen.contains(where: { $0.kind == kind }) {
            let others = mapped.columns.indices.filter { place in
                let column = mapped.columns[place]
                guard column.role == .other, !column.hasStrangeRate, case .known(let unit) = column.unit else {
                    return false
                }
                return unit.kind == kind
            }
            guard !others.isEmpty else { continue }
            let list = CSVLayout.list(others.map { names[$0] })
            remarks.append(
                "\(list) left out: the unit is that of \(kind.withArticle), and the name that of another quantity; "
                    + "if it is an axis, say which with --map")
        }
    }

    // MARK: - Choice

    /// The chosen group among those of one sensor and kind; `nil` to omit that kind.
    ///
    /// `others` are the sensor's whole groups of other kinds, and `chosen` those that were chosen.
    private mutating func choose(
        _ groups: [Group], _ kind: SampleKind, beside others: [Group], _ chosen: [Group], hasOther: Bool,
        _ advice: CSVAdvice
    ) throws(Problem) -> Group? {
        let whole = groups.filter(\.isWhole)
        guard !whole.isEmpty else {
            guard let part = groups.first else { return nil }
            let missing = (0..<3).filter { part.columns[$0] == nil }.map { ["x", "y", "z"][$0] }
            if hasOther {
                notices.append("\(shown(part)) left out: no \(kind.rawValue) has fewer than three axes")
                return nil
            }
            throw Problem(
                message:
                    "the \(kind.rawValue) has no column for \(missing.joined(separator: " and ")): a detector needs "
                    + "three axes. If a column has another name, say which with --map")
        }
        let used = try preferred(whole, kind, beside: others, chosen, advice)
        let found = table.vectors(used.places)
        if kind == .magnetometer, hasOther, found.isEnough, found.areEqual, found.medianMagnitude == 0 {
            notices.append("\(shown(used)) left out: all values are 0, as those of a sensor that was never read")
            return nil
        }
        let left = groups.filter { $0.columns != used.columns }
        for group in left {
            let reason =
                group.content == .withoutGravity
                ? "without gravity" : group.content == .gravityAlone ? "gravity alone" : nil
            let values = table.vectors(group.places)
            let why =
                reason ?? (group.isUncalibrated && !used.isUncalibrated ? "not calibrated" : nil)
                ?? (!group.isWhole ? "fewer than three axes" : values.isEnough ? "length \(values.shown)" : "as well")
            notices.append("\(shown(group)) left out (\(why)): \(shown(used)) used as the \(kind.rawValue)")
        }
        return used
    }

    private func preferred(
        _ whole: [Group], _ kind: SampleKind, beside others: [Group], _ chosen: [Group], _ advice: CSVAdvice
    ) throws(Problem) -> Group {
        guard whole.count > 1 else { return whole[0] }
        var ranked =
            [ColumnName.Content.usual, .gravityAlone, .withoutGravity].lazy
            .map { content in whole.filter { $0.content == content } }.first { !$0.isEmpty } ?? whole
        let calibrated = ranked.filter { !$0.isUncalibrated }
        if !calibrated.isEmpty { ranked = calibrated }
        guard ranked.count > 1 else { return ranked[0] }
        let plausible = ranked.filter { isPlausible($0, kind) }
        guard let first = plausible.first else {
            guard ranked.contains(where: { table.vectors($0.places).isEnough }) else {
                let (one, other) = (ranked[0].places[0], ranked[1].places[0])
                let unit = mapped.columns[one].unit == .none ? Quantity.of(kind).usual.option : nil
                throw Problem(
                    message:
                        "'\(names[one].printable)' and '\(names[other].printable)' both look like the \(kind.rawValue)'s "
                        + "x; choose with --map, by name or by number (#\(other + 1))",
                    remedy: advice.mapping([(kind, ranked[0].places, unit)]))
            }
            return ranked[0]
        }
        // Sensors whose names have the same words are on one body. The plainest name is the sensor's own quantity; the others are
        // derived from it, except for raw numbers.
        func rank(_ group: Group) -> [Int] {
            let isBeside = chosen.contains { $0.sensor == group.sensor && $0.body == group.body }
            let kinds = Set(others.filter { $0.body == group.body }.map(\.kind))
            return [isBeside ? 0 : 1, -kinds.count, group.isRaw ? 1 : 0, group.strangeWords]
        }
        return plausible.min { rank($0).lexicographicallyPrecedes(rank($1)) } ?? first
    }

    private func isPlausible(_ group: Group, _ kind: SampleKind) -> Bool {
        let values = table.vectors(group.places)
        let quantity = Quantity.of(kind)
        if case .known(let unit) = mapped.columns[group.places[0]].unit, let meant = unit.meant(for: kind) {
            return values.isEnough && quantity.possible.contains(values.medianMagnitude * meant.factor)
        }
        if case .unit = quantity.judge(values) { return true }
        return false
    }

    // MARK: - Streams

    private mutating func stream(_ group: Group, _ advice: CSVAdvice) throws(Problem) -> CSVLayout.Stream {
        let kind = group.kind ?? .accelerometer
        let quantity = Quantity.of(kind)
        let places = group.places
        let values = table.vectors(places)
        let stated = try unit(of: group, quantity, advice)
        let isLinear = isLinear(group, kind, values)
        if group.content == .withoutGravity, kind == .accelerometer, !isLinear, !mapped.kinds.contains(kind) {
            guard case .unit = quantity.judge(values, mayMove: false), stated == nil || isPlausible(group, kind) else {
                throw withoutGravity(group, values, advice)
            }
            notices.append("\(shown(group)): said to be without gravity, but the values have it: used")
        }
        if group.content == .gravityAlone, kind == .accelerometer {
            notices.append(
                "\(shown(group)): gravity alone, which an app computes: no movement is left in it, so that headings can be "
                    + "found, and no shake or fall")
        }
        let isUncalibrated = file.isUncalibrated || group.isUncalibrated
        if isUncalibrated, kind == .magnetometer {
            notices.append(
                "\(shown(group)): not calibrated, as the name says: 'binnacle calibrate --trace FILE' finds the hard iron, which may "
                    + "be tens of µT")
        }
        let isOwn = places.allSatisfy { mapped.columns[$0].isRecorded }
        var factor = stated?.factor ?? 1
        var lateCheck: UnitCheck?
        if isLinear {
            if stated == nil {
                let gravity = unitOfGravity(beside: group)
                let unit = gravity ?? quantity.usual
                factor = unit.unit.factor
                let reason = gravity == nil ? "" : ", the unit of the gravity beside it"
                notices.append("no unit for \(shown(group)): taken as \(unit.name)\(reason) (override with --map)")
            }
        } else if let stated {
            let check = UnitCheck(names: shown(group), quantity: quantity, stated: stated)
            if !isOwn { try report(check, group, values, advice) }
            if !isOwn, !values.isEnough { lateCheck = check }
        } else {
            factor = try factorOfUnstated(group, quantity, values, advice)
        }
        var reason = factor == 1 ? "" : "which the values fit (median length \(values.shown))"
        if kind == .gyroscope, stated == nil, let turnUnit,
            quantity.possible.contains(values.medianMagnitude * turnUnit.unit.factor)
        {
            (factor, reason) = (turnUnit.unit.factor, "as line \(turnUnit.line) says")
        }
        let rate =
            kind == .gyroscope && !isOwn
            ? UnsettledRate(
                names: shown(group),
                columns: places.map { (mapped.negative.contains($0) ? "-" : "") + advice.column($0) },
                unit: .measured(.gyroscope, factor), isStated: stated != nil,
                isTimeAssumed: advice.time.isUnitAssumed,
                mayBeCounts: turnUnit == nil && values.isEnough && table.areWhole(places), reason: reason) : nil
        var sign = 1.0
        if kind == .accelerometer {
            if hints.hasGravitySign(group.sensor, isRecorded: isOwn) {
                sign = -1
            } else if !isOwn, !isLinear {
                sign = signOfValues(group, values)
            }
        }
        return CSVLayout.Stream(
            sensor: group.sensor, kind: kind,
            factors: places.map { factor * sign * (mapped.negative.contains($0) ? -1 : 1) }, columns: places,
            lift: isLinear ? Gravity.standard : 0, lateCheck: lateCheck, rate: rate)
    }

    /// The unit of the gravity that the file has beside an acceleration without it; `nil` if there is none.
    private func unitOfGravity(beside group: Group) -> Quantity.Unit? {
        let quantity = Quantity.of(.accelerometer)
        let places = (0..<3).compactMap { axis in
            mapped.columns.firstIndex {
                $0.role == .axis(axis, .accelerometer) && $0.content == .gravityAlone && $0.sensor == group.sensor
            }
        }
        guard case .unit(let index) = quantity.judge(table.vectors(places)) else { return nil }
        return quantity.units[index]
    }

    /// Whether the user states that gravity is missing, and the values agree.
    private mutating func isLinear(_ group: Group, _ kind: SampleKind, _ values: VectorStatistics) -> Bool {
        guard kind == .accelerometer, hints.map?.acceleration == .linear else { return false }
        if group.content != .withoutGravity, values.isConstant, isPlausible(group, kind) {
            notices.append("\(shown(group)): the values have gravity, so that none is added")
            return false
        }
        notices.append(
            "\(shown(group)): without gravity, as --map says; 1 g is added along z, so that movements, shakes and vibration are "
                + "found. Shocks are right within 1 g, and free falls and headings mean nothing")
        return true
    }

    /// The unit of the axes; `nil` when their names have none.
    private func unit(of group: Group, _ quantity: Quantity, _ advice: CSVAdvice) throws(Problem) -> TraceUnit? {
        var units: [TraceUnit?] = []
        // Made for a message alone: it parses names again.
        func remedy() -> TraceRemedy? {
            advice.unit(quantity.kind, group.places).map { advice.mapping([(quantity.kind, group.places, $0)]) }
        }
        let words = "say which it is with --map, as in ax=COLUMN:m/s2 or mx=COLUMN:uT"
        for place in group.places {
            let name = names[place].printable
            switch mapped.columns[place].unit {
            case .none: units.append(nil)
            case .unknown(let unit):
                throw Problem(
                    message: "'\(name)': '\(unit.printable)' is no unit that is known; \(words)", remedy: remedy())
            case .known(let unit):
                if ColumnName.hasRange(name), isInOtherUnit(group, quantity, than: unit) {
                    throw Problem(
                        message: "'\(name)' says how far the sensor measures, and its values are not in g; \(words)",
                        remedy: remedy())
                }
                guard let meant = unit.meant(for: quantity.kind) else {
                    throw Problem(message: "'\(name)': that is no unit of \(quantity.measures); \(words)")
                }
                units.append(meant)
            }
        }
        guard units[0] == units[1], units[1] == units[2] else {
            throw Problem(
                message: "the \(quantity.kind.rawValue)'s axes have different units; say which with --map",
                remedy: Set(units.compactMap { $0?.factor }).count > 1 ? nil : remedy())
        }
        return units[0]
    }

    /// Whether values are counts, or in another unit than the given one.
    private func isInOtherUnit(_ group: Group, _ quantity: Quantity, than unit: TraceUnit) -> Bool {
        switch quantity.judge(table.vectors(group.places)) {
        case .counts: true
        case .unit(let index): quantity.units[index].unit != unit
        case .unknown, .withoutGravity, .implausible: false
        }
    }

    /// Reports values that contradict a stated unit.
    private mutating func report(
        _ check: UnitCheck, _ group: Group, _ values: VectorStatistics, _ advice: CSVAdvice
    ) throws(Problem) {
        guard let contradiction = check.contradiction(values) else { return }
        let quantity = check.quantity
        let isBare = group.stem.isEmpty && !mapped.kinds.contains(quantity.kind) && hints.assumedKind == nil
        let isSmall = values.medianMagnitude * check.stated.factor < quantity.possible.lowerBound
        if quantity.hasGravity, isBare, isSmall || quantity.lacksGravity(values, in: check.stated) {
            throw withoutGravity(group, values, advice)
        }
        notices.append(contradiction)
    }

    /// The factor of values without a unit: that of the unit which they fit.
    private mutating func factorOfUnstated(
        _ group: Group, _ quantity: Quantity, _ values: VectorStatistics, _ advice: CSVAdvice
    ) throws(Problem) -> Double {
        let usual = quantity.usual.name
        if quantity.hasGravity, let flaw = table.flaw(group.places, quantity) {
            throw Problem(message: "\(shown(group)): \(flaw)")
        }
        switch quantity.judge(values) {
        // The accelerometer may decide, see ``UnsettledRate``.
        case .unknown where quantity.kind == .gyroscope: return 1
        case .unit(let index) where quantity.kind == .gyroscope: return quantity.units[index].unit.factor
        case .unknown:
            notices.append("no unit for \(shown(group)): taken as \(usual) (override with --map)")
            return 1
        case .unit(let index):
            let unit = quantity.units[index]
            // Hard iron may make a field in µT as large as one in mgauss.
            if file.isUncalibrated || group.isUncalibrated, index > 0, unit.option == "mgauss" { break }
            let isConfirmed = quantity.confirming?.contains(values.medianMagnitude * unit.unit.factor) ?? true
            let others = quantity.units.filter { $0.option != unit.option && $0.isNear(values.medianMagnitude) }
            let other = others.first.map { ". It may be \($0.name) as well: --map says which" } ?? ""
            let fit =
                isConfirmed
                ? "which the values fit (median length \(values.shown))"
                : "which the values fit best: their median length is \(values.shown), and \(quantity.reference) µT, so that the "
                    + "sensor is not calibrated, or iron is near\(other)"
            notices.append("no unit for \(shown(group)): taken as \(unit.name), \(fit) (override with --map)")
            return unit.unit.factor
        case .withoutGravity:
            throw withoutGravity(group, values, advice)
        case .counts(let perG):
            throw Problem(
                message:
                    "\(shown(group)): their \(values.isSteady ? "length stays at" : "median length is") \(values.shown), which is neither m/s² nor g nor mg: these seem to "
                    + "be raw numbers of the sensor. Say with --map how many are one g; \(VectorStatistics.optionText(perG)) fits",
                remedy: advice.mapping([(quantity.kind, group.places, "g/\(VectorStatistics.optionText(perG))")]))
        case .implausible: break
        }
        notices.append(
            "no unit for \(shown(group)): taken as \(usual), which the values do not fit (median length \(values.shown), where "
                + "\(quantity.reference)) (override with --map)")
        return 1
    }

    private func withoutGravity(_ group: Group, _ values: VectorStatistics, _ advice: CSVAdvice) -> Problem {
        let isUnnamed = group.content == .usual && mapped.columns[group.places[0]].unit == .none
        if values.isEnough, values.areEqual, isUnnamed || values.medianMagnitude == 0 {
            let all = values.mean.map(VectorStatistics.optionText).joined(separator: ", ")
            return Problem(
                message:
                    "\(shown(group)): all \(values.count) rows at the beginning have the same values (\(all)): the sensor was "
                    + "never read. Record it again, or name other columns with --map 'ax=COLUMN:UNIT,ay=…,az=…'")
        }
        let evidence = values.isEnough ? " (median length \(values.shown))" : ""
        var message =
            "\(shown(group)): an acceleration without gravity\(evidence). It is not played as it is: without gravity there is no "
            + "telling what is up, and lying still looks like falling. "
        guard let other = fileWithGravity() else {
            message +=
                "Record the accelerometer itself (often called \"with gravity\", \"raw\" or \"total acceleration\"). For movements, "
                + "shakes and vibration alone, --map acceleration=linear adds 1 g along z"
            return Problem(message: message, remedy: advice.forLinear())
        }
        message += "Another file in the folder seems to have it"
        return Problem(message: message, remedy: .file(other, madeBy: .none))
    }

    /// A file in the same folder that plays an accelerometer with gravity, and begins when this one does.
    private func fileWithGravity() -> String? {
        guard hints.seeksOthers, InputFile.isRegular(path) else { return nil }
        var others = hints
        others.seeksOthers = false
        var own = others
        own.map = try? ColumnMap(["\(ColumnMap.signKey)=\(ColumnMap.Acceleration.linear.rawValue)"])
        guard let start = (try? TraceFile(path: path, hints: own))?.startSeconds else { return nil }
        return TraceFileName.withGravity(beside: path).first { other in
            guard InputFile.isRegular(other), let file = try? TraceFile(path: other, hints: others) else {
                return false
            }
            return file.contents.contains { $0.kind == .accelerometer }
                && file.startSeconds.map { abs($0 - start) < Self.longestStartSeconds } ?? false
        }
    }

    /// Files of one recording begin within this time.
    private static let longestStartSeconds = 10.0

    // MARK: - Sign

    /// The sign of the axes: −1 if the file states how the device lay and the axis that points down reads positive.
    private mutating func signOfValues(_ group: Group, _ values: VectorStatistics) -> Double {
        guard values.isEnough, mapped.negative.isEmpty, hints.map?.acceleration == nil else { return 1 }
        let share = values.mean.map { $0 / max(values.medianMagnitude, .leastNonzeroMagnitude) }
        if let lay = statedAttitudes.first(where: { share[$0.axis] * $0.sign < -0.7 }) {
            notices.append(
                "\(shown(group)): the file says '\(lay.text.printable)', and the axis that points down reads positive: turned about, as with "
                    + "--map acceleration=gravity (--map acceleration=specific_force leaves it)")
            return -1
        }
        if isOfIOS {
            remarks.append(
                "\(shown(group)): these are names of recorders on iOS, whose accelerations have the other sign: headings need "
                    + "--map acceleration=gravity")
        } else if share[2] < -0.8 {
            notices.append(
                "\(names[group.places[2]].printable) reads downwards at the beginning: the device lay on its face, or its z points down, "
                    + "as those of flight controllers do; or the recorder has the other sign, as those on iOS do, and then headings "
                    + "need --map acceleration=gravity")
        }
        return 1
    }

    private static func statedAttitudes(_ table: HeadTable) -> [(text: String, axis: Int, sign: Double)] {
        let directions: [String: (axis: Int, sign: Double)] = [
            "faceup": (2, 1), "facedown": (2, -1), "portrait": (1, 1), "portraitupsidedown": (1, -1),
        ]
        return table.columns.compactMap { column in
            guard column.texts.count == 1, let text = column.texts.first, let lay = directions[text.lowercased()]
            else { return nil }
            return (text, lay.axis, lay.sign)
        }
    }

    private static func isOfIOS(_ name: String) -> Bool {
        let letters = name.lowercased().filter(\.isLetter)
        return ["accelerometeracceleration", "motionuseracceleration", "motiongravity", "useracceleration"]
            .contains(where: letters.hasPrefix) && letters.hasSuffix("g")
    }

    // MARK: - Words

    /// The names of the columns, with the number of one whose name others have, too.
    private func shown(_ group: Group) -> String { shown(group.places) }

    private func shown(_ places: [Int]) -> String {
        places.map { place in
            let isUnique = names.count { $0 == names[place] } == 1
            return names[place].printable + (isUnique ? "" : " (column \(place + 1))")
        }.joined(separator: ", ")
    }

    private func nothingFound(_ groups: [Group], _ advice: CSVAdvice) -> Problem {
        let list = CSVLayout.list(names)
        let withoutIt = hints.isOnlyFile ? nil : TraceRemedy.leftOut
        if file.isOther {
            return Problem(
                message:
                    "neither an accelerometer nor a magnetometer, and the file's name is that of another quantity; found "
                    + "\(list). If it is none, name the columns with --map 'ax=COLUMN:UNIT,ay=…,az=…'",
                remedy: withoutIt)
        }
        if let bare = groups.first(where: { $0.kind == nil && $0.isWhole }) {
            if let flaw = table.flaw(bare.places, Quantity.of(.accelerometer)) {
                return Problem(message: "\(shown(bare)): \(flaw)")
            }
            let values = table.vectors(bare.places)
            let remedy = advice.forBare(bare.places)
            // The Earth's field keeps its length; a length that changes from almost 0 to large values is a movement.
            if remedy == nil || !values.isConstant, Quantity.of(.accelerometer).judge(values) == .withoutGravity {
                return withoutGravity(bare, values, advice)
            }
            return Problem(
                message:
                    "x, y, z could be an accelerometer or a magnetometer; found \(list). Say which with --map, or with "
                    + "--bind SENSOR=FILE:accelerometer", remedy: remedy)
        }
        return Problem(
            message: "neither an accelerometer nor a magnetometer; found \(list). Name the columns with --map "
                + "'ax=COLUMN:UNIT,ay=…,az=…'", remedy: advice.forUnnamed(kind: nil) ?? withoutIt)
    }
}
