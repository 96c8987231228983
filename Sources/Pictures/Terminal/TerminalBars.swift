import Binnacle

/// Bars of characters for values with limits, and for values around zero.
package enum TerminalBars {
    /// Ends of scales: 1, 2 and 5 times a power of ten.
    private static let steps: [Float] = [
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000,
    ]

    /// The end of a scale that fits a value, `count` steps larger than necessary.
    static func scale(for value: Float, steps count: Int) -> Float {
        let place = steps.firstIndex { $0 >= value } ?? steps.count - 1
        return steps[max(0, min(steps.count - 1, place - count))]
    }

    /// A bar from zero: full to the last value, shaded to the greatest, with marks at limits and the peak.
    static func measure(_ span: LiveValues.Span?, peak: Float?, limits: [LiveValues.Limit], scale: Float, width: Int)
        -> String
    {
        guard width > 0 else { return "" }
        var cells = [Character](repeating: "·", count: width)
        func place(_ value: Float) -> Int? {
            let place = (value / scale * Float(width)).rounded(.down)
            guard place >= 0 else { return nil }
            return place < Float(width) ? Int(place) : nil
        }
        if let span {
            let (last, greatest) = (place(span.last) ?? width, place(span.greatest) ?? width)
            for index in 0..<width where index < greatest { cells[index] = index < last ? "█" : "▒" }
        }
        for limit in limits {
            if limit.end != limit.begin, let index = place(limit.end) { cells[index] = "╎" }
        }
        for limit in limits { if let index = place(limit.begin) { cells[index] = "┃" } }
        if let peak, let index = place(peak) { cells[index] = "◆" }
        return String(cells)
    }

    /// A bar around zero: shaded from the least to the greatest value, full at the last.
    static func axis(_ span: LiveValues.Span?, scale: Float, width: Int) -> String {
        guard width > 0 else { return "" }
        var cells = [Character](repeating: "·", count: width)
        func place(_ value: Float) -> Int {
            let place = ((value / scale + 1) / 2 * Float(width)).rounded(.down)
            return Int(max(0, min(Float(width - 1), place)))
        }
        cells[place(0)] = "│"
        if let span {
            for index in place(span.least)...place(span.greatest) { cells[index] = "▒" }
            cells[place(span.last)] = "█"
        }
        return String(cells)
    }

    /// The part of the compass card around a heading.
    package static func tape(_ headingDegrees: Double, width: Int) -> String {
        guard width > 0 else { return "" }
        var cells = [Character](repeating: "·", count: width)
        let degrees = 180 / Double(width)
        let names = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
        for (number, name) in names.enumerated() {
            var off = (Double(number) * 45 - headingDegrees).truncatingRemainder(dividingBy: 360)
            if off < -180 { off += 360 }
            if off > 180 { off -= 360 }
            guard abs(off) < 90 else { continue }
            let place = Int((off / degrees + Double(width) / 2).rounded(.down))
            for (index, letter) in name.enumerated() where (0..<width).contains(place + index) {
                cells[place + index] = letter
            }
        }
        cells[width / 2] = "▼"
        return String(cells)
    }
}
