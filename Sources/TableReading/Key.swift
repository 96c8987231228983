package import Binnacle
import PlainText

/// A key of a table, with its documentation.
///
/// The documentation is made on demand: reading a configuration needs only the names.
package struct Key: Sendable {
    /// The form in the reference file.
    package enum Shown: Sendable, Equatable {
        /// Active, with a value.
        case set(String)
        /// Commented out, with its default.
        case usual(String)
        /// Commented out, as an example, because the default is absent or depends on something else.
        case example(String)
    }

    /// Ends with the unit.
    package let name: String
    /// Why the key is required; `nil` if it is optional.
    package let purpose: String?
    /// Values of the section's first key with which this key has a meaning; empty for all.
    package let users: [String]
    /// Whether it has no effect without the event store.
    package let needsStore: Bool
    private let makeShown: @Sendable () -> Shown
    private let makeRange: @Sendable () -> String?
    private let makeUsual: @Sendable () -> String?
    private let makeText: @Sendable () -> String

    package var shown: Shown { makeShown() }
    /// The valid range, as in "from 1 to 64"; `nil` if the text states it or there is none.
    package var range: String? { makeRange() }
    /// The default if it differs from ``shown``, as in "half of threshold_g"; empty for none.
    package var usual: String? { makeUsual() }
    /// In paragraphs.
    package var text: String { makeText() }

    package init(
        _ name: String, _ shown: @autoclosure @escaping @Sendable () -> Shown, purpose: String? = nil,
        range: @autoclosure @escaping @Sendable () -> String? = nil,
        usual: @autoclosure @escaping @Sendable () -> String? = nil, for users: [String] = [],
        needsStore: Bool = false, _ text: @autoclosure @escaping @Sendable () -> String
    ) {
        self.name = name
        self.purpose = purpose
        self.users = users
        self.needsStore = needsStore
        makeShown = shown
        makeRange = range
        makeUsual = usual
        makeText = text
    }

    private static let units = [
        ("_m_s2", "m/s²"), ("_mm_s", "mm/s"), ("_g", "g"),
        ("_s", "seconds"), ("_deg", "degrees"), ("_uT", "microtesla"), ("_m", "metres"),
        ("_hz", "hertz"), ("_days", "days"), ("_mb", "MB"), ("_percent", "percent"), ("_bytes", "bytes"),
    ]

    /// Unit, range, default and users in sentences; may be empty.
    package var facts: String {
        let unit = Self.units.first { name.hasSuffix($0.0) }.map { "in \($0.1)" }
        var parts = [purpose == nil ? nil : "required", [unit, range].compactMap { $0 }.joined(separator: ", ")]
        if !users.isEmpty { parts.append("for " + Spelling.list(users.map { "\"\($0)\"" })) }
        if let usual {
            parts.append(usual.isEmpty ? nil : "default: \(usual)")
        } else if case .usual(let value) = shown {
            parts.append("default: \(value)")
        }
        let facts = parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "; ")
        return facts.isEmpty ? "" : facts.prefix(1).uppercased() + facts.dropFirst() + "."
    }
}

/// How values of a type are read, written and documented.
package struct KeyForm<Value>: Sendable {
    let read: @Sendable (TableReader, String) -> Value?
    let show: @Sendable (Value) -> String
    var range: String?

    /// Restricts the form to values that meet a condition; others are reported with the message.
    package func limited(
        _ range: String, to isFine: @escaping @Sendable (Value) -> Bool,
        _ message: @escaping @Sendable (Value) -> String
    ) -> KeyForm {
        KeyForm(
            read: { table, key in table.limited(key, read(table, key), to: isFine, message) }, show: show, range: range)
    }
}

