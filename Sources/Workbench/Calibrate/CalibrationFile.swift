import Binnacle
import Glibc
import LinuxSystem
import PlainText
package import Station
import Synchronization
import TableReading

/// A calibration file, which a configuration names: a table for each kind of sensor, and one for the noise of each.
package struct CalibrationFile: Sendable {
    private let path: String
    /// The target of a symbolic link, so that writing keeps the link.
    private let target: String
    /// The other tables, which are written back.
    private let kept: [(name: String, lines: [String])]
    /// The lines of the table that is replaced; `nil` where there is none.
    private let replaced: [String]?
    private let replacing: Bool
    /// What of a file that is replaced is lost: the names of tables that cannot be kept.
    package let lost: [String]
    /// Whether the existing file has a table of this name, which is replaced.
    package var replacesTable: Bool { replaced != nil }
    private let mode: mode_t?

    /// Held from reading a file to replacing it: between the two another thread's table would be lost.
    private static let writing = Mutex(())
    /// Readable by all users, like the configuration.
    private static let usualMode: mode_t = 0o644

    /// Reads an existing file; with `replacing` it may be a file that is no calibration.
    package init(path: String, for name: String, replacing: Bool) throws(StationError) {
        self.path = path
        self.replacing = replacing
        let status: stat
        do throws(SystemError) {
            status = try fileStatus(path)
        } catch {
            guard error.code == ENOENT else { throw Self.error(path, error) }
            if (try? fileStatus(path, followsLink: false)) != nil {
                throw .cannotCreate(
                    "\(path.printable): is a symbolic link to a file that does not exist: name that file")
            }
            target = path
            (kept, lost, replaced) = ([], [], nil)
            mode = nil
            try Self.requireFolder(of: path)
            return
        }
        let link = try? fileStatus(path, followsLink: false)
        guard link?.kind != S_IFLNK || link?.st_uid == geteuid() || link?.st_uid == 0 else {
            throw .cannotCreate(
                "\(path.printable): is another user's symbolic link, which is not written through: name the file that it leads to"
            )
        }
        target = resolvedPath(path) ?? path
        guard status.isRegular else {
            throw .cannotCreate("\(path.printable): is no regular file: name another one")
        }
        try Self.requireFolder(of: target)
        mode = status.st_mode & 0o777
        guard let (tables, unknown) = Self.tables(path), replacing || unknown.isEmpty else {
            guard replacing else {
                throw .cannotCreate(
                    "\(path.printable): is there already and is no calibration: name another file, or write over it with "
                        + "--force")
            }
            (kept, lost, replaced) = ([], ["all that it had"], nil)
            return
        }
        kept = tables.filter { $0.name != name }
        replaced = tables.first { $0.name == name }?.lines
        lost = unknown.filter { $0 != "[\(name)]" }
    }

    /// The absolute path of the file once it exists, because a configuration is in another folder.
    package var absolutePath: String { resolvedPath(path) ?? path }

    package var keptTables: [String] { kept.map(\.name) }

    /// The file with the new table.
    package func text(_ result: CalibrationResult) -> String {
        Self.text(kept + [(result.name, result.table)])
    }

    /// A file with only the new table.
    package static func text(_ result: CalibrationResult) -> String {
        text([(result.name, result.table)])
    }

    /// Of all tables, in the order of the file.
    private static let names: [String] = {
        let kinds = [SampleKind.magnetometer, .accelerometer, .gyroscope]
        return kinds.map(\.rawValue) + kinds.map { SensorCalibration.noiseKey(of: $0).table }
    }()

    private static func text(_ tables: [(name: String, lines: [String])]) -> String {
        let head = "# Written by binnacle calibrate; named by `calibration` in a [sensor.NAME] section.\n"
        let ordered = names.compactMap { name in tables.first { $0.name == name } }
        return head
            + ordered.map { "[\($0.name)]\n" + $0.lines.joined(separator: "\n") + "\n" }.joined(
                separator: "\n")
    }

    /// Replaces the file atomically, so that a failure keeps the old one; returns the file as it was just before.
    ///
    /// It is read again, because the samples took minutes in which another calibration may have written it.
    @discardableResult
    package func write(_ result: CalibrationResult) throws(StationError) -> CalibrationFile {
        try Self.writing.withLock { _ throws(StationError) in try writeAlone(result) }
    }

    private func writeAlone(_ result: CalibrationResult) throws(StationError) -> CalibrationFile {
        let current = try CalibrationFile(path: path, for: result.name, replacing: replacing)
        guard current.replaced == replaced else {
            throw .cannotCreate(
                "\(path.printable): its [\(result.name)] was changed while the samples were taken, and is kept: name another file"
            )
        }
        do throws(SystemError) {
            try SmallFile.replace(
                current.target, with: Array(current.text(result).utf8), mode: current.mode ?? Self.usualMode)
        } catch {
            throw Self.error(path, error)
        }
        return current
    }

    private static func requireFolder(of path: String) throws(StationError) {
        // Checked before the user spends a minute turning the device.
        try mapError({ error(path, $0) }) { () throws(SystemError) in try requireWritableFolder(of: path) }
    }

    private static func error(_ path: String, _ error: SystemError) -> StationError {
        StationError(.cannotCreate, "\(path.printable): cannot be written: \(error.reason)")
    }

    // MARK: - The existing file

    /// The tables that can be written back, and the names of other entries; `nil` for a file that is no TOML or cannot be read.
    private static func tables(_ path: String) -> (tables: [(name: String, lines: [String])], unknown: [String])? {
        guard let bytes = try? ConfigurationFile.contents(of: path, mayWait: false),
            let entries = try? TOMLDocument(parsing: bytes).entries()
        else { return nil }
        var tables: [(name: String, lines: [String])] = []
        var unknown: [String] = []
        for entry in entries {
            guard names.contains(entry.key), case .table(let inner) = entry.node.value else {
                unknown.append(entry.key.printable)
                continue
            }
            let lines = inner.compactMap { entry in entry.node.text.map { "\(entry.key) = \($0)" } }
            guard lines.count == inner.count else {
                unknown.append("[\(entry.key)]")
                continue
            }
            tables.append((entry.key, lines))
        }
        return (tables, unknown)
    }
}

extension TOMLNode {
    /// TOML; `nil` for types that do not occur in a calibration.
    fileprivate var text: String? {
        switch value {
        case .string(let text): return JSONObject.quoted(text)
        case .integer(let number): return String(number)
        case .float(let number): return number.isFinite ? "\(number)" : nil
        case .boolean(let flag): return String(flag)
        case .array(let nodes):
            let texts = nodes.compactMap(\.text)
            return texts.count == nodes.count ? "[\(texts.joined(separator: ", "))]" : nil
        case .table, .other: return nil
        }
    }
}
