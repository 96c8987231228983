import Glibc

/// Where the socket is when nobody says.
package enum SocketPath {
    /// Where a service's socket is.
    package static let ofService = "/run/binnacle/binnacle.sock"

    /// The path on which a daemon listens.
    ///
    /// - Parameters:
    ///   - isRoot: Whether it runs as root.
    ///   - variable: A variable of its environment, by name.
    /// - Returns: The socket in the folder that systemd made for the service; else that of a service for root, and for
    ///   others one in the folder of the person's session, where there is one.
    package static func forDaemon(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable
    ) -> String {
        // systemd separates several folders with colons.
        if let folder = variable("RUNTIME_DIRECTORY")?.split(separator: ":").first { return folder + "/binnacle.sock" }
        return isRoot ? ofService : ofSession(variable) ?? ofService
    }

    /// The path at which a daemon is looked for.
    ///
    /// - Parameters:
    ///   - isRoot: Whether whoever looks is root.
    ///   - variable: A variable of the environment, by name.
    ///   - exists: Whether there is a file of that path.
    /// - Returns: The socket of the service; that of the person's own daemon where there is only that.
    package static func forClient(
        isRoot: Bool = geteuid() == 0, variable: (String) -> String? = Self.ownVariable,
        exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        guard !isRoot, !exists(ofService), let own = ofSession(variable), exists(own) else { return ofService }
        return own
    }

    /// A variable of this process; an empty one counts as none.
    package static func ownVariable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func ofSession(_ variable: (String) -> String?) -> String? {
        variable("XDG_RUNTIME_DIR").map { $0 + "/binnacle.sock" }
    }
}