extension KeyForm {
    /// A number, without ".0" for integers.
    fileprivate static func text(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    fileprivate static func seconds(
        _ range: String? = nil, _ read: @escaping @Sendable (TableReader, String) -> Duration?
    ) -> KeyForm<Duration> {
        KeyForm<Duration>(read: read, show: { text($0 / .seconds(1)) }, range: range)
    }
}

extension KeyForm<Duration> {
    /// Seconds, at least 0.
    package static var seconds: Self { seconds { $0.seconds($1) } }
    /// Seconds, above 0.
    package static var positiveSeconds: Self { seconds { $0.positiveSeconds($1) } }
    package static func seconds(in range: ClosedRange<Double>) -> Self {
        seconds("from \(text(range.lowerBound)) to \(text(range.upperBound))") { $0.seconds($1, in: range) }
    }
}

extension KeyForm<Double> {
    package static var number: Self { Self(read: { $0.double($1) }, show: { text($0) }) }
    package static func number(in range: ClosedRange<Double>) -> Self {
        Self(
            read: { $0.number($1, in: range) }, show: { text($0) },
            range: "from \(text(range.lowerBound)) to \(text(range.upperBound))")
    }
}

extension KeyForm<Double?> {
    /// A number, or `false` for no limit.
    package static var limit: Self {
        Self(
            read: { table, key in
                if case .boolean(false) = table.entry(key)?.node.value { return .some(nil) }
                return table.double(key).map(Double?.some)
            }, show: { $0.map { text($0) } ?? "false" })
    }
}

extension KeyForm<Float> {
    package static var number: Self { Self(read: { $0.float($1) }, show: { text($0) }) }
}

extension KeyForm where Value: FixedWidthInteger & SendableMetatype {
    package static func integer(in range: ClosedRange<Int>) -> Self {
        Self(
            read: { $0.integer($1, in: range).flatMap(Value.init(exactly:)) }, show: { "\($0)" },
            range: "from \(range.lowerBound)" + (range.upperBound == .max ? "" : " to \(range.upperBound)"))
    }
}

extension KeyForm<Bool> {
    package static var boolean: Self { Self(read: { $0.boolean($1) }, show: { "\($0)" }) }
}

extension KeyForm<String> {
    /// A string that is not empty.
    package static var text: Self { Self(read: { $0.string($1) }, show: { "\"\($0)\"" }) }
}

extension KeyForm where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
    package static var choice: Self { Self(read: { $0.choice($1, as: Value.self) }, show: { "\"\($0.rawValue)\"" }) }
}

