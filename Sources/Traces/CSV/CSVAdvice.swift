import Binnacle

/// Suggests the options that make a refused file readable.
struct CSVAdvice {
    let names: [String]
    let table: HeadTable
    let time: CSVTimeChoice
    let hints: TraceHints
    let path: String
    /// A rate that the file may mean.
    let unnamedHertz: Double?

    /// The rate in a suggested command when the file gives none.
    var usualRate: String { VectorStatistics.optionText(unnamedHertz ?? 100) }

    /// A rising column that may be the time; a quantity with a name or a unit of its own is none.
    private var unnamedTime: CSVTime? {
        CSVTimeChoice.unnamed(table) { place in
            guard names.indices.contains(place) else { return true }
            let name = ColumnName(names[place])
            if case .axis = name.role { return false }
            return switch name.unit {
            case .known(.time): true
            case .none: !name.isOther
            case .known, .unknown: false
            }
        }
    }

    /// A note that the suggested rate is a placeholder; empty when the rate is known or not needed.
    var rateNote: String {
        time.time == nil && unnamedTime == nil ? placeholder : ""
    }

    /// A note that the usual rate in a suggested command is a placeholder.
    var placeholder: String {
        ". Nothing says how many samples a second there are: the \(usualRate) in --rate \(usualRate) is a placeholder, "
            + "put the number of your recording there, or all times are wrong"
    }

    /// A column for `--map`: its name, or its number if the name would be misread, also as one with a unit behind a colon.
    func column(_ place: Int, hasUnit: Bool = true) -> String {
        guard names.indices.contains(place) else { return "#\(place + 1)" }
        let name = names[place]
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        let isUnique = names.count { $0 == name } == 1
        let isSafe =
            !name.isEmpty && !name.hasPrefix("#") && !name.hasPrefix("-") && !name.contains("=")
            && (hasUnit || !name.contains(":"))
        return isPlain && isUnique && isSafe ? name : "#\(place + 1)"
    }

    private func timeOptions(_ used: [Int]) -> (entries: [String], options: [String]) {
        switch time.time ?? unnamedTime {
        // Several columns that are found without an option are not said by one.
        case let time? where !time.parts.isEmpty: return ([], [])
        case .number(let place, let unit, _) where !used.contains(place):
            // No option says where the days of a spreadsheet begin.
            let name = column(place, hasUnit: unit.origin == 0)
            return (["time=\(name)\(unit.origin == 0 ? ":\(unit.option)" : "")"], [])
        case .clock(let place, _, _, _): return (["time=\(column(place, hasUnit: false))"], [])
        case .rate(let hertz): return ([], ["--rate", VectorStatistics.optionText(hertz)])
        case .number, nil: return ([], ["--rate", usualRate])
        }
    }

    /// A complete command for axes that were found; `unit` is the one for `--map`.
    ///
    /// Without a unit, that of the column's name counts.
    func mapping(_ groups: [(kind: SampleKind, places: [Int], unit: String?)]) -> TraceRemedy {
        let time = timeOptions(groups.flatMap(\.places))
        var entries = time.entries
        for group in groups {
            for (axis, place) in group.places.enumerated() {
                let target = ColumnMap.Target.axis(group.kind, axis).name
                let name = column(place, hasUnit: group.unit != nil)
                entries.append("\(target)=\(name)\(group.unit.map { ":" + $0 } ?? "")")
            }
        }
        return .options(time.options + ["--map", entries.joined(separator: ",")])
    }

    func forLinear() -> TraceRemedy {
        let time = time.time == nil ? timeOptions([]) : (entries: [], options: [])
        let entries = time.entries + ["\(ColumnMap.signKey)=\(ColumnMap.Acceleration.linear.rawValue)"]
        return .options(time.options + ["--map", entries.joined(separator: ",")])
    }

    /// Whether a column may be offered as a kind's axis; one that says what it is, is never offered as something else.
    private func mayMeasure(_ place: Int, _ kind: SampleKind) -> Bool {
        !names.indices.contains(place) || ColumnName(names[place]).mayMeasure(kind)
    }

    /// The unit for `--map` that the values of some columns fit; `nil` if none does, or if the columns say otherwise.
    func unit(_ kind: SampleKind, _ places: [Int]) -> String? {
        let quantity = Quantity.of(kind)
        guard places.allSatisfy({ mayMeasure($0, kind) }), table.flaw(places, quantity) == nil else { return nil }
        switch quantity.judge(table.vectors(places)) {
        case .unit(let index): return quantity.units[index].option
        // Numbers of a sensor are whole; what has decimals and the length of no acceleration may be a field.
        case .counts(let perG): return table.areWhole(places) ? "g/\(VectorStatistics.optionText(perG))" : nil
        case .unknown, .withoutGravity, .implausible: return nil
        }
    }

