import Binnacle
import Glibc
import PlainText

/// The spectrum of a second in characters: bars on a logarithmic scale, the limits above the bands, and the bands below them.
enum TerminalSpectrum {
    /// Each a tenth of the one above.
    private static let rows = 5

    /// The lines, each `width` columns wide; one line when the last second was not measured.
    static func lines(_ spectrum: LiveValues.Spectrum, _ limits: [LiveValues.Limit], width: Int) -> [String] {
        guard width > 0, let last = spectrum.values.indices.last else { return ["spectrum: not measured"] }
        let (start, end) = (spectrum.fromHz, spectrum.fromHz + Double(last + 1) * spectrum.stepHz)
        let columnHz = (end - start) / Double(width)
        func column(_ hertz: Double) -> Int { Int(max(0, min(Double(width - 1), (hertz - start) / columnHz))) }
        let bars = (0..<width).map { place in
            let first = Int(Double(place * spectrum.values.count) / Double(width))
            let next = max(first + 1, (place + 1) * spectrum.values.count / width)
            return spectrum.values[first..<min(next, last + 1)].max() ?? 0
        }
        var marks: [(column: Int, level: Double)] = []
        for band in spectrum.bands {
            for limit in limits where limit.measure == band.measure {
                for place in column(band.fromHz)...column(band.toHz) {
                    let hertz = min(band.toHz, max(band.fromHz, start + (Double(place) + 0.5) * columnHz))
                    let share = (hertz - band.fromHz) / (band.toHz - band.fromHz)
                    marks.append((place, Double(limit.begin) * (band.scale.x + share * (band.scale.y - band.scale.x))))
                }
            }
        }
        let greatest = max(Double(bars.max() ?? 0), marks.map(\.level).max() ?? 0)
        let top = greatest > 0 ? log10(greatest).rounded(.up) : 0
        /// The half rows from the bottom up to a value.
        func height(_ value: Double) -> Int {
            value > 0 ? Int(max(0, (2 * (log10(value) - top + Double(rows))).rounded(.up))) : 0
        }
        var lines = (1...rows).reversed().map { row -> String in
            var cells = bars.map { bar -> Character in
                let filled = height(Double(bar)) - 2 * (row - 1)
                return filled >= 2 ? "█" : filled == 1 ? "▄" : " "
            }
            for mark in marks where (height(mark.level) + 1) / 2 == row { cells[mark.column] = "━" }
            return String(cells)
        }
        for band in spectrum.bands {
            let (from, to) = (column(band.fromHz), column(band.toHz))
            var cells = [Character](repeating: " ", count: width)
            for place in from...to { cells[place] = "─" }
            for (place, letter) in zip(from..., band.name.prefix(max(0, to - from - 1))) { cells[place + 1] = letter }
            (cells[from], cells[to]) = ("└", "┘")
            lines.append(String(cells))
        }
        func text(_ value: Double) -> String { Decimal.text(value, decimals: value < 10 ? 1 : 0) ?? "-" }
        let scale = "10^\(Int(top)) to 10^\(Int(top) - rows) g"
        return ["spectrum from \(text(start)) to \(text(end)) Hz, \(scale); ━ what a sine alone may have"] + lines
    }
}
