import PlainText

/// A setting that cannot work.
public struct SettingsProblem<Settings>: Error, Sendable, CustomStringConvertible {
    package typealias Property = any PartialKeyPath<Settings> & Sendable

    /// The property that cannot work.
    package let property: Property
    /// The properties that its value was compared with, or that its default follows from.
    package let others: [Property]
    /// What is wrong, in which the others' names are descriptions of their key paths.
    private let message: String

    init(_ property: Property, _ message: String, others: [Property]) {
        self.property = property
        self.message = message
        self.others = others
    }

    /// The property and what is wrong with it, as one sentence.
    public var description: String { sentence { Self.name($0) } }

    /// The sentence, with other names for the properties, such as those of a configuration's keys.
    package func sentence(naming name: (Property) -> String) -> String {
        others.reduce("\(name(property)) \(message)") { $0.replacing("\($1)", with: name($1)) }
    }

    /// The name of a property, without its type.
    private static func name(_ property: Property) -> String {
        "\(property)".split(separator: ".").last.map(String.init) ?? "\(property)"
    }
}

/// Settings that say what is wrong with them.
package protocol CheckedSettings: Sendable, Equatable {
    init()
    /// Adds what is wrong with the settings.
    func findProblems(_ list: inout ProblemList<Self>)
}

extension CheckedSettings {
    /// Everything that is wrong with the settings.
    package func problems() -> [SettingsProblem<Self>] {
        var list = ProblemList<Self>()
        findProblems(&list)
        return list.problems
    }

    package func check() throws(SettingsProblem<Self>) {
        if let problem = problems().first { throw problem }
    }

    /// Traps when there is a problem: the creator of an object checks its settings before.
    package func requireValid() {
        let problems = problems()
        precondition(problems.isEmpty, "\(problems)")
    }
}

/// Collects what is wrong with a set of settings.
///
/// Key paths and messages are made only when there is a problem: to find them takes longer than to check everything.
package struct ProblemList<Settings> {
    package typealias Property = SettingsProblem<Settings>.Property

    package private(set) var problems: [SettingsProblem<Settings>] = []

    package init() {}

    package mutating func require(
        _ property: @autoclosure () -> Property, _ isFine: Bool, _ message: @autoclosure () -> String,
        others: @autoclosure () -> [Property] = []
    ) {
        if !isFine { problems.append(SettingsProblem(property(), message(), others: others())) }
    }

    /// A limit that is switched off, which is `nil`, is fine.
    package mutating func requirePositive<Value: BinaryFloatingPoint>(
        _ property: @autoclosure () -> Property, _ value: Value?, others: @autoclosure () -> [Property] = []
    ) {
        guard let value else { return }
        require(property(), value > 0 && value.isFinite, "(\(value)) has to be a number above 0", others: others())
    }

    package mutating func requirePositive(_ property: @autoclosure () -> Property, _ value: Duration) {
        require(property(), value > .zero, "(\(value)) has to be longer than 0 s")
    }

    package mutating func requireNotNegative<Value: Comparable & AdditiveArithmetic>(
        _ property: @autoclosure () -> Property, _ value: Value
    ) {
        require(property(), value >= .zero, "(\(value)) is negative")
    }
}
