import Glibc
import LinuxSystem

/// Whether this process may use the network, as a service's unit may forbid.
package enum NetworkAccess {
    /// What to do where the network is closed to this process; `nil` when a failure has another cause.
    ///
    /// A sandbox answers with EAFNOSUPPORT (RestrictAddressFamilies=) or EPERM (IPAddressDeny=); the look-up of a name
    /// hides that, so it is tried again with a socket.
    package static func remedy(for code: Int32) -> String? {
        guard [EAFNOSUPPORT, EPERM].contains(code) || isClosed else { return nil }
        return
            "this process may not use the network; for the service, the drop-in binnacle-network.conf opens it: it is "
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
