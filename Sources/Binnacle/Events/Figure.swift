import PlainText

/// One measured figure of an event.
public struct Figure: Sendable, Equatable {
    /// A figure's value.
    public enum Value: Sendable {
        /// A number, and how many decimals of it mean something.
        case number(Double, decimals: Int)
        /// A whole number.
        case integer(Int64)
        /// One of a fixed set of words.
        case word(any FigureWord)
        /// A name or a sentence.
        case text(String)

        /// The number that it is, whole or not; `nil` when it is none.
        package var double: Double? {
            switch self {
            case .number(let value, decimals: _): value
            case .integer(let value): Double(value)
            case .word, .text: nil
            }
        }
    }

    /// What the value is.
    public let name: Name
    /// The value.
    public let value: Value

    /// Creates a figure.
    ///
    /// A text that is one of the words of its figure becomes that word. So an event that was read from a file or a socket
    /// has the same types as the event that was written.
    package init(_ name: Name, _ value: Value) {
        self.name = name
        if case .text(let text) = value, case .word(let type) = name.row.type, let word = type.init(rawValue: text) {
            self.value = .word(word)
        } else {
            self.value = value
        }
    }

    /// Creates a figure of a value that has the type of the figure's row already.
    init(typed name: Name, _ value: consuming Value) {
        self.name = name
        self.value = value
    }
}

/// A value of a figure that is one of a fixed set of words; the raw value stands in JSON.
public protocol FigureWord: RawRepresentable, Sendable where RawValue == String {}

/// A result of a detector or a sensor, which knows the values of some figures.
///
/// The row of a kind says which figures its events have, and in which order; the result says their values.
package protocol FigureSource {
    /// The value of a figure; `nil` when there is none.
    func value(of figure: Figure.Name) -> Figure.Value?
}

/// What a detector found at one sample.
package protocol DetectorResult: FigureSource, Sendable {
    /// The stamp of the sample that decided it, in nanoseconds.
    var timeNanoseconds: Int64 { get }
}

/// What a detector found, when nothing but the figures of its event is needed.
package struct Finding: DetectorResult {
    package let kind: EventKind
    package let timeNanoseconds: Int64
    private let values: [Figure.Name: Figure.Value?]
    private let numbers: [Figure.Name: Double?]

    /// Creates a result; `numbers` get the decimals of their figures.
    package init(
        _ kind: EventKind, at timeNanoseconds: Int64, _ values: [Figure.Name: Figure.Value?],
        numbers: [Figure.Name: Double?] = [:]
    ) {
        (self.kind, self.timeNanoseconds, self.values, self.numbers) = (kind, timeNanoseconds, values, numbers)
    }

    package func value(of figure: Figure.Name) -> Figure.Value? {
        if let number = numbers[figure] { return number.map(figure.number) }
        return values[figure] ?? nil
    }
}

extension Figure.Name {
    /// What the figure is, in one sentence.
    package var text: String { row.text }

    /// What all users of a figure need to know of it.
    package struct Row: Sendable {
        package let type: ValueType
        package let text: String

        init(_ type: ValueType, _ text: String) {
            self.type = type
            self.text = text
        }
    }

    package enum ValueType: Sendable {
        /// Numbers with a unit, and how many decimals of them mean something.
        case number(Unit, decimals: Int)
        /// Whole numbers.
        case integer
        /// Stamps in nanoseconds, which are for programs: lines for people leave them out.
        case stamp
        /// A fixed set of words.
        case word(any FigureWord.Type)
        /// Names or sentences.
        case text
    }

    /// The unit; `nil` for what has none.
    package var unit: Unit? {
        guard case .number(let unit, decimals: _) = row.type else { return nil }
        return unit
    }

    /// A number as a value of this figure, with its decimals.
    package func number(_ value: Double) -> Figure.Value {
        guard case .number(_, let decimals) = row.type else { return .number(value, decimals: 0) }
        return .number(value, decimals: decimals)
    }

    /// The figures that only reports about handlers and the store have.
    package static let ofReports: Set<Figure.Name> = {
        let (reports, others) = (EventKind.reports, EventKind.allCases.filter { !EventKind.reports.contains($0) })
        return Set(reports.flatMap(\.row.figures)).subtracting(others.flatMap(\.row.figures))
    }()
}

extension Figure {
    /// The figure as people read it, as in "peak 0.1391 g"; `nil` for a stamp, because an event shows its time anyway, and for
    /// a number that is not finite, which was not measured.
    package var text: String? {
        var text: [UInt8] = []
        return append(to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Appends ``text``; returns whether there is any.
    package func append(to text: inout [UInt8]) -> Bool {
        if case .number(let number, _) = value, !number.isFinite { return false }
        let name = name.rawValue
        switch self.name.row.type {
        case .stamp: return false
        case .number(let unit, decimals: _):
            text.append(name)
            text.removeLast(unit.rawValue.utf8.count)
            text.append(UInt8(ascii: " "))
            value.append(to: &text)
            text.append(unit.symbol)
        case .integer, .word, .text:
            text.append(name)
            text.append(UInt8(ascii: " "))
            value.append(to: &text)
        }
        return true
    }
}

extension Figure.Value: Equatable {
    /// Whether both are of the same type and would be written as the same JSON.
    public static func == (left: Figure.Value, right: Figure.Value) -> Bool {
        switch (left, right) {
        case (.number(let left, let leftDecimals), .number(let right, let rightDecimals)):
            left == right && leftDecimals == rightDecimals
        case (.integer(let left), .integer(let right)): left == right
        case (.word(let left), .word(let right)): type(of: left) == type(of: right) && left.rawValue == right.rawValue
        case (.text(let left), .text(let right)): left == right
        case (.number, _), (.integer, _), (.word, _), (.text, _): false
        }
    }
}

extension Figure.Value: CustomStringConvertible {
    /// The value as text: a number with its decimals, never an exponent; `null` for a number that is none.
    public var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    fileprivate func append(to text: inout [UInt8]) {
        switch self {
        case .number(let value, let decimals):
            if !Decimal.append(value, decimals: decimals, to: &text) { text.append("null") }
        case .integer(let value): Decimal.append(value, to: &text)
        case .word(let word): text.append(word.rawValue)
        case .text(let value): text.append(value)
        }
    }
}
