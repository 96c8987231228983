import Handlers
import TableReading

/// The device whose name replaces `{device}` in the path of a calibration.
package enum CalibrationDevice: Sendable, Equatable {
    case named(String)
    /// The device of a recording that is not known yet; its calibrations are not read.
    case later
    /// No device, and the reason.
    case unknown(String)

    package static var machine: CalibrationDevice { .named(HostName.current) }

    private static let placeholder = "device"

    /// The device of recordings: the NAME of the folder `device=NAME` in their paths.
    package init(ofRecordings paths: [String]) {
        let names = Set(paths.map(Self.name))
        switch names.count {
        case 0: self = .machine
        case 1:
            if let name = names.first ?? nil {
                self = .named(name)
            } else {
                self = .unknown("the recording has no folder device=NAME in its path")
            }
        default: self = .unknown("the recordings are not all in one folder device=NAME")
        }
    }

    /// The device name in a path, also in folders above the working directory; with several `device=` folders, the last.
    private static func name(_ path: String) -> String? {
        let prefix = placeholder + "="
        let folder = DiagnosticCollector.absolute(path).split(separator: "/").dropLast().last { $0.hasPrefix(prefix) }
        // An empty name or dots would lead out of the folder with the calibrations.
        return folder.map { String($0.dropFirst(prefix.count)) }.flatMap { ["", ".", ".."].contains($0) ? nil : $0 }
    }

    /// The path under a key with the device's name inserted.
    ///
    /// An unusable path is reported. It is also `nil` for a device that is not known yet.
    func path(_ key: String, of section: TableReader) -> (path: String?, hasName: Bool)? {
        guard let node = section.entry(key)?.node, let text = section.string(key, node) else { return nil }
        let pieces = section.parsed(key, at: node.position) { () throws(TextSyntaxError) -> [String?] in
            try PlaceholderText.pieces(of: text, names: [Self.placeholder], text: Optional.some) { name in
                name == Self.placeholder ? .some(.none) : nil
            }
        }
        guard let pieces else { return nil }
        guard pieces.contains(nil) else {
            return (section.path(pieces.compactMap { $0 }.joined(), from: node), false)
        }
        switch self {
        case .named(let name):
            return (section.path(pieces.map { $0 ?? name }.joined(), from: node), true)
        case .later: return (nil, true)
        case .unknown(let reason):
            section.refuse(
                key, at: node.position, "`\(key)` has {\(Self.placeholder)}, and \(reason)",
                hint: "lay recordings out as device=NAME/FILE")
            return nil
        }
    }
}
