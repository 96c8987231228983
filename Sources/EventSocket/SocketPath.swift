import Glibc

/// The default paths of the socket.
package enum SocketPath {
    /// The socket of a service.
    package static let ofService = "/run/binnacle/binnacle.sock"

    /// The path on which a daemon listens.
    ///
    /// It is in the folder that systemd made for the service; else it is that of a service for root, and for other
    /// users one in the session's folder, where there is one.
    package static func forDaemon(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String {
        // systemd separates several folders with colons.
        if let folder = variable("RUNTIME_DIRECTORY")?.split(separator: ":").first { return folder + "/binnacle.sock" }
        return isRoot ? ofService : ofSession(variable) ?? ofService
    }

    /// The path to which a client connects: that of the service, or that of the user's own daemon where there is only
    /// that.
    package static func forClient(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable,
        exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        guard !isRoot, !exists(ofService), let own = ofSession(variable), exists(own) else { return ofService }
        return own
    }

    /// An environment variable; `nil` when it is empty or not set.
    package static func ownVariable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func ofSession(_ variable: (String) -> String?) -> String? {
        variable("XDG_RUNTIME_DIR").map { $0 + "/binnacle.sock" }
    }
}
