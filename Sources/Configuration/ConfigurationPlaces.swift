package import TableReading

/// Positions of sections and keys in the files.
package struct ConfigurationPlaces: Sendable {
    private var positions: [String: SourcePosition] = [:]
    private var files: [String] = []
    private var fileCount = 0

    package init() {}

    /// Records the positions of sections, such as `store` or `motion.moved`, and of their keys.
    ///
    /// `files` names the files, followed by the settings of the command line.
    init(_ entries: [TOMLEntry], files: [String], settings: Int) {
        self.files = files
        fileCount = files.count - settings
        for entry in entries { add(entry, "", levels: 3) }
    }

    private mutating func add(_ entry: TOMLEntry, _ prefix: String, levels: Int) {
        let name = prefix + entry.key
        positions[name] = entry.node.isTable ? entry.node.position : entry.keyPosition
        guard levels > 1, let inner = entry.node.entries else { return }
        for entry in inner { add(entry, name + ".", levels: levels - 1) }
    }

    /// Whether the files contain a section or key.
    package func has(_ name: String) -> Bool { positions[name] != nil }

    /// A warning at the first of the names that the files contain, else at the beginning.
    package func warning(at names: String..., message: String, hint: String? = nil) -> ConfigurationDiagnostic {
        let position = names.lazy.compactMap { positions[$0] }.first ?? SourcePosition(line: 1, column: 1)
        let path = files.indices.contains(position.file) ? files[position.file] : ""
        return ConfigurationDiagnostic(
            path: path, position: position,
            isSetting: files.indices.contains(position.file) && position.file >= fileCount, message: message,
            hint: hint, severity: .warning)
    }
}
