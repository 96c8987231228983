import Foundation
import TestSupport
import Testing

/// A folder with `sys/bus/iio/devices` and `dev`, as `--root` takes it: no udev, and a FIFO for a node.
final class FakeTree {
    let root: String
    private var writers: [String: Int32] = [:]

    init() throws {
        root = NSTemporaryDirectory() + "binnacle-tree-" + UUID().uuidString
        for folder in ["sys/bus/iio/devices", "dev"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
        }
    }

    deinit {
        for writer in writers.values { close(writer) }
        try? FileManager.default.removeItem(atPath: root)
    }

    func add(_ device: MockDevice) throws {
        let folder = path("", of: device)
        for (name, value) in device.attributes {
            let file = URL(fileURLWithPath: folder + name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data((value + "\n").utf8).write(to: file)
        }
        let node = "\(root)/dev/\(device.node)"
        try #require(mkfifo(node, 0o600) == 0)
        // Open on both sides, so that neither waits for the other.
        writers[device.node] = open(node, O_RDWR | O_NONBLOCK)
    }

    func path(_ attribute: String, of device: MockDevice) -> String {
        "\(root)/sys/bus/iio/devices/\((device.path as NSString).lastPathComponent)/\(attribute)"
    }

    func attribute(_ name: String, of device: MockDevice) throws -> String {
        try String(contentsOfFile: path(name, of: device), encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    func write(_ bytes: [UInt8], to device: MockDevice) async throws {
        let writer = try #require(writers[device.node])
        let count = bytes.withUnsafeBytes { Foundation.write(writer, $0.baseAddress, $0.count) }
        #expect(count == bytes.count)
        // Until it was read.
        try await eventually("somebody reads \(device.node)") {
            var left: Int32 = 0
            return ioctl(writer, UInt(FIONREAD), &left) == 0 && left == 0
        }
    }
}
