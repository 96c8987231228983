import Glibc

/// The default paths of the socket.
package enum SocketPath {
    /// The socket of a service.
    package static let ofService = "/run/binnacle/binnacle.sock"

    /// A path for a socket or a store, by its ending, of another daemon of the same user, in messages: in root's folder, or in the
    /// user's own.
    package static func example(
        _ ending: String = ".sock", isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String {
        let own = isRoot ? nil : ofUser(variable)
        return (own.map { String($0.dropLast(".sock".count)) } ?? "/run/binnacle") + "-own" + ending
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
        return exists(String(ofService.prefix(upTo: ofService.lastIndex(of: "/") ?? ofService.startIndex)))
            ? ofService : own
    }

    /// Whether a daemon listens on a path; it may still refuse a request.
    package static func isAnswered(_ path: String) -> Bool { failure(path) != .notRunning(path: path) }

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
        (variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }).map { $0 + "/binnacle" }
    }

    /// An environment variable; `nil` when it is empty or unset.
    package static func ownVariable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The path in the folder that systemd made; several folders are separated by colons.
    private static func ofService(_ variable: (String) -> String?) -> String? {
        variable("RUNTIME_DIRECTORY")?.split(separator: ":").first.map { $0 + "/binnacle.sock" }
    }

    /// The path in the session's folder, or without a session, as with su, beside the user's store.
    private static func ofUser(_ variable: (String) -> String?) -> String? {
        (variable("XDG_RUNTIME_DIR") ?? ownStateFolder(variable)).map { $0 + "/binnacle.sock" }
    }
}
