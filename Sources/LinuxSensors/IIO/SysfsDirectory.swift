import Glibc
import LinuxSystem
import PlainText

/// A folder of a device in sysfs, whose files are its attributes.
///
/// Every call may block for seconds, because a driver may have to wake its device: use it on a worker thread.
struct SysfsDirectory: Sendable, Equatable {
    let path: String

    /// An attribute is at most a page.
    private static let mostBytes = 4096

    /// The folder of all IIO devices and triggers; `/sys` is under `root`, which is empty for the machine's own.
    static func iioDevices(under root: String) -> SysfsDirectory { SysfsDirectory(path: root + "/sys/bus/iio/devices") }

    func directory(_ name: String) -> SysfsDirectory { SysfsDirectory(path: path + "/" + name) }

    func path(_ name: String) -> String { path + "/" + name }

    /// The folder with symbolic links resolved.
    var resolved: SysfsDirectory { resolvedPath(path).map(SysfsDirectory.init) ?? self }

    func has(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    var isGone: Bool { !has(".") }

    /// The sorted names in the folder; none when it cannot be read.
    func names() -> [String] {
        ((try? folderNames(path)) ?? []).sorted()
    }

    /// The subfolders whose names begin with a prefix, sorted by name.
    func directories(_ prefix: String) -> [SysfsDirectory] { names().filter { $0.hasPrefix(prefix) }.map(directory) }

    var parent: SysfsDirectory { SysfsDirectory(path: path.folder) }

    /// The other IIO devices of this one's chip, which have the same parent: some drivers make a device of each sensor of a chip.
    var siblings: [SysfsDirectory] {
        let own = resolved
        return own.parent.directories("iio:device").filter { $0 != own }
    }

    var name: String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// The text of an attribute, without surrounding blanks.
    func text(_ name: String) throws(SensorFailure) -> String {
        let path = path(name)
        return try mapError(SensorFailure.init) { () throws(SystemError) in
            let file = try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
            return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.mostBytes) {
                bytes throws(SystemError) in
                // One read returns the whole attribute; a second read may be an error.
                let count = try systemCall("read", path: path) { read(file.raw, bytes.baseAddress, bytes.count) }
                return String(decoding: bytes[..<count], as: UTF8.self).trimmingBlanks()
            }
        }
    }

    /// The text of an attribute; `nil` when it is missing or empty.
    func textIfPresent(_ name: String) throws(SensorFailure) -> String? {
        do throws(SensorFailure) {
            let text = try text(name)
            return text.isEmpty ? nil : text
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    /// The number in an attribute; `nil` when it is missing.
    func number(_ name: String) throws(SensorFailure) -> Double? {
        guard let text = try textIfPresent(name) else { return nil }
        guard let number = SysfsNumber.parse(text) else {
            throw SensorFailure(.description, "\(path(name)): '\(text.prefix(80))' is no number")
        }
        return number
    }

    /// A number of a channel, or else of all channels of its type, or of the device, and the path of its attribute.
    func number(
        _ name: String, of channel: String, _ type: String
    ) throws(SensorFailure) -> (value: Double, path: String)? {
        // The kernel names what all channels of a device share without `in`, as drivers of Chromebooks do with the scale.
        for attribute in [channel, type, "in"].map({ $0 + name }) + [String(name.dropFirst())] {
            if let number = try number(attribute) { return (number, path(attribute)) }
        }
        return nil
    }

    /// The number in an attribute that is required.
    func value(_ name: String) throws(SensorFailure) -> Double {
        if let number = try number(name) { return number }
        throw SensorFailure(
            isGone ? .removed : .inputOutput,
            "\(path(name)): " + (isGone ? "the device was removed" : "holds no value"))
    }

    /// Whether bits are set in an attribute of hexadecimal words, the lowest last.
    ///
    /// A word has as many bits as the kernel's `long`; the bits in question are in the lowest word.
    func bits(_ name: String, contain numbers: [Int32]) -> Bool {
        guard let last = (try? textIfPresent(name))?.split(separator: " ").last, let bits = UInt64(last, radix: 16)
        else { return false }
        return numbers.allSatisfy { bits >> UInt64($0) & 1 == 1 }
    }

    /// Makes a folder, and in configfs thereby an object, unless it exists.
    func makeDirectory(_ name: String) throws(SensorFailure) {
        let path = path(name)
        do throws(SystemError) {
            try systemCall("mkdir", path: path) { mkdir(path, 0o755) }
        } catch {
            guard error.code == EEXIST else { throw SensorFailure(error) }
        }
    }

    /// Writes an attribute unless it already has the value; returns the value afterwards, which a driver may have rounded.
    @discardableResult
    func ensure(_ name: String, is text: String) throws(SensorFailure) -> String {
        if try self.text(name) == text { return text }
        try write(text, to: name)
        return try self.text(name)
    }

    /// Writes an attribute with a single write.
    func write(_ text: String, to name: String) throws(SensorFailure) {
        let path = path(name)
        try mapError(SensorFailure.init) { () throws(SystemError) in
            let file = try Descriptor(path: path, flags: O_WRONLY | O_NONBLOCK | O_TRUNC)
            let bytes = Array(text.utf8)
            try systemCall("write", path: path) { Glibc.write(file.raw, bytes, bytes.count) }
        }
    }
}