    /// A command for columns with unknown names, chosen by their values; none where other columns have names of the same form.
    ///
    /// Columns with another meaning, such as the parts of a quaternion, are no candidates, whatever their length.
    func forUnnamed(kind: SampleKind?) -> TraceRemedy? {
        for quantity in Quantity.all where kind == nil ? quantity.isKnownByValues : quantity.kind == kind {
            let used =
                [(time.time ?? unnamedTime)?.column].compactMap { $0 }
                + names.indices.filter { !mayMeasure($0, quantity.kind) }
            guard let found = table.candidates(for: quantity, without: used, inOrder: { inOrder($0, used) }) else {
                continue
            }
            // What names state is better than what the values fit; other units than those of the kind are no candidates.
            let isStated = found.places.allSatisfy { place in
                if names.indices.contains(place), case .known = ColumnName(names[place]).unit { true } else { false }
            }
            let unit = isStated ? nil : found.unit?.option ?? "g/\(VectorStatistics.optionText(found.perG))"
            // A name that says what it measures takes precedence over others of its form.
            func isNamed(_ place: Int) -> Bool {
                names.indices.contains(place) && ColumnName(names[place]).namedKind == quantity.kind
            }
            let isOne =
                names.indices.dropLast(2).count { first in
                    let places = [first, first + 1, first + 2]
                    return Set(places).isDisjoint(with: used) && inOrder(places, used) != nil
                        && (isNamed(first) || !isNamed(found.places[0]))
                } < 2
            return isOne ? mapping([(quantity.kind, found.places, unit)]) : nil
        }
        return nil
    }

    /// Three neighbouring columns in the order of their axes, by the letter or the number in which alone their names differ; as they stand
    /// without names, or if these say nothing and no other column may be meant; `nil` otherwise, and where a fourth name goes on.
    private func inOrder(_ places: [Int], _ used: [Int]) -> [Int]? {
        guard places.allSatisfy({ names.indices.contains($0) && names[$0] != "#\($0 + 1)" }) else { return places }
        let areAll = names.indices.allSatisfy { place in
            used.contains(place) || places.contains(place) && ColumnName(names[place]).namedKind == nil
        }
        let texts = places.map { Array(names[$0].lowercased()) }
        let shortest = texts.map(\.count).min() ?? 0
        func common(_ most: Int, _ character: ([Character], Int) -> Character) -> Int {
            (0..<most).prefix { place in texts.allSatisfy { character($0, place) == character(texts[0], place) } }.count
        }
        var head = common(shortest) { $0[$1] }
        let tail = common(shortest - head) { $0[$0.count - 1 - $1] }
        // The numbers 10 and 11 differ in their last digit.
        while head > 0, texts[0][head - 1].isNumber, texts[0].dropLast(tail).dropFirst(head).allSatisfy(\.isNumber) {
            head -= 1
        }
        func mark(_ text: [Character]) -> Int? {
            let mark = text.dropFirst(head).dropLast(tail)
            if mark.count == 1, let letter = mark.first, letter.isLetter { return letter.asciiValue.map { Int($0) } }
            return Int(String(mark))
        }
        let marks = texts.compactMap(mark)
        guard marks.count == 3, let least = marks.min(), Set(marks) == Set(least...(least + 2)) else {
            return areAll ? places : nil
        }
        let goesOn = names.contains { name in
            let text = Array(name.lowercased())
            return text.count >= head + tail && text.prefix(head) == texts[0].prefix(head)
                && text.suffix(tail) == texts[0].suffix(tail) && [least - 1, least + 3].contains(mark(text))
        }
        return goesOn ? nil : places.indices.sorted { marks[$0] < marks[$1] }.map { places[$0] }
    }

    /// A command for bare x, y, z, when their values fit a kind.
    func forBare(_ places: [Int]) -> TraceRemedy? {
        for quantity in Quantity.knownByValues {
            guard let unit = unit(quantity.kind, places) else { continue }
            // The same names may occur in another file of the command.
            if !hints.isOnlyFile, time.time != nil, !unit.contains("/") || unit == "m/s2" {
                return .options(["--bind", "\(quantity.kind.rawValue)=\(path):\(quantity.kind.rawValue)"])
            }
            return mapping([(quantity.kind, places, unit)])
        }
        return nil
    }

    private static let countedUnits: Set = ["d", "tick", "ticks", "count", "counts", "cycles", "samples", "frames"]

    /// A command for a time column of unknown unit.
    func forTimeUnit(_ place: Int) -> TraceRemedy? {
        guard table.columns.indices.contains(place) else { return nil }
        let values = table.columns[place]
        guard values.isNumeric, let steps = values.steps, steps.median > 0 else { return nil }
        // --map cannot say a multiple of a unit, such as 0.1ms, and not how long a tick is.
        if case .unknown(let unit) = ColumnName(names[place]).unit,
            unit.contains(where: \.isNumber) || Self.countedUnits.contains(unit.lowercased())
        {
            return nil
        }
        let unit = CSVTimeChoice.guess(values, steps, rowCount: table.rowCount).unit
        return .options(["--map", "time=\(column(place)):\(unit.option)"])
    }

    var noTime: String {
        let list = "no column holds the time; found \(CSVLayout.list(names)). "
        if unnamedTime != nil { return list + "Name it with --map time=COLUMN:UNIT" }
        return list + "If there is none, give the samples a second with --rate, or name the column with "
            + "--map time=COLUMN:UNIT\(rateNote)"
    }

    func forMissingTime(_ streams: [CSVLayout.Stream]) -> TraceRemedy? {
        let options = timeOptions(streams.flatMap(\.columns))
        return .options(options.options.isEmpty ? ["--map", options.entries.joined(separator: ",")] : options.options)
    }
}
