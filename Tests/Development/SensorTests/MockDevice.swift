import Foundation

/// A device as sysfs and udev show it, to be written in umockdev's format.
struct MockDevice {
    /// What an input device says about an axis.
    struct Axis: CustomStringConvertible {
        var value = 0
        var minimum = -32768
        var maximum = 32767
        var resolution = 0

        /// Value, minimum, maximum, fuzz, flat, resolution, as mockdev wants it.
        var description: String { "\(value) \(minimum) \(maximum) 0 0 \(resolution)" }
    }

    /// Below `/sys`.
    var path: String
    /// Below `/dev`; empty for a device without a node.
    var node = ""
    var subsystem = "iio"
    /// Attributes by their names; a value is followed by the end of the line.
    var attributes: [String: String] = [:]
    /// Attributes that end as they are, or that are no text.
    var rawAttributes: [String: [UInt8]] = [:]
    var properties: [String: String] = [:]
    /// Symbolic links.
    var links: [String: String] = [:]
    var axes: [Int: Axis] = [:]
    /// A value cannot hold one of its own kind, but an array of them.
    private var parents: [MockDevice] = []

    /// The device above, where that is one of its own.
    var parent: MockDevice? {
        get { parents.first }
        set { parents = newValue.map { [$0] } ?? [] }
    }

    init(path: String, node: String = "") {
        self.path = path
        self.node = node
    }

    var description: String {
        var lines = ["P: \(path)"]
        if !node.isEmpty { lines.append("N: \(node)") }
        lines.append("E: SUBSYSTEM=\(subsystem)")
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) { lines.append("E: \(name)=\(value)") }
        for (name, value) in links.sorted(by: { $0.key < $1.key }) { lines.append("L: \(name)=\(value)") }
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            lines.append("A: \(name)=\(Self.escaped(Array(value.utf8) + [0x0A]))")
        }
        for (name, value) in rawAttributes.sorted(by: { $0.key < $1.key }) {
            lines.append("A: \(name)=\(Self.escaped(value))")
        }
        for (number, axis) in axes.sorted(by: { $0.key < $1.key }) { lines.append("X: \(number) \(axis)") }
        // umockdev reports the devices in their order here; the kernel begins with the parent.
        return (parent.map { $0.description + "\n" } ?? "") + lines.joined(separator: "\n") + "\n"
    }

    /// The device under another number, as after a re-plug.
    func renumbered(_ number: Int) -> MockDevice {
        var copy = self
        copy.path = (path as NSString).deletingLastPathComponent + "/iio:device\(number)"
        copy.node = "iio:device\(number)"
        copy.properties["DEVNAME"] = "/dev/iio:device\(number)"
        copy.properties["MINOR"] = String(number)
        copy.rawAttributes["dev"] = Array("243:\(number)".utf8)
        return copy
    }

    private static func escaped(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            switch byte {
            case 0x0A: "\\n"
            case 0x5C: "\\\\"
            case 0x20..<0x7F: String(Unicode.Scalar(byte))
            default: "\\" + String(repeating: "0", count: 3 - String(byte, radix: 8).count) + String(byte, radix: 8)
            }
        }.joined()
    }
}
