import Glibc
import LinuxSystem

/// Whether this process may use the network, which a service's unit may forbid.
package enum NetworkAccess {
    /// The remedy if this process is denied the network; `nil` when a failure has another cause.
    ///
    /// A sandbox returns EAFNOSUPPORT (RestrictAddressFamilies=) or EPERM (IPAddressDeny=); name resolution hides this, so the
    /// check opens a socket.
    package static func remedy(for code: Int32) -> String? {
        guard [EAFNOSUPPORT, EPERM].contains(code) || isClosed else { return nil }
        // A packet filter returns EPERM as well.
        let other = code == EPERM ? "a firewall of this machine refuses it, or " : ""
        return other
            + "this process may not use the network; for the service, the drop-in binnacle-network.conf opens it: it is "
            + "installed beside the examples and goes to /etc/systemd/system/binnacle.service.d"
    }

    private static var isClosed: Bool {
        for family in [AF_INET, AF_INET6] {
            do throws(SystemError) {
                let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
                _ = Descriptor(owning: try systemCall("socket") { socket(family, type, 0) })
                return false
            } catch {
                guard error.code == EAFNOSUPPORT else { return false }
            }
        }
        return true
    }
}
