import Binnacle
import PlainText

/// Draws a live view for a terminal; the lines depend only on the state, the size and the style.
package struct WatchFrame {
    private let state: WatchState
    private let columns: Int
    private let rows: Int
    private let style: TerminalStyle

    package init(_ state: WatchState, columns: Int, rows: Int, style: TerminalStyle) {
        self.state = state
        self.columns = max(1, columns)
        self.rows = max(1, rows)
        self.style = style
    }

    /// The level of detail that fits, from the highest.
    private enum Detail: Int, CaseIterable {
        case full, needle, measures, brief
    }

    /// At most as many lines as the terminal has, none wider than it.
    package var lines: [String] {
        guard rows > 2 else { return [head] }
        var middle: [String] = []
        for detail in Detail.allCases {
            middle = body(detail)
            // The last events are always shown.
            if middle.count + 2 + min(3, max(1, state.events.count)) <= rows { break }
        }
        let most = rows - 2
        if middle.count > most {
            let hidden = middle.count - most + 1
            middle = Array(middle.prefix(most - 1))
            middle.append(line { $0.add("\(hidden) more lines: choose a sensor, or a larger window", .soft) })
        }
        for event in state.events.suffix(most - middle.count) { middle.append(line { $0.add(event) }) }
        while middle.count < most { middle.append("") }
        return [head] + middle + [foot]
    }

    /// The readings in one line, for output that is not a terminal.
    package static func text(_ state: WatchState) -> String {
        var style = TerminalStyle()
        style.hasColour = false
        return WatchFrame(state, columns: 4096, rows: 3, style: style).body(.brief).joined(separator: " | ")
    }

    private func line(_ make: (inout TerminalLine) -> Void) -> String {
        var line = TerminalLine(columns, style)
        make(&line)
        return line.text
    }

    // MARK: - Head and foot

    private var head: String {
        line { line in
            line.add("binnacle watch", .strong)
            line.add("  \(state.source)")
            if let place = state.place { line.add("  sensor \(place.number) of \(place.count)") }
            if state.isHeld { line.add("  held", .alarm) }
            if state.skippedCount > 0 { line.add("  \(state.skippedCount) intervals skipped", .alarm) }
            if let silence = state.silence { line.add("  \(silence): what is shown is old", .bad) }
            if let trouble = state.trouble { line.add("  \(trouble)", .bad) }
        }
    }

    private var foot: String {
        line { line in
            let keys =
                columns >= 72
                ? "q quit  ←→ sensor  + - 0 scale  p reset peaks  space hold"
                : columns >= 44 ? "q quit  ←→ sensor  +- scale  p peaks" : "q ←→ +- 0 p space"
            line.add(style.isUnicode ? keys : keys.replacing("←→", with: "arrows"), .soft)
        }
    }

    // MARK: - Streams

    private func body(_ detail: Detail) -> [String] {
        guard let readings = state.shown else { return ["", line { $0.add("no readings yet") }] }
        var lines: [String] = []
        for stream in readings.streams { lines += self.lines(stream, detail) }
        for detector in readings.detectors { lines += self.lines(detector, detail) }
        // Above the events.
        if let note = LeftOutHeadings.note(state.headingCount) { lines.append(line { $0.add(note, .soft) }) }
        return lines
    }

    /// Columns of names and numbers before a bar.
    private var nameWidth: Int { columns >= 60 ? 8 : 5 }
    private var barWidth: Int { columns - nameWidth - 11 - 6 }

    private func lines(_ stream: LiveValues.Stream, _ detail: Detail) -> [String] {
        let axes = [("x", stream.x), ("y", stream.y), ("z", stream.z), ("length", stream.length)]
        let title = line { line in
            let isWide = columns >= 60
            line.add(isWide ? stream.kind.rawValue : String(stream.kind.rawValue.prefix(4)), .strong)
            line.add(" \(stream.sensor)")
            if stream.isSimulated { line.add(isWide ? " (simulated)" : " (sim)") }
            if !stream.isActive { line.add("  inactive", .bad) }
            if detail != .full {
                for (name, span) in axes {
                    line.add(
                        "  \(name == "length" ? "||" : name) \(span.map { ShownValue.number(Double($0.last)) } ?? "-")")
                }
                line.add(" \(stream.unit)")
            }
            if let rate = stream.rateHz { line.add("  \(Self.text(Float(rate), 1)) Hz") }
            if let age = stream.ageSeconds, age > 1 { line.add("  last \(Self.text(Float(age), 1)) s ago", .alarm) }
            // Once samples were lost, the counts stay highlighted.
            let isWhole = stream.lossCount == 0 && stream.gapCount == 0
            line.add("  lost \(stream.lostSampleCount)  gaps \(stream.gapCount)", isWhole ? .soft : .alarm)
        }
        guard detail == .full else { return [title] }
        let greatest = axes.dropLast().compactMap { state.peak(stream, $0.0) }.max() ?? 1
        let scale = TerminalBars.scale(for: greatest, steps: state.scaleSteps)
        return [title]
            + axes.map { name, span in
                line { line in
                    line.add("  \(name)")
                    line.pad(to: nameWidth)
                    line.add(number(span?.last, " \(stream.unit)"))
                    if name == "length" {
                        line.add(TerminalBars.measure(span, peak: nil, limits: [], scale: scale, width: barWidth))
                    } else {
                        line.add(TerminalBars.axis(span, scale: scale, width: barWidth))
                    }
                    line.add(" \(Self.scaleText(scale))", .soft)
                }
            }
    }

    /// A number in a column of ten, with its unit.
    private func number(_ value: Float?, _ unit: String) -> String {
        column(value.map { ShownValue.number(Double($0)) } ?? "-", unit)
    }

    private func column(_ text: String, _ unit: String) -> String {
        let field = columns >= 60 ? text + unit : text
        return String(repeating: " ", count: max(0, 11 - field.count)) + field + " "
    }

    private static func text(_ value: Float, _ decimals: Int) -> String {
        Decimal.text(Double(value), decimals: decimals) ?? "-"
    }

    private static func scaleText(_ scale: Float) -> String {
        scale >= 1 ? "\(Int(scale))" : text(scale, scale < 0.01 ? 3 : scale < 0.1 ? 2 : 1)
    }

    // MARK: - Detectors

    private func lines(_ detector: LiveValues.Detector, _ detail: Detail) -> [String] {
        if let direction = detector.lanes?.lazy.compactMap(\.direction).first {
            return lines(detector, direction, detail)
        }
        let title = line { line in
            start(&line, detector)
            for text in detector.figures.compactMap(ShownValue.text) { line.add("  \(text)") }
            if detail == .brief {
                for measure in detector.measures { line.add("  \(briefly(measure))") }
            }
        }
        guard detail != .brief else { return [title] }
        let drawn = detail == .measures ? nil : detector.spectrum
        let spectrum = drawn.map { TerminalSpectrum.lines($0, detector.limits, width: columns - 2) } ?? []
        return [title] + detector.measures.map { bar($0, detector) }
            + spectrum.map { text in line { $0.add("  \(text)") } }
    }

    private func start(_ line: inout TerminalLine, _ detector: LiveValues.Detector) {
        line.add(detector.name, .strong)
        line.add(": ")
        guard !detector.isWaiting else { return line.add("waits for its sensor", .soft) }
        guard detector.isRunning else { return line.add("does not run", .bad) }
        line.add(detector.state ?? "unknown", detector.isActive ? .alarm : .good)
    }

    private func briefly(_ measure: LiveValues.Measure) -> String {
        "\(ShownValue.split(measure.name).words) \(ShownValue.text(Double(measure.span.last), of: measure.name))"
    }

    /// A measure with its limits; limits beyond the bar's end are named after it.
    private func bar(_ measure: LiveValues.Measure, _ detector: LiveValues.Detector) -> String {
        let limits = detector.limits.filter { $0.measure == measure.name }
        let peak = state.peak(detector, measure.name) ?? measure.span.greatest
        // The scale includes the nearest limit above; others come into view when the values approach them.
        let least = limits.filter(\.isAbove).map(\.begin).min() ?? 0
        // A bar of what may be negative has its zero in the middle.
        let isSigned = measure.span.least < 0 || limits.contains { $0.begin < 0 }
        let scale = TerminalBars.scale(
            for: max(peak, least * 1.1, isSigned ? -measure.span.least : 0), steps: state.scaleSteps)
        let isBeyond = limits.contains { $0.isAbove ? measure.span.greatest > $0.begin : measure.span.least < $0.begin }
        return line { line in
            let (name, unit) = ShownValue.split(measure.name)
            line.add("  \(name)")
            line.pad(to: nameWidth)
            let text = ShownValue.text(Double(measure.span.last), of: measure.name).dropLast(unit.count)
            line.add(column(String(text), unit), isBeyond ? .alarm : nil)
            let isWide = columns >= 100
            let width = barWidth - (isWide ? 36 : 0)
            line.add(
                isSigned
                    ? TerminalBars.axis(measure.span, scale: scale, width: width)
                    : TerminalBars.measure(measure.span, peak: peak, limits: limits, scale: scale, width: width))
            line.add(" \(Self.scaleText(scale))", .soft)
            guard isWide else { return }
            let named = limits.prefix(2).map {
                "\($0.name) \($0.isAbove ? ">" : "<") \(ShownValue.text(limit: Double($0.begin), of: $0.measure))"
            }
            line.add("  \(named.joined(separator: ", "))", .soft)
        }
    }

    // MARK: - Headings

    private func lines(_ detector: LiveValues.Detector, _ direction: Lane.Direction, _ detail: Detail) -> [String] {
        let heading = detector.number(direction.name)
        let title = line { line in
            start(&line, detector)
            if detector.isRunning { add(heading, detector, direction, to: &line) }
        }
        guard detail == .full || detail == .needle, columns >= 50 else {
            guard let heading, detail != .brief else { return [title] }
            return [title, line { $0.add(TerminalBars.tape(heading, width: columns)) }]
        }
        let facts = detector.figures.filter {
            ![direction.name, direction.accuracy].contains($0.name.rawValue) && !Self.inTitle.contains($0.name)
        }.compactMap(ShownValue.text)
        let rose = TerminalRose.lines(heading)
        return [title]
            + rose.enumerated().map { index, text in
                line { line in
                    line.add("  \(text)")
                    line.pad(to: 18)
                    if index < facts.count { line.add(facts[index]) }
                }
            }
    }

    /// What the title of a heading says.
    private static let inTitle: Set<Figure.Name> = [.reference, .age, .reason]

    private func add(
        _ heading: Double?, _ detector: LiveValues.Detector, _ direction: Lane.Direction, to line: inout TerminalLine
    ) {
        let reason = detector.figure(.reason).map { "\($0)" }
        guard let heading else { return line.add("  no heading: \(reason ?? "not found yet")", .alarm) }
        // A heading that says nothing of it is magnetic.
        let reference = detector.figure(.reference).map { "\($0)" } ?? HeadingReference.magnetic.rawValue
        let text = ShownValue.heading(heading, within: detector.number(direction.accuracy))
        line.add("  \(text) \(reference)")
        if let age = detector.figure(.age) {
            line.add("  held for \(ShownValue.text(age.double ?? 0, of: Figure.Name.age.rawValue))", .alarm)
            if let reason { line.add(": \(reason)", .alarm) }
        }
    }
}

extension LiveValues.Detector {
    fileprivate func number(_ name: String) -> Double? {
        guard case .number(let value, _)? = figures.first(where: { $0.name.rawValue == name })?.value else {
            return nil
        }
        return value
    }
}
