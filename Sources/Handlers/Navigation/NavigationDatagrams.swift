import Glibc
import LinuxSystem

/// Sends each message as a datagram: to one machine, to a network's broadcast address, or to a multicast group.
///
/// Each datagram has one message, because not every receiver reads more than one. No receiver is required.
final class NavigationDatagrams: NavigationTransport {
    private let address: String
    private let state: NavigationState
    /// The addresses that have not failed, the likeliest first.
    private var targets: ArraySlice<NetworkAddress>
    private var socket: Descriptor
    private(set) var isProven = false

    init(_ settings: NavigationSettings, state: NavigationState) throws(NavigationFailure) {
        address = settings.address
        self.state = state
        targets = try NavigationFailure.resolve(settings, SOCK_DGRAM, isOwn: false)[...]
        while true {
            guard let target = targets.first else { throw NavigationFailure(reason: "\(address): it has no address") }
            do throws(NavigationFailure) {
                socket = try Self.makeSocket(target, address)
                return
            } catch {
                // The machine may lack the address family.
                targets = targets.dropFirst()
                if targets.isEmpty { throw error }
            }
        }
    }

    func send(_ messages: [[UInt8]], at now: Int64) throws(NavigationFailure) {
        for message in messages { try send(message) }
    }

    private func send(_ message: [UInt8]) throws(NavigationFailure) {
        while let target = targets.first {
            do throws(SystemError) {
                let raw = socket.raw
                try systemCall("sendto") {
                    target.withPointer { sendto(raw, message, message.count, Int32(MSG_NOSIGNAL), $0, $1) }
                }
                isProven = true
                state.update { $0.sentCount += 1 }
                return
            } catch {
                // The heading is sent again after the next interval.
                if [EAGAIN, ENOBUFS].contains(error.code) { return }
                let isElsewhere = [ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL].contains(error.code)
                // The first address of a name may be an IPv6 address without a route.
                guard isElsewhere, let next = targets.dropFirst().first else {
                    throw NavigationFailure(address, error)
                }
                targets = targets.dropFirst()
                socket = try Self.makeSocket(next, address)
            }
        }
    }

    private static func makeSocket(_ target: NetworkAddress, _ address: String) throws(NavigationFailure) -> Descriptor
    {
        try mapError({ NavigationFailure(address, $0) }) { () throws(SystemError) in
            let socket = try target.makeSocket(SOCK_DGRAM)
            // The kernel sends to a broadcast address only with this option.
            if target.family == AF_INET { try socket.setOption(SOL_SOCKET, SO_BROADCAST, 1) }
            return socket
        }
    }
}
