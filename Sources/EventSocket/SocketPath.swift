import Glibc

/// The default paths of the socket.
package enum SocketPath {
    /// The socket of a service.
    package static let ofService = "/run/binnacle/binnacle.sock"

    /// The path on which a daemon listens.
    ///
    /// It is in the folder that systemd made for the service; else it is that of a service for root, and for other
    /// users one in a folder of their own.
    package static func forDaemon(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String {
        withoutConfiguration(isRoot: isRoot, variable: variable) ?? ofService
    }

    /// The path on which a daemon without a configuration listens: that of systemd's folder, or one of the user's own;
    /// `nil` for root, whose socket would be the service's.
    package static func withoutConfiguration(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String? {
        ofService(variable) ?? (isRoot ? nil : ofUser(variable))
    }

    /// The path to which a client connects: that of the user's own daemon, or else that of the service.
    ///
    /// It is the first on which one listens; without any, that of the service where it is installed. Root has no daemon
    /// beside the service.
    package static func forClient(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable,
        answers: (String) -> Bool = Self.isAnswered, exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        guard !isRoot, let own = ofUser(variable) else { return ofService }
        if answers(own) { return own }
        // A service that is stopped has no folder.
        return exists(String(ofService.prefix(upTo: ofService.lastIndex(of: "/") ?? ofService.startIndex)))
            ? ofService : own
    }

    /// Whether a daemon listens on a path; it may still refuse a request.
    package static func isAnswered(_ path: String) -> Bool {
        do throws(EventSubscriptionError) {
            _ = try SocketConnection(path: path)
            return true
        } catch {
            return error != .notRunning(path: path)
        }
    }

    /// The folder of the user's own state, such as the store; `nil` when the environment names none.
    package static func ownStateFolder(_ variable: (String) -> String? = Self.ownVariable) -> String? {
        (variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }).map { $0 + "/binnacle" }
    }

    /// An environment variable; `nil` when it is empty or not set.
    package static func ownVariable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// In the folder that systemd made; it separates several with colons.
    private static func ofService(_ variable: (String) -> String?) -> String? {
        variable("RUNTIME_DIRECTORY")?.split(separator: ":").first.map { $0 + "/binnacle.sock" }
    }

    /// In the session's folder, or without a session, as with su, beside the user's store.
    private static func ofUser(_ variable: (String) -> String?) -> String? {
        (variable("XDG_RUNTIME_DIR") ?? ownStateFolder(variable)).map { $0 + "/binnacle.sock" }
    }
}
