import Foundation
@_exported public import VirtualDevices

extension FifoTree {
    /// What a file of the tree says, without white space at its ends.
    package func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
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
