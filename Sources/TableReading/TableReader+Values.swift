import PlainText

extension TableReader {
    /// Maximum time, in seconds: about 32 years, far below the range of 64-bit nanoseconds.
    private static let longestSeconds = 1e9

    /// A string that is not empty and contains no NUL.
    package func string(_ key: String) -> String? {
        entry(key).flatMap { string(key, $0.node) }
    }

    /// A string that contains no NUL.
    package func string(_ key: String, _ node: TOMLNode, mayBeEmpty: Bool = false) -> String? {
        guard let text = expect(node.string, key, node, "a string") else { return nil }
        guard mayBeEmpty || !text.isEmpty else {
            refuse(key, at: node.position, "`\(key)` is empty")
            return nil
        }
        // A system call would end the text there.
        guard !text.utf8.contains(0) else {
            refuse(key, at: node.position, "`\(key)` holds a NUL character")
            return nil
        }
        return text
    }

    /// The elements of an array of strings, which must not be empty.
    package func strings(_ key: String, _ node: TOMLNode, hint: String) -> [TOMLNode]? {
        let nodes = array(key, node, of: "strings")
        guard nodes?.isEmpty == true else { return nodes }
        refuse(key, at: node.position, "`\(key)` is empty", hint: hint)
        return nil
    }

    /// A path; a relative one refers to the folder of the file that contains it.
    package func path(_ key: String) -> String? {
        entry(key).flatMap { path(key, $0.node) }
    }

    /// A path; a relative one refers to the folder of the file that contains it.
    package func path(_ key: String, _ node: TOMLNode) -> String? {
        string(key, node).map { path($0, from: node) }
    }

    /// A path; a relative one refers to the folder of the file that contains it.
    package func path(_ text: String, from node: TOMLNode) -> String {
        text.hasPrefix("/") ? text : diagnostics.folder(of: node.position) + text
    }

    /// The contents of a file that a key names; `nil` if it cannot be read, which is reported at the value, with the hint.
    package func contents(of path: String, named key: String, _ node: TOMLNode, hint: String? = nil) -> [UInt8]? {
        diagnostics.add(namedFile: path)
        warnIfHidden(path, node)
        do throws(ConfigurationError) {
            return try ConfigurationFile.contents(of: path, mayWait: false)
        } catch {
            refuse(key, at: node.position, "`\(key)`: \(error)", hint: hint)
            return nil
        }
    }

    /// A finite number, or an integer.
    package func double(_ key: String) -> Double? {
        let value = entry(key).flatMap { expect($0.node.number, key, $0.node, "a number") }
        return limited(key, value, to: \.isFinite) { "(\($0)) has to be a finite number" }
    }

    /// A value that meets a condition; others are reported with the message.
    func limited<Value>(
        _ key: String, _ value: Value?, to isFine: (Value) -> Bool, _ message: (Value) -> String
    ) -> Value? {
        guard let value, !isFine(value) else { return value }
        refuse(key, message(value))
        return nil
    }

    package func number(_ key: String, in range: ClosedRange<Double>) -> Double? {
        limited(key, double(key), to: range.contains) {
            "(\($0)) is not between \(range.lowerBound) and \(range.upperBound)"
        }
    }

    /// A finite number within the range of Float.
    package func float(_ key: String) -> Float? {
        limited(key, double(key), to: { Float($0).isFinite }, { "(\($0)) is too large" }).map { Float($0) }
    }

    /// Seconds, to the nanosecond.
    package func seconds(_ key: String) -> Duration? {
        let value = limited(key, double(key), to: { $0 >= 0 }, { "(\($0)) is negative" })
        return limited(key, value, to: { $0 <= Self.longestSeconds }) {
            "(\($0)) is longer than \(Int(Self.longestSeconds)) s"
        }.map(Self.duration)
    }

    /// Seconds within bounds, to the nanosecond.
    package func seconds(_ key: String, in range: ClosedRange<Double>) -> Duration? {
        number(key, in: range).map(Self.duration)
    }

    /// Rounds to nanoseconds, so that 0.1 is exactly 100 ms.
    private static func duration(_ seconds: Double) -> Duration {
        .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    /// Seconds, above 0.
    package func positiveSeconds(_ key: String) -> Duration? {
        limited(key, seconds(key), to: { $0 > .zero }, { _ in "has to be longer than 0 s" })
    }

    package func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let node = entry(key)?.node, let number = expect(node.integer, key, node, "an integer") else {
            return nil
        }
        guard let value = Int(exactly: number), range.contains(value) else {
            refuse(key, "(\(number)) is not between \(range.lowerBound) and \(range.upperBound)")
            return nil
        }
        return value
    }

