import Glibc

/// A folder that looks like a machine with IIO devices, whose nodes are FIFOs.
package final class BenchTree {
    /// The folder.
    package let root: String
    /// The devices, in the order in which they were asked for.
    package let devices: [BenchDevice]

    /// Makes the folder and the devices.
    ///
    /// - Parameter prefixes: What the attributes of each device begin with, such as `in_accel`.
    package init(_ prefixes: [String] = ["in_accel"]) {
        var template = Array("/tmp/binnacle-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fail("mkdtemp") }
        let root = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        for folder in ["/sys", "/sys/bus", "/sys/bus/iio", "/sys/bus/iio/devices", "/dev"] {
            mkdir(root + folder, 0o755)
        }
        self.root = root
        devices = prefixes.enumerated().map { BenchDevice(root: root, number: $0, prefix: $1) }
    }

    /// The node of the first device.
    package var node: Int32 { devices[0].node }

    /// Makes a FIFO that is open for reading and writing, so that nobody waits for the other end.
    ///
    /// - Returns: Its path and its descriptor.
    package func makeFIFO(_ name: String) -> (path: String, descriptor: Int32) {
        let path = root + "/" + name
        mkfifo(path, 0o600)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { fail(path) }
        return (path, descriptor)
    }

    /// Writes a file.
    ///
    /// - Returns: Its path.
    @discardableResult
    package func put(_ name: String, _ text: String) -> String {
        let path = root + "/" + name
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0, write(file, text, text.utf8.count) == text.utf8.count else { fail(path) }
        close(file)
        return path
    }

    /// Closes the nodes and removes the files.
    package func remove() {
        for device in devices { close(device.node) }
        guard root.hasPrefix("/tmp/binnacle-bench-") else { return }
        _ = Program(["/bin/rm", "-r", "--one-file-system", root]).wait()
    }

    /// Writes one scan of the first device, stamped now.
    ///
    /// - Returns: The stamp.
    @discardableResult
    package func writeScan(x: Int16, z: Int16) -> Int64 { devices[0].writeScan(x: x, y: 0, z: z) }

    /// How many bytes of the first device nobody has read yet.
    package var unreadCount: Int32 {
        var count: Int32 = 0
        _ = ioctl(node, UInt(FIONREAD), &count)
        return count
    }
}
