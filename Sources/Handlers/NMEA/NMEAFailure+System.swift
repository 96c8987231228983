import Glibc
import LinuxSystem

extension NMEAFailure {
    /// The failure of a call.
    ///
    /// - Parameters:
    ///   - address: Where sentences were to go.
    ///   - error: What the system says.
    init(_ address: String, _ error: SystemError) {
        let words: String
        switch error.code {
        case EAFNOSUPPORT: words = "this process may not use the network, or the machine lacks this kind of it"
        case EPERM: words = "this process may not send there: Operation not permitted"
        case EADDRINUSE: words = "somebody else has the port"
        case EADDRNOTAVAIL: words = "that is no address of this machine"
        case EACCES where error.call == "bind": words = "ports below 1024 are not for everybody"
        default: words = error.reason
        }
        self.init(reason: "\(address): \(words)", isPortTaken: error.code == EADDRINUSE)
    }

    /// Looks up where sentences go, or come from.
    ///
    /// - Parameters:
    ///   - settings: Whose host and port are meant.
    ///   - type: The type of the socket.
    ///   - isOwn: Whether it is an address of this machine.
    /// - Returns: The addresses, the likeliest first.
    /// - Throws: ``NMEAFailure`` when there is none.
    static func lookUp(
        _ settings: NMEASettings, _ type: __socket_type, isOwn: Bool
    ) throws(NMEAFailure) -> [NetworkAddress] {
        do throws(NetworkAddress.LookupError) {
            return try NetworkAddress.lookUp(host: settings.host, port: settings.port, type: type, isOwn: isOwn)
        } catch {
            throw NMEAFailure(reason: "\(settings.address): the name cannot be looked up: \(error.reason)")
        }
    }
}