    package func array(_ key: String, of elements: String) -> [TOMLNode]? {
        entry(key).flatMap { array(key, $0.node, of: elements) }
    }

    package func array(_ key: String, _ node: TOMLNode, of elements: String) -> [TOMLNode]? {
        expect(node.items, key, node, "an array of \(elements)")
    }

    /// A reader for a nested table.
    package func table(_ key: String, _ node: TOMLNode, title: String, allowed: [String]) -> TableReader? {
        expect(node.entries, key, node, "a table").map {
            TableReader(title: title, position: node.position, entries: $0, allowed: allowed, diagnostics: diagnostics)
        }
    }

    /// The entries of a table with arbitrary keys.
    package func entries(_ key: String, _ node: TOMLNode, of values: String) -> [TOMLEntry]? {
        expect(node.entries, key, node, "a table of \(values)")
    }

    package func boolean(_ key: String) -> Bool? {
        entry(key).flatMap { expect($0.node.boolean, key, $0.node, "true or false") }
    }

    /// A boolean that must not be false.
    package func isTrue(_ entry: TOMLEntry) -> Bool {
        guard let value = boolean(entry.key) else { return false }
        if !value {
            refuse(
                entry.key, at: entry.node.position, "`\(entry.key)` can only be true", hint: "leave it out otherwise")
        }
        return value
    }

    /// A value of the expected type; `nil` for another one, which is reported.
    package func expect<Value>(_ value: Value?, _ key: String, _ node: TOMLNode, _ type: String) -> Value? {
        if value == nil { refuse(key, node, expected: type) }
        return value
    }
}

/// The value as one of a type; `nil` for other types.
extension TOMLNode {
    package var string: String? { if case .string(let text) = value { text } else { nil } }
    package var integer: Int64? { if case .integer(let number) = value { number } else { nil } }
    package var boolean: Bool? { if case .boolean(let isTrue) = value { isTrue } else { nil } }
    package var items: [TOMLNode]? { if case .array(let nodes) = value { nodes } else { nil } }
    package var entries: [TOMLEntry]? { if case .table(let entries) = value { entries } else { nil } }
    /// An integer is one as well.
    package var number: Double? {
        switch value {
        case .integer(let value): Double(value)
        case .float(let value): value
        default: nil
        }
    }
}

extension TableReader {
    package func choice<Word>(_ key: String, as type: Word.Type) -> Word?
    where Word: RawRepresentable<String> & CaseIterable {
        entry(key).flatMap { choice(key, $0.node, as: type) }
    }

    package func choice<Word>(_ key: String, _ node: TOMLNode, as type: Word.Type) -> Word?
    where Word: RawRepresentable<String> & CaseIterable {
        if let text = node.string, let word = type.init(rawValue: text) { return word }
        // The words are listed only if none of them matches.
        _ = word(key, node, among: type.allCases.map(\.rawValue))
        return nil
    }

    /// Several of a type's words, each once, in the order of the file.
    @inlinable
    package func choices<Word>(_ key: String, _ nodes: [TOMLNode], as type: Word.Type) -> [Word]
    where Word: RawRepresentable<String> & CaseIterable & Equatable {
        distinct(key, nodes) { choice(key, $0, as: type) }
    }

    /// A name that has to be defined elsewhere in the configuration.
    package func reference(_ key: String, _ node: TOMLNode, to what: String, among names: [String]) -> String? {
        guard let name = string(key, node) else { return nil }
        guard names.contains(name) else {
            refuse(
                key, at: node.position, "no \(what) \(Spelling.quoted(name))",
                hint: Spelling.hint(for: name, among: names))
            return nil
        }
        return name
    }

    /// Names that have to be defined elsewhere, each once.
    package func references(_ key: String, _ nodes: [TOMLNode], to what: String, among names: [String]) -> [String] {
        distinct(key, nodes) { reference(key, $0, to: what, among: names) }
    }

    package func word(_ key: String, _ node: TOMLNode, among words: [String]) -> String? {
        guard let text = expect(node.string, key, node, "a string") else { return nil }
        guard words.contains(text) else {
            refuse(
                key, at: node.position, "`\(key)` cannot be \(Spelling.quoted(text))",
                hint: Spelling.hint(for: text, among: words))
            return nil
        }
        return text
    }

    /// Several values, each once, in the order of the file.
    @inlinable  // Elements of an unknown type are compared by their names.
    package func distinct<Element: Equatable>(
        _ key: String, _ nodes: [TOMLNode], read: (TOMLNode) -> Element?
    ) -> [Element] {
        var elements: [Element] = []
        for node in nodes {
            guard let element = read(node) else { continue }
            if elements.contains(element) {
                refuse(key, at: node.position, "`\(key)` names this twice")
            } else {
                elements.append(element)
            }
        }
        return elements
    }
}
