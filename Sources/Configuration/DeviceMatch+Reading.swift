import LinuxSensors
import TableReading

extension DeviceMatch {
    /// The table's keys.
    static let keys = ["name", "label", "location", "path", "property"]

    /// Reads a match; `nil` when it cannot be used, which is then reported.
    init?(reading node: TOMLNode, of section: TableReader) {
        guard let table = section.table("match", node, title: "match", allowed: Self.keys) else { return nil }
        self.init()
        name = table.string("name")
        label = table.string("label")
        location = table.string("location")
        path = table.string("path")
        if let entry = table.entry("property") {
            guard let entries = table.entries("property", entry.node, of: "udev properties") else { return nil }
            for property in entries {
                properties[property.key] = table.string(property.key, property.node, mayBeEmpty: true)
            }
        }
        guard isEmpty else { return }
        if table.hasOnlyEmptyTables {
            section.refuse(
                "match", at: node.position, "`match` is empty: any device would do", hint: "name at least one key")
        }
        return nil
    }
}
