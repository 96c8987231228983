package import Glibc
import LinuxSystem
import PlainText

/// Warnings about files that a configuration names.
///
/// They are no errors, because a missing file may be created before it is needed.
extension TableReader {
    /// Folders that systemd creates when the service starts.
    private static let serviceFolders = ["/run/binnacle", "/var/lib/binnacle", "/var/log/binnacle"]
    /// Folders that the service's sandbox hides.
    private static let hiddenFolders = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"]

    /// The path of a file that is read on use, with a warning if it is missing; it may be an entry of an archive.
    package func file(_ key: String, mayBeEntry: Bool = false) -> String? {
        guard let node = entry(key)?.node, let file = path(key, node) else { return nil }
        diagnostics.add(namedFile: file)
        warnIfHidden(file, node)
        do throws(SystemError) {
            let status = try fileStatus(file)
            if !status.isRegular {
                warn(
                    at: node.position,
                    "\(Spelling.quoted(path: file)) is a \(status.isFolder ? "directory" : "pipe or a device")")
            }
            warnIfDenied(file, node, status, needing: 0o4)
        } catch {
            // Unless it is missing, another account may be able to read it. The entries of a file are found when it is opened.
            if error.isMissing, !mayBeEntry || error.code != ENOTDIR {
                warn(at: node.position, "there is no file \(Spelling.quoted(path: file))")
            }
        }
        return file
    }

    /// Warns if a program is missing or cannot be run.
    package func warnIfNoProgram(_ path: String, _ node: TOMLNode) {
        warnIfHidden(path, node)
        do throws(SystemError) {
            let status = try fileStatus(path)
            if status.isFolder {
                warn(at: node.position, "\(Spelling.quoted(path: path)) is a directory and no program")
            } else if status.st_mode & 0o111 == 0 {
                warn(at: node.position, "\(Spelling.quoted(path: path)) cannot be run", hint: "chmod +x \(path)")
            } else {
                warnIfDenied(path, node, status, needing: 0o1)
            }
        } catch {
            guard error.isMissing else { return }
            warn(
                at: node.position, "there is no program \(Spelling.quoted(path: path))",
                hint: "until there is, each event for it fails")
        }
    }

    /// In the service's configuration, warns if the service's account lacks a right, given as a bit of an octal digit.
    private func warnIfDenied(_ path: String, _ node: TOMLNode, _ status: stat, needing right: mode_t) {
        guard diagnostics.isOfService, let (message, hint) = Self.denial(path, status, needing: right) else { return }
        warn(at: node.position, message, hint: hint)
    }

    /// The words for a right that the service's account lacks, given as an octal digit; `nil` where it has it, or does not exist.
    package static func denial(_ path: String, _ status: stat, needing right: mode_t) -> (
        message: String, hint: String
    )? {
        guard let account = AccountDatabase.user("binnacle") else { return nil }
        let isOfGroup = status.st_gid == AccountDatabase.group("binnacle")
        let shift: mode_t = status.st_uid == account ? 6 : isOfGroup ? 3 : 0
        guard status.st_mode >> shift & right != right else { return nil }
        return (
            "the service's account may not \(right == 0o1 ? "run" : "read") \(Spelling.quoted(path: path))",
            "chgrp binnacle \(path) && chmod g+\(right == 0o4 ? "r" : "rx") \(path)"
        )
    }

    /// Warns if a file cannot be created, or exists and is not of `type` (such as `S_IFREG`).
    ///
    /// With `makesFolder` its folder is created when it is missing.
    package func warnIfUnusable(
        _ path: String, _ node: TOMLNode, type: (bits: mode_t, name: String), makesFolder: Bool = false
    ) {
        warnIfHidden(path, node)
        if let status = try? fileStatus(path), status.kind != type.bits {
            return warn(
                at: node.position,
                "\(Spelling.quoted(path: path)) is \(status.isFolder ? "a directory" : "no \(type.name)")",
                hint: status.isFolder ? "the path of a \(type.name) in it" : "it is left alone: choose another path")
        }
        var folder = path.folder
        if makesFolder, (try? fileStatus(folder)) == nil { folder = folder.folder }
        guard !Self.serviceFolders.contains(where: { folder == $0 || folder.hasPrefix($0 + "/") }) else { return }
        let status: stat
        do throws(SystemError) {
            status = try fileStatus(folder)
        } catch {
            guard error.isMissing else { return }
            return warn(
                at: node.position, "there is no folder \(Spelling.quoted(path: folder))",
                hint: "make it, for the account that Binnacle runs as, or choose another path")
        }
        guard status.isFolder else {
            return warn(at: node.position, "\(Spelling.quoted(path: folder)) is no folder", hint: "choose another path")
        }
        do throws(SystemError) {
            try systemCall("access") { access(folder, W_OK) }
        } catch {
            guard error.code == EROFS || Self.isForeign(status) else { return }
            warn(
                at: node.position, "no file can be made in \(Spelling.quoted(path: folder)): \(error.reason)",
                hint: "choose another path")
        }
    }

    /// In the service's configuration, warns of a file in a folder that its sandbox hides.
    func warnIfHidden(_ path: String, _ node: TOMLNode) {
        guard diagnostics.isOfService, let folder = Self.hiddenFolders.first(where: { path.hasPrefix($0 + "/") }) else {
            return
        }
        warn(
            at: node.position,
            "the service cannot look into \(folder)\(folder.hasSuffix("tmp") ? ": it has one of its own" : "")",
            hint: "put the file elsewhere: programs into /usr/local/bin, data into /var/lib/binnacle")
    }

    /// Whether a folder is another account's, so that this process cannot judge what the service may do there.
    private static func isForeign(_ status: stat) -> Bool {
        geteuid() != 0 && status.st_uid != AccountDatabase.user("binnacle")
    }
}
