package import TableReading

/// Where the sections of a configuration stand, and their keys.
package struct ConfigurationPlaces: Sendable {
    private var positions: [String: SourcePosition] = [:]
    private var files: [String] = []
    private var fileCount = 0

    /// Creates places of nothing.
    package init() {}

    /// Notes the places of sections, as in `store` or `motion.moved`, and of their keys.
    ///
    /// `files` are the names of the files, and then those of the command line's settings.
    init(_ entries: [TOMLEntry], files: [String], settings: Int) {
        self.files = files
        fileCount = files.count - settings
        for entry in entries { add(entry, "", levels: 3) }
    }

    private mutating func add(_ entry: TOMLEntry, _ prefix: String, levels: Int) {
        let name = prefix + entry.key
        positions[name] = entry.node.isTable ? entry.node.position : entry.keyPosition
        guard levels > 1, case .table(let inner) = entry.node.value else { return }
        for entry in inner { add(entry, name + ".", levels: levels - 1) }
    }

    /// Whether the files have a section or a key of a name.
    package func has(_ name: String) -> Bool { positions[name] != nil }

    /// A warning at the first of some sections and keys that the files have; at their beginning when they have none.
    package func warning(at names: String..., message: String, hint: String? = nil) -> ConfigurationDiagnostic {
        let position = names.lazy.compactMap { positions[$0] }.first ?? SourcePosition(line: 1, column: 1)
        let path = files.indices.contains(position.file) ? files[position.file] : ""
        return ConfigurationDiagnostic(
            path: path, position: position,
            isSetting: files.indices.contains(position.file) && position.file >= fileCount, message: message,
            hint: hint, severity: .warning)
    }
}
