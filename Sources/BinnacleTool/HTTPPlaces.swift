import Glibc
import LinuxSystem

/// The places of a service, of which each connection has one, with a thread: bounded in all and for each client's address.
///
/// A connection whose request is not admitted yet gives its place to the next one: whoever sends nothing, or has no token, keeps
/// no other out.
final class HTTPPlaces: Sendable {
    /// Why a connection was closed.
    enum Closing: String {
        case stalled = "that had read nothing for 5 s"
        case noPlace = "for which there is no place"
    }

    private struct Place {
        let socket: Descriptor
        let network: UInt64
        var isAdmitted = false
        var isEnding = false
    }

    private struct State {
        /// By the number of the connection, which rises.
        var places: [Int: Place] = [:]
        var last = 0
        var closings: [Closing: (count: Int, address: String)] = [:]
    }

    static let most = 32
    static let mostOfNetwork = 24

    private let state = Monitor(State())

    /// Takes a place for a connection, if need be that of the oldest one that is not admitted; `nil` when there is none.
    func take(_ socket: Descriptor, _ address: NetworkAddress) -> Int? {
        let network = address.network
        // A place that is given up is free once its thread has ended, which waits for nothing then.
        let place = state.wait { (state: inout State) -> Int?? in
            let counts = state.places.values.reduce(into: [:]) { $0[$1.network, default: 0] += 1 }
            let isCrowded = counts[network, default: 0] >= Self.mostOfNetwork
            guard isCrowded || state.places.count >= Self.most else {
                state.last += 1
                state.places[state.last] = Place(socket: socket, network: network)
                return .some(state.last)
            }
            guard !state.places.values.contains(where: \.isEnding) else { return nil }
            let open = state.places.filter { !$0.value.isAdmitted && (!isCrowded || $0.value.network == network) }
            // Of the address that has the most places.
            let order = { (place: (key: Int, value: Place)) in (counts[place.value.network, default: 0], -place.key) }
            let oldest = open.max { order($0) < order($1) }
            guard let oldest else { return .some(nil) }
            state.places[oldest.key]?.isEnding = true
            // Its thread waits for input, or for room for the answer.
            _ = shutdown(oldest.value.socket.raw, Int32(SHUT_RDWR))
            return nil
        }
        if place == nil { report(.noPlace, address) }
        return place
    }

    /// Keeps the place of a connection for its answer; `false` if it has been given to another one.
    func admit(_ number: Int) -> Bool {
        state.wait { (state: inout State) -> Bool? in
            guard state.places[number]?.isEnding == false else { return false }
            state.places[number]?.isAdmitted = true
            return true
        }
    }

    /// Frees a place at the end of its thread.
    func free(_ number: Int) { state.change { $0.places[number] = nil } }

    func report(_ closing: Closing, _ address: NetworkAddress) {
        let host = address.host
        state.change { $0.closings[closing] = (($0.closings[closing]?.count ?? 0) + 1, host) }
    }

    var hasMessages: Bool { state.wait { !$0.closings.isEmpty } }

    /// Messages about the connections that were closed since the last call.
    func removeMessages() -> [String] {
        state.wait { (state: inout State) -> [String]? in
            defer { state.closings = [:] }
            return state.closings.map { closing, found in
                let connections = "\(found.count) connection\(found.count == 1 ? "" : "s")"
                return "binnacle: web: closed \(connections), the last one from \(found.address), \(closing.rawValue)"
            }
        }
    }
}
