import Glibc
import LinuxSystem

/// Sends each sentence as a datagram: to one machine, to a network's broadcast address, or to a multicast group.
///
/// Each datagram has one sentence, because not every receiver reads more than one. No receiver is required.
final class NMEADatagrams: NMEATransport {
    private let address: String
    private let state: NMEAState
    /// The addresses that have not failed, the likeliest first.
    private var targets: ArraySlice<NetworkAddress>
    private var socket: Descriptor
    private(set) var isProven = false

    init(_ settings: NMEASettings, state: NMEAState) throws(NMEAFailure) {
        address = settings.address
        self.state = state
        targets = try NMEAFailure.resolve(settings, SOCK_DGRAM, isOwn: false)[...]
        while true {
            guard let target = targets.first else { throw NMEAFailure(reason: "\(address): it has no address") }
            do throws(NMEAFailure) {
                socket = try Self.makeSocket(target, address)
                return
            } catch {
                // The machine may lack the address family.
                targets = targets.dropFirst()
                if targets.isEmpty { throw error }
            }
        }
    }

    func send(_ sentences: [[UInt8]], at now: Int64) throws(NMEAFailure) {
        for sentence in sentences { try send(sentence) }
    }

    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64) {}

    func advance(to now: Int64) {}

    var nextTime: Int64? { nil }

    private func send(_ sentence: [UInt8]) throws(NMEAFailure) {
        while let target = targets.first {
            do throws(SystemError) {
                let raw = socket.raw
                try systemCall("sendto") {
                    target.withPointer { sendto(raw, sentence, sentence.count, Int32(MSG_NOSIGNAL), $0, $1) }
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
                    throw NMEAFailure(address, error)
                }
                targets = targets.dropFirst()
                socket = try Self.makeSocket(next, address)
            }
        }
    }

    private static func makeSocket(_ target: NetworkAddress, _ address: String) throws(NMEAFailure) -> Descriptor {
        try mapError({ NMEAFailure(address, $0) }) { () throws(SystemError) in
            let socket = try target.makeSocket(SOCK_DGRAM)
            // The kernel sends to a broadcast address only with this option.
            if target.family == AF_INET { try socket.setOption(SOL_SOCKET, SO_BROADCAST, 1) }
            return socket
        }
    }
}
