import Foundation
@_exported public import VirtualDevices

extension FifoTree {
    /// What a file of the tree says, without white space at its ends.
    package func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Adds three more channels to the buffer of a device; their names begin with the prefix, such as `in_magn`.
    ///
    /// `index` is the place of x in a scan; y and z follow. Without a scale there is no file for it.
    package func addAxes(
        _ number: Int, _ prefix: String, type: String = "le:s16/16>>0", index: Int, scale: String? = nil
    ) throws {
        for (axis, letter) in ["x", "y", "z"].enumerated() {
            let channel = "\(folder(number))/buffer0/\(prefix)_\(letter)"
            try set("\(channel)_en", "0")
            try set("\(channel)_type", type)
            try set("\(channel)_index", String(index + axis))
        }
        if let scale { try set("\(folder(number))/\(prefix)_scale", scale) }
    }

    /// Changes where in a scan the accelerometer of a device stands.
    package func moveAccelerometer(_ number: Int, toIndex index: Int) throws {
        for (axis, letter) in ["x", "y", "z"].enumerated() {
            try set("\(folder(number))/buffer0/in_accel_\(letter)_index", String(index + axis))
        }
    }

    /// A scan of six axes of 16 bits: the axes in the order of their indexes, four bytes that mean nothing, the stamp.
    package static func scan(_ axes: [Int16], timeNanoseconds: Int64) -> [UInt8] {
        axes.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) } + [0xAA, 0x55, 0xAA, 0x55]
            + withUnsafeBytes(of: timeNanoseconds.littleEndian, Array.init)
    }
}

extension FifoNode {
    /// How often this process has the node open.
    package var openings: Int {
        let folder = "/proc/self/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
        }
    }
}
