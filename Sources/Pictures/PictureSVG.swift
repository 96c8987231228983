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
            if let heading = panel.heading { draw(panel, heading) } else { draw(panel) }
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
        let columns = panel.curves.map { self.columns(picture.tracks[$0.track], $0.series) }
        var (low, high) = (Double.infinity, -Double.infinity)
        for case let pair? in columns.joined() {
            low = min(low, Double(pair.least))
            high = max(high, Double(pair.greatest))
        }
        guard low <= high else { return }
        let reach = (high - low) * 0.6
        let limits = panel.limits.filter {
            $0.isAlwaysShown || $0.begin <= high + reach && $0.begin >= low - reach
        }
        for limit in limits {
            low = min(low, limit.begin, limit.end)
            high = max(high, limit.begin, limit.end)
        }
        let margin = (high > low ? high - low : max(abs(high), 1)) * 0.04
        let axis = Axis(low: low - margin, high: high + margin, top: top + 18, height: Self.height)
        frame(axis)
        for limit in limits { draw(limit, panel.unit, axis) }
        var names: [(text: String, y: Double)] = []
        for (place, curve) in panel.curves.enumerated() {
            let style = panel.curves.count == 1 ? 3 : place % 4
            guard let last = draw(columns[place], axis, "c c\(style)") else { continue }
            names.append((curve.label, axis.y((last.least + last.greatest) / 2) + 4))
        }
        // None over another.
        var lowest = 0.0
        for name in names.sorted(by: { $0.y < $1.y }) {
            lowest = max(name.y, lowest + 11)
            text(name.text, Double(Self.width - Self.right + 4), lowest)
        }
        top += 18 + Self.height + 6
    }

    private mutating func draw(_ limit: Picture.Limit, _ unit: String, _ axis: Axis) {
        let (begin, end) = (axis.y(limit.begin), axis.y(limit.end))
        lines.append(
            "<rect class=\"b\" x=\"\(Self.left)\" y=\"\(Self.short(min(begin, end)))\" width=\"\(Self.columns)\" height=\"\(Self.short(abs(end - begin)))\"/>"
        )
        lines.append("<path class=\"l\" d=\"M\(Self.left) \(Self.short(begin))h\(Self.columns)\"/>")
        let value = Decimal.text(limit.begin, decimals: abs(limit.begin) < 1 ? 4 : 2) ?? ""
        text("\(limit.label) \(value) \(unit)", Double(Self.left + 4), begin - 3)
    }

    /// Draws a curve as its extremes in each column; returns the last column that has a value.
    private mutating func draw(
        _ columns: [Extremes?], _ axis: Axis, _ style: String
    ) -> (least: Double, greatest: Double)? {
        var path = ""
        var last: (place: Int, least: Double, greatest: Double)?
        let joins = Int(Double(Self.gapNanoseconds) / max(1, columnNanoseconds)) + 2
        for (place, pair) in columns.enumerated() {
            guard let pair else { continue }
            let (least, greatest) = (Double(pair.least), Double(pair.greatest))
            let x = "\(Self.left + place).5"
            let isJoined = last.map { place - $0.place <= joins } ?? false
            path += (isJoined ? "L" : "M") + "\(x) \(Self.short(axis.y(least)))"
            path += "V\(Self.short(axis.y(greatest) - 0.5))"
            last = (place, least, greatest)
        }
        if !path.isEmpty { lines.append("<path class=\"\(style)\" d=\"\(path)\"/>") }
        return last.map { ($0.least, $0.greatest) }
    }

    private mutating func draw(_ panel: Picture.Panel, _ track: Int) {
        text("\(panel.title), \(panel.unit), with its accuracy", 6, Double(top + 12), "t")
        let axis = Axis(low: 0, high: 360, top: top + 18, height: Self.height + 20)
        frame(axis, at: [0, 90, 180, 270, 360])
        let track = picture.tracks[track]
        for sector in panel.sectors { draw(sector, axis) }
        let headings = columns(track, Picture.HeadingSeries.heading.rawValue)
        let accuracies = columns(track, Picture.HeadingSeries.accuracy.rawValue)
        var (band, curve) = ("", "")
        for (place, pair) in headings.enumerated() {
            guard let pair else { continue }
            let wide = Double(accuracies[place]?.greatest ?? 0)
            // An arc over north is drawn at both ends.
            for turn in [-360.0, 0, 360] {
                let (low, high) = (Double(pair.least) + turn, Double(pair.greatest) + turn)
                band += Self.bar(place, axis, low - wide, high + wide)
                curve += Self.bar(place, axis, low, high)
            }
        }
        if !band.isEmpty { lines.append("<path class=\"a\" d=\"\(band)\"/>") }
        if !curve.isEmpty { lines.append("<path class=\"c c2\" d=\"\(curve)\"/>") }
        top += 18 + Self.height + 26
    }

    /// Draws what a heading enters, and how far outside it is left.
    private mutating func draw(_ sector: Picture.Sector, _ axis: Axis) {
        var (band, edge) = ("", "")
        for turn in [-360.0, 0, 360] {
            let (low, high) = (sector.from + turn, sector.to + turn)
            let (outerLow, outerHigh) = (max(low - sector.margin, 0), min(high + sector.margin, 360))
            if outerLow < outerHigh {
                band +=
                    "M\(Self.left) \(Self.short(axis.y(outerHigh)))h\(Self.columns)V\(Self.short(axis.y(outerLow)))h-\(Self.columns)z"
            }
            for value in [low, high] where value >= 0 && value <= 360 {
                edge += "M\(Self.left) \(Self.short(axis.y(value)))h\(Self.columns)"
            }
        }
        lines.append("<path class=\"b\" d=\"\(band)\"/><path class=\"l\" d=\"\(edge)\"/>")
        let place = (sector.from.truncatingRemainder(dividingBy: 360) + 360).truncatingRemainder(dividingBy: 360)
        text(sector.label, Double(Self.left + 4), axis.y(place) + 11)
    }

    private static func bar(_ place: Int, _ axis: Axis, _ low: Double, _ high: Double) -> String {
        let (low, high) = (max(low, 0), min(high, 360))
        guard low <= high else { return "" }
        return "M\(left + place).5 \(short(axis.y(low) + 0.5))V\(short(axis.y(high) - 0.5))"
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

    private mutating func frame(_ axis: Axis, at given: [Double]? = nil) {
        for value in given ?? Ticks(axis.low, axis.high, most: 5).values {
            let y = Self.short(axis.y(value))
            lines.append("<path class=\"g\" d=\"M\(Self.left) \(y)h\(Self.columns)\"/>")
            text(Self.short(value), Double(Self.left - 5), axis.y(value) + 4, "e")
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
    private static func short(_ value: Double) -> String {
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
