import Glibc

enum TerminalRose {
    private static let (width, height) = (13, 5)

    /// Five lines; without a heading there is no needle.
    static func lines(_ headingDegrees: Double?) -> [String] {
        var cells = [[Character]](repeating: [Character](repeating: " ", count: width), count: height)
        let (middleColumn, middleRow) = (width / 2, height / 2)
        cells[0][middleColumn] = "N"
        cells[height - 1][middleColumn] = "S"
        cells[middleRow][0] = "W"
        cells[middleRow][width - 1] = "E"
        cells[middleRow][middleColumn] = headingDegrees == nil ? "?" : "•"
        guard let headingDegrees else { return cells.map { String($0) } }
        let angle = headingDegrees * .pi / 180
        // A character is about twice as high as wide.
        for step in 1...4 {
            let length = Double(step) / 4
            let column = middleColumn + Int((length * 5 * sin(angle)).rounded())
            let row = middleRow - Int((length * 2 * cos(angle)).rounded())
            cells[row][column] = step == 4 ? "◆" : "•"
        }
        return cells.map { String($0) }
    }
}
