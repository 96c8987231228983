import Glibc
import LinuxSystem

/// The transport of messages, for the sender's thread; times are on CLOCK_MONOTONIC.
protocol NavigationTransport: AnyObject {
    /// Sends messages, each with its line end, without waiting; throws when the transport has to be opened again.
    func send(_ sentences: [[UInt8]], at now: Int64) throws(NavigationFailure)

    /// Handles the readiness of one of the transport's descriptors.
    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64)

    /// Does what is due; throws when the transport has to be opened again.
    func advance(to now: Int64) throws(NavigationFailure)

    var nextTime: Int64? { get }

    var isProven: Bool { get }

    /// Why it takes no receivers at present, although it goes on sending; `nil` while it does.
    var refusal: NavigationFailure? { get }
}

extension NavigationTransport {
    // What only listens to itself has nothing to answer and nothing due.
    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64) {}
    func advance(to now: Int64) throws(NavigationFailure) {}
    var nextTime: Int64? { nil }
    var refusal: NavigationFailure? { nil }
}

/// Why messages cannot be sent, as text.
struct NavigationFailure: Error {
    let reason: String
    /// Whether another process or handler uses the port.
    var isPortTaken = false
}

extension NavigationFailure {
    init(_ address: String, _ error: SystemError) {
        let words: String
        switch error.code {
        case EAFNOSUPPORT, EPERM:
            words = [error.reason, NetworkAccess.remedy(for: error.code)].compactMap { $0 }.joined(separator: ": ")
        case EADDRINUSE: words = "another program or handler has the port"
        case EADDRNOTAVAIL: words = "that is no address of this machine"
        case EACCES where error.call == "bind": words = "ports below 1024 need a privilege"
        default: words = error.reason
        }
        self.init(reason: "\(address): \(words)", isPortTaken: error.code == EADDRINUSE)
    }

    /// Looks up the addresses of the settings' host, the likeliest first; `isOwn` for an address on which to listen.
    static func resolve(
        _ settings: NavigationSettings, _ type: __socket_type, isOwn: Bool
    ) throws(NavigationFailure) -> [NetworkAddress] {
        let explain = { (error: NetworkAddress.LookupError) in
            let reason = [error.reason, NetworkAccess.remedy(for: 0)].compactMap { $0 }.joined(separator: ": ")
            return NavigationFailure(reason: "\(settings.address): the name cannot be looked up: \(reason)")
        }
        return try mapError(explain) { () throws(NetworkAddress.LookupError) in
            try NetworkAddress.resolve(host: settings.host, port: settings.port, type: type, isOwn: isOwn)
        }
    }
}
