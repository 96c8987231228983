import Binnacle
import Glibc
import Kernels
import PlainText

/// Draws a picture as one SVG for print and mail, like the page of the whole recording.
///
/// There is one function for each shape, as in page.js, which applies the same rules to any part: the range of a panel
/// (`range`, there `reach`), round values (`ticks`), states that last until the next sample, and names beside the ends
/// of curves without overlap. Tests/Program/plot.py compares both.
package struct PictureSVG {
    private let picture: Picture
    private let start: Int64
    private let seconds: Double
    private var lines: [String] = []
    /// The top of the next lane.
    private var top = Self.head

    private static let leastSeconds = 1e-6
    private static let width = 1200.0
    private static let left = 64.0
    private static let right = 48.0
    private static let head = 24.0
    private static let panelHeight = 110.0
    private static let columnCount = Int(width - left - right)

    package init(_ picture: Picture) {
        self.picture = picture
        start = picture.timeRange.lowerBound
        seconds = max(Units.seconds(from: start, to: picture.timeRange.upperBound), Self.leastSeconds)
    }

    /// The file as UTF-8.
    package var bytes: [UInt8] {
        var front = self
        for panel in picture.panels { front.draw(panel) }
        front.drawEvents()
        // Time lines and gaps are behind all lanes, whose height is known now.
        var back = self
        back.text(picture.title, 6, 16, "t")
        back.drawTime(to: front.top)
        let height = Self.short(front.top + 20)
        let style = """
            <style>text{font:11px sans-serif;fill:#333}.t{font-weight:bold;fill:#111}.e{text-anchor:end}.m{text-anchor:middle}\
            .g{stroke:#ddd;stroke-width:1;fill:none}.c0{stroke:#c22f2f}.c1{stroke:#1f7a2e}.c2{stroke:#2456c4}.c3{stroke:#222}\
            .c{stroke-width:1;fill:none}.l{stroke:#b35c00;stroke-dasharray:6 4;fill:none}.b{fill:#b35c00;fill-opacity:.18}\
            .a{stroke:#888;stroke-opacity:.5}.n{fill:url(#hatch)}.k{fill:#2456c4}.f{fill:#777}</style>
            """
        let head = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 \(height)" role="img">
            \(style)
            <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse">\
            <path d="M0 6L6 0" stroke="#888" stroke-width="1"/></pattern></defs>
            <rect width="1200" height="\(height)" fill="#fff"/>
            <title>\(picture.title.xml)</title>
            """
        return Array(([head] + back.lines + front.lines + ["</svg>\n"]).joined(separator: "\n").utf8)
    }

    // MARK: - Shapes

    private mutating func text(_ text: String, _ x: Double, _ y: Double, _ style: String = "") {
        let name = style.isEmpty ? "" : " class=\"\(style)\""
        lines.append("<text x=\"\(Self.short(x))\" y=\"\(Self.short(y))\"\(name)>\(text.xml)</text>")
    }

    private mutating func path(_ style: String, _ data: String, title: String? = nil) {
        guard !data.isEmpty else { return }
        let end = title.map { "><title>\($0.xml)</title></path>" } ?? "/>"
        lines.append("<path class=\"\(style)\" d=\"\(data)\"\(end)")
    }

    private static func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> String {
        "M\(short(x)) \(short(y))h\(short(width))v\(short(height))h\(short(-width))z"
    }

    private mutating func line(_ style: String, _ y: Double) {
        path(style, "M\(Self.short(Self.left)) \(Self.short(y))h\(Self.columnCount)")
    }

    private mutating func draw(_ mark: Picture.Mark, _ axis: Axis) {
        for area in mark.areas where !area.isHatched {
            let (from, to) = (axis.y(area.from), axis.y(area.to))
            path("b", Self.box(Self.left, min(from, to), Double(Self.columnCount), abs(to - from)))
        }
        for value in mark.lines where axis.range.contains(value) { line("l", axis.y(value)) }
        if axis.range.contains(mark.lines[0]) {
            text("\(mark.label) \(mark.value)", Self.left + 4, max(axis.y(mark.lines[0]) - 3, axis.top + 9))
        }
    }

    /// Draws a curve as its extremes in each column, or a band around them; an angle also beyond an end of the circle.
    private mutating func draw(
        _ columns: [Extremes?], of curve: Picture.Curve, _ axis: Axis, _ style: String, wide: [Extremes?]? = nil
    ) {
        let areAngles = picture.tracks[curve.track].kinds[curve.series] == .angle
        var data = ""
        var last: Int?
        for (place, pair) in columns.enumerated() {
            guard let pair else { continue }
            let width = Double(wide?[place]?.greatest ?? 0)
            for turn in areAngles ? [-360.0, 0, 360] : [0] {
                let from = max(Double(pair.least) + turn - width, axis.range.lowerBound)
                let to = min(Double(pair.greatest) + turn + width, axis.range.upperBound)
                guard from <= to else { continue }
                let isJoined = !areAngles && last.map { place - $0 <= joins } ?? false
                data += (isJoined ? "L" : "M") + "\(Int(Self.left) + place).5 \(Self.short(axis.y(from)))"
                data += "V\(Self.short(axis.y(to) - 0.5))"
            }
            last = place
        }
        path(style, data)
    }

    /// Draws the states that occur, such as reasons for a missing heading, one row each.
    private mutating func draw(_ states: Picture.States) {
        let samples = columns(states.track, states.series).enumerated().compactMap { column, pair in
            pair.map { (column: column, bits: UInt32($0.least)) }
        }
        for place in picture.occurring(states) {
            text(states.names[place], Self.left + 2, top + 9)
            var bars: [Range<Int>] = []
            for (sample, next) in zip(samples, samples.dropFirst().map(\.column) + [.max])
            where sample.bits & 1 << UInt32(place) != 0 {
                let begin = bars.last?.upperBound == sample.column ? bars.removeLast().lowerBound : sample.column
                bars.append(begin..<(next - sample.column > joins ? sample.column + 1 : next))
            }
            path("f", bars.map { Self.box(Self.left + Double($0.lowerBound), top + 12, Double($0.count), 5) }.joined())
            top += Picture.stateHeight
        }
    }

    /// Draws a row of events, with one mark for all events at one pixel.
    private mutating func draw(_ events: [Event], form: String, _ name: String) {
        text(name, 6, top + 11)
        var data = ""
        var last = -1.0
        for event in events {
            let x = x(event.timeNanoseconds)
            guard x - last >= 1 else { continue }
            last = x
            data += "M\(Self.short(x)) \(Self.short(top + Picture.eventPlace))\(form)"
        }
        path("k", data)
        top += Picture.eventHeight
    }

    /// Draws names beside the ends of curves without overlap.
    private mutating func drawNames(_ names: [(text: String, y: Double)], to bottom: Double) {
        var lowest = 0.0
        for (place, name) in names.sorted(by: { $0.y < $1.y }).enumerated() {
            lowest = min(bottom - 12 * Double(names.count - 1 - place), max(name.y, lowest + 12))
            text(name.text, Self.width - Self.right + 4, lowest)
        }
    }

    // MARK: - Lanes

    private mutating func draw(_ panel: Picture.Panel) {
        text(panel.heading, 6, top + 12, "t")
        top += 18
        let curves = panel.curves.map { columns($0.track, $0.series) }
        if let range = range(of: panel, curves) {
            let axis = Axis(range: range, top: top)
            let ticks = panel.ticks.isEmpty ? Self.ticks(range, most: 5) : panel.ticks
            for (value, label) in ticks {
                line("g", axis.y(value))
                text(label, Self.left - 5, axis.y(value) + 4, "e")
            }
            for mark in panel.marks where mark.lines.contains(where: range.contains) { draw(mark, axis) }
            var names: [(text: String, y: Double)] = []
            for (place, curve) in panel.curves.enumerated() {
                if let band = curve.band { draw(curves[place], of: curve, axis, "a", wide: columns(curve.track, band)) }
                draw(curves[place], of: curve, axis, "c c\(panel.curves.count == 1 ? 3 : place % 4)")
                guard let last = curves[place].last(where: { $0 != nil }) ?? nil, !curve.label.isEmpty else { continue }
                names.append((curve.label, axis.y(Double(last.least + last.greatest) / 2) + 4))
            }
            drawNames(names, to: top + Self.panelHeight)
            top += Self.panelHeight + 6
        }
        for states in panel.states {
            draw(states)
            top += 4
        }
    }

    private mutating func drawEvents() {
        let rows = picture.eventRows
        guard !rows.isEmpty else { return }
        text("events", 6, top + 12, "t")
        top += 18
        for (place, row) in rows.enumerated() {
            draw(
                picture.events.filter { $0.kind == row.kind && $0.source == row.source },
                form: Picture.forms[place % Picture.forms.count], "\(row.kind.rawValue) \(row.source)")
        }
        top += 4
        guard picture.eventCount > picture.events.count else { return }
        text(picture.eventNote, 6, top + 10)
        top += 14
    }

    private mutating func drawTime(to bottom: Double) {
        // A single sample has no duration.
        for (value, label) in Self.ticks(0...(seconds > Self.leastSeconds ? seconds : 0), most: 12) {
            let x = Self.left + value / seconds * Double(Self.columnCount)
            path("g", "M\(Self.short(x)) \(Self.short(Self.head))V\(Self.short(bottom))")
            text("\(label) s", x, bottom + 14, "m")
        }
        for gap in picture.gaps {
            let (from, to) = (x(gap.fromNanoseconds), x(gap.toNanoseconds))
            path("n", Self.box(from, Self.head, max(1, to - from), bottom - Self.head), title: gap.text)
        }
    }

    // MARK: - Scales

    /// The range of a panel: that of its curves and of the marks near them; `nil` without values.
    private func range(of panel: Picture.Panel, _ curves: [[Extremes?]]) -> ClosedRange<Double>? {
        let values = curves.joined().compactMap { $0 }
        guard let least = values.map(\.least).min(), let greatest = values.map(\.greatest).max() else { return nil }
        if let range = panel.range { return range }
        var (low, high) = (Double(least), Double(greatest))
        let reach = (high - low) * Picture.reach
        let near = low - reach...high + reach
        for mark in panel.marks where mark.isAlwaysShown || near.contains(mark.lines[0]) {
            for value in mark.lines + mark.areas.flatMap({ [$0.from, $0.to] }) {
                (low, high) = (min(low, value), max(high, value))
            }
        }
        let margin = (high > low ? high - low : max(abs(high), 1)) * Picture.margin
        return low - margin...high + margin
    }

    private func x(_ stamp: Int64) -> Double {
        Self.left + min(max(Units.seconds(from: start, to: stamp) / seconds, 0), 1) * Double(Self.columnCount)
    }

    private var columnNanoseconds: Double { seconds * 1e9 / Double(Self.columnCount) }

    /// The number of empty columns over which a curve is drawn.
    private var joins: Int { Int(Picture.gapSeconds * 1e9 / columnNanoseconds) + 2 }

    /// The extremes of each column; the last one includes the last stamp.
    private func columns(_ track: Int, _ series: Int) -> [Extremes?] {
        // In two steps, because stamps may lie further apart than 64 bits of nanoseconds reach.
        let edges = (0..<Self.columnCount).map { column in
            let distance = Double(column) * columnNanoseconds
            let half = Int64(distance / 2)
            return Units.later(Units.later(start, by: half), by: Int64(distance - Double(half)))
        }
        let end = Units.later(picture.timeRange.upperBound, by: 1)
        return zip(edges, edges.dropFirst() + [end]).map { from, to in
            picture.tracks[track].extremes(of: series, from: from, to: max(to, Units.later(from, by: 1)))
        }
    }

    /// Maps values to a panel's height; values outside its range are at its edge.
    private struct Axis {
        let range: ClosedRange<Double>
        let top: Double

        func y(_ value: Double) -> Double {
            let value = min(max(value, range.lowerBound), range.upperBound)
            return top + (range.upperBound - value) / (range.upperBound - range.lowerBound) * panelHeight
        }
    }

    /// Round values, with as many decimals as tell them apart, at most nine.
    private static func ticks(_ range: ClosedRange<Double>, most: Int) -> [(Double, String)] {
        let length = range.upperBound - range.lowerBound
        guard length > 0, length.isFinite else { return [(range.lowerBound, short(range.lowerBound))] }
        var step = pow(10, log10(length / Double(most)).rounded(.down))
        for factor in [2.0, 2.5, 2.0] where length / step > Double(most) { step *= factor }
        let first = (range.lowerBound / step).rounded(.up)
        let decimals = min(9, max(0, -Int((log10(step) + 1e-9).rounded(.down))))
        return stride(from: first, through: (range.upperBound / step).rounded(.down), by: 1).map {
            // Without the sign of −0.
            let value = $0 * step + 0
            return (value, Decimal.text(value, decimals: decimals) ?? short(value))
        }
    }

    /// A number with up to three decimals, or with more where it would have fewer digits that count, without trailing zeros.
    static func short(_ value: Double, digits: Int = 0) -> String {
        var decimals = abs(value) < 10 ? 3 : 1
        if digits > 0, value.isNormal {
            decimals = min(9, max(decimals, digits - 1 - Int(log10(abs(value)).rounded(.down))))
        }
        var text = Decimal.text(value, decimals: decimals) ?? "0"
        guard text.contains(".") else { return text }
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }
}
