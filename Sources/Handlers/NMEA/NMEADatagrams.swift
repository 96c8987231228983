import Glibc
import LinuxSystem

/// Sends each sentence as a datagram: to one machine, to a network's broadcast address, or to a multicast group.
///
/// A receiver need not exist. One sentence a datagram, because not every receiver looks behind the first.
final class NMEADatagrams: NMEATransport {
    private let address: String
    private let state: NMEAState
    /// Where the host may be, the likeliest first.
    private var targets: ArraySlice<NetworkAddress>
    private var socket: Descriptor
    private(set) var isProven = false

    /// Looks the host up, and makes a socket.
    ///
    /// - Throws: ``NMEAFailure`` when there is no such host, or no socket for it.
    init(_ settings: NMEASettings, state: NMEAState) throws(NMEAFailure) {
        address = settings.address
        self.state = state
        let found = try NMEAFailure.lookUp(settings, SOCK_DGRAM, isOwn: false)
        var rest = found[...]
        while true {
            guard let target = rest.first else { throw NMEAFailure(reason: "\(address): it has no address") }
            do throws(SystemError) {
                socket = try Self.makeSocket(target)
                break
            } catch {
                // An address of a family that this machine does not have.
                rest = rest.dropFirst()
                if rest.isEmpty { throw NMEAFailure(address, error) }
            }
        }
        targets = rest
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
                // What the network has no room for now comes again in a moment.
                if [EAGAIN, ENOBUFS].contains(error.code) { return }
                guard [ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL].contains(error.code), targets.count > 1 else {
                    throw NMEAFailure(address, error)
                }
                // The first address of a name may be one of IPv6, and lead nowhere.
                targets = targets.dropFirst()
                try changeSocket()
            }
        }
    }

    private func changeSocket() throws(NMEAFailure) {
        guard let target = targets.first else { return }
        do throws(SystemError) {
            socket = try Self.makeSocket(target)
        } catch {
            throw NMEAFailure(address, error)
        }
    }

    private static func makeSocket(_ target: NetworkAddress) throws(SystemError) -> Descriptor {
        let socket = try target.makeSocket(SOCK_DGRAM)
        // The kernel sends to a broadcast address only with this option.
        if target.family == AF_INET { try socket.setOption(SOL_SOCKET, SO_BROADCAST, 1) }
        return socket
    }
}
