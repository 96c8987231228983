import Glibc
import LinuxSystem
package import VirtualDevices

/// A tree of devices under measurement, each with three axes of 16 bits and a stamp, and one scan a wake-up.
package final class BenchTree {
    private let tree: FifoTree
    /// The devices' nodes, in the order in which they were asked for.
    package let devices: [FifoNode]

    /// Makes the tree; a device's prefix is what its attributes begin with, such as `in_accel`.
    package init(_ prefixes: [String] = ["in_accel"]) {
        do {
            let tree = try FifoTree()
            devices = try prefixes.enumerated().compactMap { number, prefix in
                let name = prefix == "in_accel" ? "accel_3d" : "magn_3d"
                return try tree.addDevice(number, name: name, prefix: prefix, values: nil)
            }
            self.tree = tree
        } catch {
            fail("\(error)")
        }
        for device in devices {
            // A second of the fastest device has room (F_SETPIPE_SZ), and a full pipe blocks: so a busy machine shows as
            // latency, and not as lost scans.
            _ = fcntl(device.raw, 1031, 1 << 20)
            _ = fcntl(device.raw, F_SETFL, O_RDWR)
        }
    }

    /// The folder; it is removed together with this object.
    package var root: String { tree.root }
    /// The descriptor of the first device.
    package var node: Int32 { devices[0].raw }
    /// How many bytes of the first device the program has not read yet.
    package var unreadCount: Int { devices[0].unreadCount }

    /// Makes a FIFO that is open for reading and writing, so that neither end waits in open(2) for the other.
    package func makeFIFO(_ name: String) -> (path: String, descriptor: Int32) {
        let path = root + "/" + name
        mkfifo(path, 0o600)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { fail(path) }
        return (path, descriptor)
    }

    /// Writes a file; returns its path.
    @discardableResult
    package func put(_ name: String, _ text: String) -> String {
        let path = root + "/" + name
        do {
            try tree.set(path, text)
        } catch {
            fail("\(error)")
        }
        return path
    }

    /// The rate that a device was asked for, in Hz.
    package func rateHz(of number: Int) -> Double {
        let path = tree.folder(number) + "/sampling_frequency"
        guard let rate = SmallFile.kernelText(path).flatMap({ Double($0) }) else { fail(path) }
        return rate
    }

    /// Ends the use of the tree: an object that is used no more may go at any time.
    package func remove() {
        withExtendedLifetime(self) {}
    }

    /// Writes one scan of the first device, stamped now; returns the stamp.
    @discardableResult
    package func writeScan(x: Int16, z: Int16) -> Int64 { devices[0].writeScan(x: x, y: 0, z: z) }
}

extension FifoNode {
    /// Writes one scan, stamped now; returns the stamp.
    @discardableResult
    package func writeScan(x: Int16, y: Int16, z: Int16) -> Int64 {
        let time = monotonic()
        var scan = (x, y, z, Int16(0x55AA), time)
        guard Glibc.write(raw, &scan, 16) == 16 else { fail("write") }
        return time
    }

    /// Writes several scans at once, as a device with a watermark does; every other one may have another value.
    package func writeScans(_ count: Int, z: Int16, other: Int16? = nil, last: Int64, intervalNanoseconds: Int64) {
        let scans = (1...count).map { number in
            (
                Int16(0), Int16(0), number.isMultiple(of: 2) ? other ?? z : z, Int16(0x55AA),
                last - Int64(count - number) * intervalNanoseconds
            )
        }
        let written = scans.withUnsafeBytes { Glibc.write(raw, $0.baseAddress, $0.count) }
        guard written == count * 16 else { fail("write") }
    }
}
