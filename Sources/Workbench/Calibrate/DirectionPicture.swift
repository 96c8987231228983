import Calibration

/// Draws from where samples have come: the upper and the lower half of all directions as two discs.
enum DirectionPicture {
    private static let rows = 9
    private static let columns = 19
    private static let gap = "    "

    /// The lines, from the top: `#` where samples are, `·` where none is; x is to the right and y up in both discs.
    static func lines(_ map: DirectionMap) -> [String] {
        let title = centred("upper half") + gap + centred("lower half")
        return [title] + (0..<rows).map { row in half(map, row, isUpper: true) + gap + half(map, row, isUpper: false) }
    }

    private static func half(_ map: DirectionMap, _ row: Int, isUpper: Bool) -> String {
        let middle = (row: Double(rows - 1) / 2, column: Double(columns - 1) / 2)
        return String(
            (0..<columns).map { column -> Character in
                // Half a character more than the middles, so that the disc's edge is drawn.
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
