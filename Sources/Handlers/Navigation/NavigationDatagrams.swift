import Glibc
import LinuxSystem

/// Sends each message as a datagram: to one machine, to a network's broadcast address, or to a multicast group.
///
/// Each datagram has one message, because not every receiver reads more than one. No receiver is required.
final class NavigationDatagrams: NavigationTransport {
    private let settings: NavigationSettings
    private let state: NavigationState
    private let times: NavigationTimes
    /// A connected socket for each address, the likeliest one first: the kernel reports to it that no program has the port.
    private var sockets: [Descriptor]
    /// The index of the address in use.
    private var current = 0
    /// What a lookup of the receiver has found, on a thread of its own, because it may take seconds: `nil` until it is done, empty when
    /// it has failed.
    private var lookup: Gauges<[Descriptor]?>?
    /// When the last lookup began.
    private var lookupTime = SystemClock.monotonic()
    /// Whether all addresses have refused datagrams since then.
    private var isRefused = false
    private(set) var isProven = false

    init(_ settings: NavigationSettings, state: NavigationState, times: NavigationTimes) throws(NavigationFailure) {
        self.settings = settings
        self.state = state
        self.times = times
        sockets = try Self.lookUp(settings)
    }

    func send(_ messages: [[UInt8]], at now: Int64) throws(NavigationFailure) {
        renew(at: now)
        for message in messages {
            do throws(SystemError) {
                try send(message)
            } catch {
                // The network may have changed: a new socket has an address of this machine and a route that exist now.
                try mapError({ NavigationFailure(settings.address, $0) }) { () throws(SystemError) -> Void in
                    var addresses: [NetworkAddress] = []
                    for socket in sockets { addresses.append(try NetworkAddress(of: socket.raw, isPeer: true)) }
                    sockets = try Self.connect(addresses)
                    current = 0
                    try send(message)
                }
            }
        }
    }

    private func send(_ message: [UInt8]) throws(SystemError) {
        // The first address again at the end: what it refused was an earlier datagram.
        for _ in 0...sockets.count {
            let raw = sockets[current].raw
            do throws(SystemError) {
                try systemCall("send") { Glibc.send(raw, message, message.count, Int32(MSG_NOSIGNAL)) }
                isProven = true
                return state.update { $0.sentCount += 1 }
            } catch {
                // The heading is sent again after the next interval.
                if [EAGAIN, ENOBUFS].contains(error.code) { return }
                guard error.code == ECONNREFUSED else { throw error }
                current = (current + 1) % sockets.count
                if current == 0 { isRefused = true }
            }
        }
    }

    // MARK: - Addresses

    /// Looks up the receiver again at intervals, because a name may get another address, and begins with its first address then.
    ///
    /// While the name cannot be looked up, its last addresses are in use.
    private func renew(at now: Int64) {
        if let lookup {
            guard let found = lookup.values else { return }
            if !found.isEmpty { (sockets, current) = (found, 0) }
            self.lookup = nil
        }
        guard now - lookupTime >= (isRefused ? times.refusedLookup : times.lookup) else { return }
        (lookupTime, isRefused) = (now, false)
        let begun = Gauges<[Descriptor]?>(nil)
        do throws(SystemError) {
            // The resolver's stack is not the project's own.
            try WorkerThread.start(stackBytes: nil) { [settings] in
                let found = (try? NavigationDatagrams.lookUp(settings)) ?? []
                begun.change { $0 = found }
            }
            lookup = begun
        } catch {
            // Without a thread the addresses stay until the next time.
        }
    }

    private static func lookUp(_ settings: NavigationSettings) throws(NavigationFailure) -> [Descriptor] {
        let addresses = try NavigationFailure.resolve(settings, SOCK_DGRAM, isOwn: false)
        guard !addresses.isEmpty else { throw NavigationFailure(reason: "\(settings.address): it has no address") }
        return try mapError({ NavigationFailure(settings.address, $0) }) { () throws(SystemError) in
            try connect(addresses)
        }
    }

    /// Makes the sockets of addresses; throws when there is none for which this machine has the family and a route.
    private static func connect(_ addresses: [NetworkAddress]) throws(SystemError) -> [Descriptor] {
        var sockets: [Descriptor] = []
        var failure: SystemError?
        for address in addresses {
            do throws(SystemError) {
                let socket = try address.makeSocket(SOCK_DGRAM)
                // The kernel sends to a broadcast address only with this option.
                if address.family == AF_INET { try socket.setOption(SOL_SOCKET, SO_BROADCAST, 1) }
                let raw = socket.raw
                try systemCall("connect") { address.withPointer { Glibc.connect(raw, $0, $1) } }
                sockets.append(socket)
            } catch {
                failure = error
            }
        }
        if sockets.isEmpty, let failure { throw failure }
        return sockets
    }
}
