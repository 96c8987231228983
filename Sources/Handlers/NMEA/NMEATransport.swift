import Glibc
import LinuxSystem

/// A way on which sentences go out, for the thread of a sender.
protocol NMEATransport: AnyObject {
    /// Sends sentences as far as that goes without waiting.
    ///
    /// - Parameters:
    ///   - sentences: The bytes of each, with its line end.
    ///   - now: The time, on CLOCK_MONOTONIC.
    /// - Throws: ``NMEAFailure`` when nothing can be sent on this way any more.
    func send(_ sentences: [[UInt8]], at now: Int64) throws(NMEAFailure)

    /// Does what a descriptor of it is ready for.
    ///
    /// - Parameters:
    ///   - token: The descriptor's number.
    ///   - isHungUp: Whether its other end is gone.
    ///   - now: The time.
    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64)

    /// Does what the time has come for.
    func advance(to now: Int64)

    /// When ``advance(to:)`` has something to do; `nil` is never.
    var nextTime: Int64? { get }

    /// Whether it is known to work.
    var isProven: Bool { get }
}

/// Why sentences cannot be sent, in words for people.
struct NMEAFailure: Error, Equatable {
    /// The reason, with the address.
    let reason: String
    /// Whether somebody else has the port.
    var isPortTaken = false
}

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