/// A key for one property of some settings; reading, messages and documentation follow from its row.
///
/// Key paths and forms are made on demand: at each start they would take longer than reading the configuration.
package struct SettingRow<Settings: Sendable>: Sendable {
    package typealias Path<Value> = any WritableKeyPath<Settings, Value> & Sendable
    /// Why a key has no effect with some settings, as in "without running_g"; `nil` where it has one.
    package typealias Idle = @Sendable (Settings) -> String?

    package let name: String
    /// Values of the section's first key with which this key has a meaning; empty for all.
    package let users: [String]
    private let makeProperty: @Sendable () -> SettingsProblem<Settings>.Property
    private let makeKey: @Sendable (Settings) -> Key
    private let makeValue: @Sendable (Settings) -> String?
    private let readValue: @Sendable (TableReader, inout Settings) -> Void
    private let makeIdleWords: Idle?

    /// Creates a key with a default, which is documented unless `shown` replaces it, or `words` where it depends on something else.
    package init<Value>(
        _ name: String, _ path: @autoclosure @escaping @Sendable () -> Path<Value>,
        _ form: @autoclosure @escaping @Sendable () -> KeyForm<Value>, usual words: String? = nil,
        shown: Key.Shown? = nil,
        for users: [String] = [], idle: Idle? = nil, _ text: String
    ) {
        self.init(name, path(), for: users, idle: idle) { settings in
            let usual: @Sendable () -> String = { form().show(settings[keyPath: path()]) }
            return Key(name, shown ?? .usual(usual()), range: form().range, usual: words ?? usual(), for: users, text)
        } value: {
            form().show($0[keyPath: path()])
        } read: { table, settings in
            if let value = form().read(table, name) { settings[keyPath: path()] = value }
        }
    }

    /// Creates a key without a default, or with one in words.
    package init<Value>(
        _ name: String, _ path: @autoclosure @escaping @Sendable () -> Path<Value?>,
        _ form: @autoclosure @escaping @Sendable () -> KeyForm<Value>, usual: String? = nil, shown: Key.Shown,
        for users: [String] = [], idle: Idle? = nil, _ text: String
    ) {
        self.init(name, path(), for: users, idle: idle) { _ in
            Key(name, shown, range: form().range, usual: usual, for: users, text)
        } value: {
            $0[keyPath: path()].map(form().show)
        } read: { table, settings in
            if let value = form().read(table, name) { settings[keyPath: path()] = value }
        }
    }

    /// Creates a key with its own reader; `value` writes the value as TOML, `nil` for none.
    package init(
        _ name: String, _ property: @autoclosure @escaping @Sendable () -> SettingsProblem<Settings>.Property,
        shown: Key.Shown, usual: String? = nil, for users: [String] = [], _ text: String,
        value: @escaping @Sendable (Settings) -> String? = { _ in nil },
        read: @escaping @Sendable (TableReader, String, inout Settings) -> Void
    ) {
        self.init(name, property(), for: users, idle: nil) { _ in
            Key(name, shown, usual: usual, for: users, text)
        } value: {
            value($0)
        } read: { table, settings in
            read(table, name, &settings)
        }
    }

    private init(
        _ name: String, _ property: @autoclosure @escaping @Sendable () -> SettingsProblem<Settings>.Property,
        for users: [String], idle: Idle?, key: @escaping @Sendable (Settings) -> Key,
        value: @escaping @Sendable (Settings) -> String?,
        read: @escaping @Sendable (TableReader, inout Settings) -> Void
    ) {
        self.name = name
        self.users = users
        makeIdleWords = idle
        makeProperty = property
        makeKey = key
        makeValue = value
        readValue = read
    }

    /// Why the key has no effect with the settings; `nil` if it has one.
    func idleWords(_ settings: Settings) -> String? { makeIdleWords?(settings) }

    var property: SettingsProblem<Settings>.Property { makeProperty() }

    /// The documented key, with the value in `settings` as default.
    package func key(_ settings: Settings) -> Key { makeKey(settings) }

    /// The key with its value in `settings`, as a line of TOML; `nil` without a value.
    package func line(_ settings: Settings) -> String? { makeValue(settings).map { "\(name) = \($0)" } }

    /// Reads the value if the table has it; without a valid value the settings are unchanged.
    package func read(_ table: TableReader, into settings: inout Settings) {
        if table.entry(name) != nil { readValue(table, &settings) }
    }
}

extension TableReader {
    package func read<Settings: Sendable>(_ rows: [SettingRow<Settings>], into settings: inout Settings) {
        for row in rows { row.read(self, into: &settings) }
        for row in rows {
            if let words = row.idleWords(settings) { warn(idle: row.name, words) }
        }
    }

    package func required(_ key: Key) -> TOMLNode? {
        required(key.name, key.purpose ?? "")
    }
}

package struct SectionRow: Sendable {
    /// As in `sensor.NAME`.
    package let title: String
    /// The example title in the reference file, as in `sensor.chassis`.
    package let shown: String
    /// Whether it is active in the reference file.
    package let isSet: Bool
    /// In paragraphs.
    package let text: String
    /// In the order of the reference file.
    package let keys: [Key]
    /// Text after the section in the reference file.
    package let also: String

    package init(
        _ title: String, shown: String, isSet: Bool = true, _ text: String, keys: [Key], also: String = ""
    ) {
        self.also = also
        self.title = title
        self.shown = shown
        self.isSet = isSet
        self.text = text
        self.keys = keys
    }
}
