import Glibc
import LinuxSystem
import PlainText

package enum SocketPath {
    package static let ofService = "/run/binnacle/binnacle.sock"

    /// A path for a socket or a store, by its ending, of another daemon of the same user, in messages: in root's folder, in the
    /// user's own, or, where none can have a socket, in that of all users.
    package static func example(
        _ ending: String = ".sock", isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String {
        guard !isRoot else { return "/run/binnacle-own" + ending }
        if let path = ofUser(variable) {
            let own = String(path.dropLast(".sock".count)) + "-own"
            if UnixAddress(path: own + ".sock") != nil { return own + ending }
        }
        return "/tmp/binnacle-\(geteuid())-own" + ending
    }

    /// The path on which a daemon listens: in the folder that systemd made for the service, or else the service's path for root,
    /// and for other users one in their own folder.
    package static func forDaemon(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String {
        withoutConfiguration(isRoot: isRoot, variable: variable) ?? ofService
    }

    /// The path for a daemon without a configuration: in systemd's folder, or the user's own; `nil` for root, whose socket would
    /// be the service's.
    package static func withoutConfiguration(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String? {
        ofService(variable) ?? (isRoot ? nil : ofUser(variable))
    }

    /// The path to which a client connects: that of the user's own daemon, or else the service's.
    ///
    /// It is the first on which a daemon listens, or without any the service's, if it is installed. Root has no daemon besides
    /// the service.
    package static func forClient(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable,
        answers: (String) -> Bool = Self.isAnswered, exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        guard !isRoot, let own = ofUser(variable) else { return ofService }
        if answers(own) { return own }
        // The folder of a stopped service does not exist.
        return exists(ofService.folder) ? ofService : own
    }

    /// Whether a daemon listens on a path: it accepts a connection, which it may still refuse, or has no room for it now.
    package static func isAnswered(_ path: String) -> Bool {
        switch failure(path) {
        case nil, .busy?: true
        default: false
        }
    }

    /// Why a client cannot connect to a path; `nil` when it can.
    package static func failure(_ path: String) -> EventSubscriptionError? {
        do throws(EventSubscriptionError) {
            _ = try SocketConnection(path: path)
            return nil
        } catch {
            return error
        }
    }

    /// The folder of the user's own state, such as the store; `nil` when the environment names none.
    package static func ownStateFolder(_ variable: (String) -> String? = Self.ownVariable) -> String? {
        (wholePath("XDG_STATE_HOME", variable) ?? wholePath("HOME", variable).map { $0 + "/.local/state" })
            .map { $0 + "/binnacle" }
    }

    /// The path in a variable; `nil` for a relative one, which the XDG Base Directory Specification says to ignore.
    private static func wholePath(_ name: String, _ variable: (String) -> String?) -> String? {
        variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Why the session's folder that the environment names is not used, as after su, which keeps another account's; `nil` when it
    /// is, or there is none.
    package static func ignoredSession(_ variable: (String) -> String? = Self.ownVariable) -> String? {
        guard let folder = variable("XDG_RUNTIME_DIR") else { return nil }
        if folder.hasPrefix("/"), let status = try? fileStatus(folder), status.isFolder, status.st_uid == geteuid() {
            return nil
        }
        return "XDG_RUNTIME_DIR (\(folder.printable)) is no folder of this account by its whole path"
    }

    /// An environment variable; `nil` when it is empty or unset.
    package static func ownVariable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The path in the folder that systemd made; several folders are separated by colons.
    private static func ofService(_ variable: (String) -> String?) -> String? {
        variable("RUNTIME_DIRECTORY")?.split(separator: ":").first.map { $0 + "/binnacle.sock" }
    }

    /// The path in the session's folder, or without a session of this account, as with su, beside the user's store.
    private static func ofUser(_ variable: (String) -> String?) -> String? {
        let session = ignoredSession(variable) == nil ? variable("XDG_RUNTIME_DIR") : nil
        return (session ?? ownStateFolder(variable)).map { $0 + "/binnacle.sock" }
    }
}
