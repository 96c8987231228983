/// A setting that cannot work.
public struct SettingsProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The key as the configuration file spells it.
    public let key: String
    /// What is wrong with it.
    public let message: String

    /// The key and what is wrong with it, as one sentence.
    public var description: String { "\(key) \(message)" }
}

/// Collects what is wrong with a set of settings.
struct ProblemList {
    private(set) var problems: [SettingsProblem] = []

    mutating func require(_ key: String, _ isFine: Bool, _ message: String) {
        if !isFine { problems.append(SettingsProblem(key: key, message: message)) }
    }

    mutating func requirePositive<Value: BinaryFloatingPoint>(_ key: String, _ value: Value) {
        require(key, value > 0 && value.isFinite, "(\(value)) has to be a number above 0")
    }

    mutating func requirePositive(_ key: String, _ value: Duration) {
        require(key, value > .zero, "(\(value)) has to be longer than 0 s")
    }

    mutating func requireNotNegative(_ key: String, _ value: Duration) {
        require(key, value >= .zero, "(\(value)) is negative")
    }
}
