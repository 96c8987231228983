/// A spherical harmonic model of the main magnetic field and its change, such as the World Magnetic Model.
///
/// The coefficients are Schmidt semi-normalised, g and h in nT, their changes in nT a year.
public struct GeomagneticModel: Sendable {
    /// The name that the model gives itself, such as `WMM-2025`.
    package let name: String
    /// The decimal year of the coefficients.
    package let epoch: Double
    /// The decimal years for which the model is made: five from its epoch on.
    public var years: ClosedRange<Double> { epoch...epoch + 5 }

    let degree: Int
    /// For each degree n and order m, at n·(n + 1)/2 + m; the first, for n = 0, is 0.
    let coefficients: [Coefficient]

    /// One degree and order.
    struct Coefficient {
        var g = 0.0
        var h = 0.0
        var gChange = 0.0
        var hChange = 0.0
    }

    static func index(_ degree: Int, _ order: Int) -> Int { degree * (degree + 1) / 2 + order }
}

extension GeomagneticModel {
    /// Far more than any model of the main field has; it bounds what a hostile file can ask for.
    private static let highestDegree = 50
    /// What the World Magnetic Model's files end with.
    private static let end = "9999"

    /// Reads a model as its makers publish it, a `.COF` file.
    ///
    /// The first line has the epoch and the name, each that follows a degree, an order and four coefficients; a line of
    /// nines ends it. Every order of every degree has to be there, once.
    ///
    /// - Parameter text: The whole file.
    /// - Throws: An error that names the first line that is wrong.
    public init(parsing text: String) throws {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().makeIterator()
        guard let head = lines.next()?.element.split(whereSeparator: \.isWhitespace), head.count >= 2,
            let epoch = Self.number(head[0]), (1900...2100).contains(epoch)
        else {
            throw GeomagneticModelError(
                line: 1, message: "a model begins with its epoch and its name, as in '2025.0 WMM-2025 11/13/2024'")
        }
        var found: [Int: Coefficient] = [:]
        var degree = 0
        var lastLine = 1
        while let (index, line) = lines.next() {
            lastLine = index + 1
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.isEmpty { continue }
            if words[0].hasPrefix(Self.end) { break }
            let (n, m, coefficient) = try Self.row(words, line: lastLine)
            guard found.updateValue(coefficient, forKey: Self.index(n, m)) == nil else {
                throw GeomagneticModelError(
                    line: lastLine, message: "degree \(n), order \(m) stands here a second time")
            }
            degree = max(degree, n)
        }
        guard degree >= 1 else { throw GeomagneticModelError(line: lastLine, message: "a model has coefficients") }
        var coefficients = [Coefficient](repeating: Coefficient(), count: Self.index(degree, degree) + 1)
        for n in 1...degree {
            for m in 0...n {
                guard let coefficient = found[Self.index(n, m)] else {
                    throw GeomagneticModelError(
                        line: lastLine, message: "degree \(n), order \(m) is missing: the file is not whole")
                }
                coefficients[Self.index(n, m)] = coefficient
            }
        }
        self.init(name: String(head[1]), epoch: epoch, degree: degree, coefficients: coefficients)
    }

    private static func row(
        _ words: [Substring], line: Int
    ) throws(GeomagneticModelError) -> (degree: Int, order: Int, Coefficient) {
        guard words.count == 6, let n = Int(words[0]), let m = Int(words[1]), (1...highestDegree).contains(n),
            (0...n).contains(m)
        else {
            throw GeomagneticModelError(
                line: line,
                message: "a line has a degree, an order up to it, and the four numbers g, h and their changes a year"
            )
        }
        var numbers: [Double] = []
        for word in words[2...] {
            guard let number = number(word), number.magnitude <= 1e6 else {
                throw GeomagneticModelError(line: line, message: "'\(word.prefix(40))' is no coefficient in nT")
            }
            numbers.append(number)
        }
        return (n, m, Coefficient(g: numbers[0], h: numbers[1], gChange: numbers[2], hChange: numbers[3]))
    }

    private static func number(_ word: Substring) -> Double? {
        Double(word).flatMap { $0.isFinite ? $0 : nil }
    }
}
