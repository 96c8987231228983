import Foundation
import TestSupport
import Testing

/// A tree for `--root`, of mock devices: no udev, and a FIFO for a node.
final class FakeTree {
    private let tree: FifoTree
    private var nodes: [String: FifoNode] = [:]

    var root: String { tree.root }

    init() throws {
        tree = try FifoTree()
    }

    func add(_ device: MockDevice) throws {
        for (name, value) in device.attributes { try tree.set(path(name, of: device), value) }
        nodes[device.node] = try FifoNode(path: "\(root)/dev/\(device.node)")
    }

    func path(_ attribute: String, of device: MockDevice) -> String {
        "\(root)/sys/bus/iio/devices/\((device.path as NSString).lastPathComponent)/\(attribute)"
    }

    func attribute(_ name: String, of device: MockDevice) throws -> String {
        try tree.text(path(name, of: device))
    }

    /// Writes bytes as the hardware would, and waits until the program has read them.
    func write(_ bytes: [UInt8], to device: MockDevice) async throws {
        let node = try #require(nodes[device.node])
        try node.write(bytes)
        try await waitUntil("somebody reads \(device.node)") { node.unreadCount == 0 }
    }
}
