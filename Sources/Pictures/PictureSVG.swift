import Binnacle
import Kernels
import PlainText

/// Draws a picture as one SVG, for print and mail: the same panels as on the page, over the whole recording.
package struct PictureSVG {
    private let picture: Picture
    private let start: Int64
    private let end: Int64
    private var lines: [String] = []
    private var top = 0

    private static let width = 1200
    private static let left = 64
    private static let right = 48
    private static let height = 110
    private static let columns = width - left - right
    /// A line for the name and one for the marks, so that no name covers a mark.
    private static let rowHeight = 28
    private static let gapNanoseconds: Int64 = 1_000_000_000

    /// Prepares the drawing of a picture.
    package init(_ picture: Picture) {
        self.picture = picture
        (start, end) = (picture.timeRange.lowerBound, picture.timeRange.upperBound)
    }

    /// The file, as UTF-8.
    package var bytes: [UInt8] {
        var drawing = self
        drawing.draw()
        return Array(drawing.lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
    }

    private mutating func draw() {
        title()
        for panel in picture.panels {
            draw(panel)
            for states in panel.states { draw(states) }
        }
        drawEvents()
        timeAxis()
        let style = """
            <style>text{font:11px sans-serif;fill:#333}.t{font-weight:bold;fill:#111}.e{text-anchor:end}.m{text-anchor:middle}\
            .g{stroke:#ddd;stroke-width:1;fill:none}.c0{stroke:#c22f2f}.c1{stroke:#1f7a2e}.c2{stroke:#2456c4}.c3{stroke:#222}\
            .c{stroke-width:1;fill:none}.l{stroke:#b35c00;stroke-dasharray:6 4;fill:none}.b{fill:#b35c00;fill-opacity:.18}\
            .a{stroke:#888;stroke-opacity:.5}.n{fill:url(#hatch)}.k{fill:#2456c4}.f{fill:#777}</style>
            """
        let head = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(top)" role="img">
            \(style)
            <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse">\
            <path d="M0 6L6 0" stroke="#888" stroke-width="1"/></pattern></defs>
            <rect width="\(Self.width)" height="\(top)" fill="#fff"/>
            """
        lines.insert(head, at: 0)
        lines.append("</svg>")
    }

    private mutating func text(_ text: String, _ x: Double, _ y: Double, _ style: String = "") {
        let name = style.isEmpty ? "" : " class=\"\(style)\""
        lines.append("<text x=\"\(Self.short(x))\" y=\"\(Self.short(y))\"\(name)>\(Self.escaped(text))</text>")
    }

    private mutating func title() {
        lines.append("<title>\(Self.escaped(picture.title))</title>")
        text(picture.title, 6, 16, "t")
        top = 24
    }

    // MARK: - Panels

    private mutating func draw(_ panel: Picture.Panel) {
        text(panel.unit.isEmpty ? panel.title : "\(panel.title), \(panel.unit)", 6, Double(top + 12), "t")
        let curves = panel.curves.map { columns(picture.tracks[$0.track], $0.series) }
        guard let (range, marks) = scale(of: panel, curves) else { return }
        let axis = Axis(low: range.lowerBound, high: range.upperBound, top: top + 18, height: Self.height)
        frame(axis, panel.grid)
        for mark in marks { draw(mark, axis) }
        var names: [(text: String, y: Double)] = []
        for (place, curve) in panel.curves.enumerated() {
            if let band = curve.band {
                draw(
                    curves[place], axis, "a", wide: columns(picture.tracks[curve.track], band),
                    isDirection: panel.isDirection)
            }
            let style = panel.curves.count == 1 ? 3 : place % 4
            draw(curves[place], axis, "c c\(style)", isDirection: panel.isDirection)
            guard let last = curves[place].last(where: { $0 != nil }) ?? nil, !curve.label.isEmpty else { continue }
            names.append((curve.label, axis.y(Double(last.least + last.greatest) / 2) + 4))
        }
        // None over another.
        var lowest = 0.0
        for name in names.sorted(by: { $0.y < $1.y }) {
            lowest = max(name.y, lowest + 11)
            text(name.text, Double(Self.width - Self.right + 4), lowest)
        }
        top += 18 + Self.height + 6
    }

    /// The range of a panel's values, and the marks in it; `nil` where it has no value.
    private func scale(
        of panel: Picture.Panel, _ curves: [[Extremes?]]
    ) -> (range: ClosedRange<Double>, marks: [Picture.Mark])? {
        let values = curves.joined().compactMap { $0 }
        guard let least = values.map(\.least).min(), let greatest = values.map(\.greatest).max() else { return nil }
        if let range = panel.range { return (range, panel.marks.filter { $0.lines.contains(where: range.contains) }) }
        var (low, high) = (Double(least), Double(greatest))
        let reach = (high - low) * 0.6
        let marks = panel.marks.filter {
            $0.isAlwaysShown || $0.lines[0] <= high + reach && $0.lines[0] >= low - reach
        }
        for value in marks.flatMap({ $0.lines + $0.areas.flatMap { [$0.from, $0.to] } }) {
            (low, high) = (min(low, value), max(high, value))
        }
        let margin = (high > low ? high - low : max(abs(high), 1)) * 0.04
        return (low - margin...high + margin, marks)
    }

    private mutating func draw(_ mark: Picture.Mark, _ axis: Axis) {
        for area in mark.areas where !area.isHatched {
            let (from, to) = (axis.y(area.from), axis.y(area.to))
            lines.append(
                "<rect class=\"b\" x=\"\(Self.left)\" y=\"\(Self.short(min(from, to)))\" width=\"\(Self.columns)\" height=\"\(Self.short(abs(to - from)))\"/>"
            )
        }
        for value in mark.lines where axis.range.contains(value) {
            lines.append("<path class=\"l\" d=\"M\(Self.left) \(Self.short(axis.y(value)))h\(Self.columns)\"/>")
        }
        if axis.range.contains(mark.lines[0]) {
            text(
                "\(mark.label) \(mark.value)", Double(Self.left + 4),
                max(axis.y(mark.lines[0]) - 3, Double(axis.top + 9)))
        }
    }

    /// Draws a curve as its extremes in each column, or in a band around them.
    ///
    /// A direction is drawn at both ends of the circle, where it reaches them.
    private mutating func draw(
        _ columns: [Extremes?], _ axis: Axis, _ style: String, wide: [Extremes?]? = nil, isDirection: Bool
    ) {
        var path = ""
        var last: Int?
        let joins = Int(Double(Self.gapNanoseconds) / max(1, columnNanoseconds)) + 2
        for (place, pair) in columns.enumerated() {
            guard let pair else { continue }
            let width = Double(wide?[place]?.greatest ?? 0)
            for turn in isDirection ? [-360.0, 0, 360] : [0] {
                let (low, high) = (Double(pair.least) + turn - width, Double(pair.greatest) + turn + width)
                guard !isDirection || low <= 360 && high >= 0 else { continue }
                let (from, to) = isDirection ? (max(low, 0), min(high, 360)) : (low, high)
                let isJoined = !isDirection && last.map { place - $0 <= joins } ?? false
                path += (isJoined ? "L" : "M") + "\(Self.left + place).5 \(Self.short(axis.y(from)))"
                path += "V\(Self.short(axis.y(to) - 0.5))"
            }
            last = place
        }
        if !path.isEmpty { lines.append("<path class=\"\(style)\" d=\"\(path)\"/>") }
    }

    /// Draws states, such as the reasons for there being no heading, in a row for each.
    private mutating func draw(_ states: Picture.States) {
        let bits = columns(picture.tracks[states.track], states.series).map { UInt16($0?.least ?? 0) }
        for place in picture.occurring(states) {
            let bit = UInt16(1) << UInt16(place)
            text(states.names[place], Double(Self.left + 2), Double(top + 9))
            var path = ""
            var start: Int?
            for place in 0...bits.count {
                let isHere = place < bits.count && bits[place] & bit != 0
                if isHere, start == nil { start = place }
                guard !isHere, let first = start else { continue }
                path += "M\(Self.left + first) \(top + 12)h\(place - first)v5h-\(place - first)z"
                start = nil
            }
            lines.append("<path class=\"f\" d=\"\(path)\"/>")
            top += 22
        }
        top += 4
    }

    // MARK: - Events and axes

    private mutating func drawEvents() {
        let rows = picture.eventRows
        guard !rows.isEmpty else { return }
        text("events", 6, Double(top + 12), "t")
        top += 18
        let first = top
        for (place, row) in rows.enumerated() {
            let y = Double(first + place * Self.rowHeight + 20)
            var marks = ""
            var last = -1.0
            for event in picture.events where event.kind == row.kind && event.source == row.source {
                let x = x(event.timeNanoseconds)
                guard x - last >= 1 else { continue }
                last = x
                marks += Self.mark(place, x, y)
            }
            lines.append("<path class=\"k\" d=\"\(marks)\"/>")
            text("\(row.kind.rawValue) \(row.source)", 6, y - 9)
        }
        top = first + rows.count * Self.rowHeight + 4
        if picture.eventCount > picture.events.count {
            text(
                "the first \(picture.events.count) of \(picture.eventCount) events; --from and --to show the others", 6,
                Double(top + 10))
            top += 14
        }
    }

    /// A mark whose form depends on the row.
    private static func mark(_ row: Int, _ x: Double, _ y: Double) -> String {
        let (x, y) = (short(x), short(y))
        switch row % 3 {
        case 0: return "M\(x) \(y)m0-5l4 9h-8z"
        case 1: return "M\(x) \(y)m-3.5-3.5h7v7h-7z"
        default: return "M\(x) \(y)m0-5l5 5l-5 5l-5-5z"
        }
    }

    private mutating func timeAxis() {
        let seconds = Units.seconds(from: start, to: end)
        var behind: [String] = []
        for value in Ticks(0, seconds, most: 12).values {
            let x = Double(Self.left) + (seconds > 0 ? value / seconds : 0) * Double(Self.columns)
            behind.append("<path class=\"g\" d=\"M\(Self.short(x)) 24V\(top)\"/>")
            text("\(Self.short(value)) s", x, Double(top + 14), "m")
        }
        for gap in picture.gaps {
            let (from, to) = (x(gap.fromNanoseconds), x(gap.toNanoseconds))
            behind.append(
                "<rect class=\"n\" x=\"\(Self.short(from))\" y=\"24\" width=\"\(Self.short(max(1, to - from)))\" height=\"\(top - 24)\"><title>\(Self.escaped(gap.text))</title></rect>"
            )
        }
        // The title comes first.
        lines.insert(contentsOf: behind, at: 1)
        top += 20
    }

    private mutating func frame(_ axis: Axis, _ grid: [(value: Double, text: String)]?) {
        for (value, label) in grid ?? Ticks(axis.low, axis.high, most: 5).values.map({ ($0, Self.short($0)) }) {
            let y = Self.short(axis.y(value))
            lines.append("<path class=\"g\" d=\"M\(Self.left) \(y)h\(Self.columns)\"/>")
            text(label, Double(Self.left - 5), axis.y(value) + 4, "e")
        }
    }

    // MARK: - Scales

    private var columnNanoseconds: Double { Units.seconds(from: start, to: end) * 1e9 / Double(Self.columns) }

    private func x(_ stamp: Int64) -> Double {
        let seconds = Units.seconds(from: start, to: end)
        let share = seconds > 0 ? Units.seconds(from: start, to: stamp) / seconds : 0
        return Double(Self.left) + min(max(share, 0), 1) * Double(Self.columns)
    }

    /// The extremes of each column; the last one includes the last stamp.
    private func columns(_ track: Track, _ series: Int) -> [Extremes?] {
        let width = columnNanoseconds
        return (0..<Self.columns).map { place in
            let from = Units.later(start, by: Int64(Double(place) * width))
            let to =
                place + 1 == Self.columns
                ? Units.later(end, by: 1) : Units.later(start, by: Int64(Double(place + 1) * width))
            return track.extremes(of: series, from: from, to: max(to, Units.later(from, by: 1)))
        }
    }

    private struct Axis {
        let low: Double
        let high: Double
        let top: Int
        let height: Int

        var range: ClosedRange<Double> { low...high }

        func y(_ value: Double) -> Double { Double(top) + (high - value) / (high - low) * Double(height) }
    }

    /// Round values in a range.
    private struct Ticks {
        let values: [Double]

        init(_ low: Double, _ high: Double, most: Int) {
            guard high > low, (high - low).isFinite else {
                values = [low]
                return
            }
            var step = Logarithm.powerOfTen(below: (high - low) / Double(most))
            for factor in [2.0, 2.5, 2.0] where (high - low) / step > Double(most) { step *= factor }
            let first = (low / step).rounded(.up)
            let last = (high / step).rounded(.down)
            values = stride(from: first, through: last, by: 1).map { $0 * step }
        }
    }

    /// A number with up to three decimals, without zeros at its end.
    static func short(_ value: Double) -> String {
        var text = Decimal.text(value, decimals: abs(value) < 10 ? 3 : 1) ?? "0"
        guard text.contains(".") else { return text }
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }

    /// A text in XML, without characters that it cannot have.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.printable.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
