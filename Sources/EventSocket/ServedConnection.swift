import LinuxSystem

/// One connection to a client, on the server's thread.
final class ServedConnection {
    enum Phase {
        /// The request is incomplete; the connection is closed at that time.
        case requesting(deadline: Int64)
        /// The answer to `status` is not there yet.
        case asking
        /// The client gets events.
        case subscribed(EventFeed)
        /// The connection is closed when everything is written.
        case closing
        /// The request was refused: what else comes is discarded until the client has read why, at most until that time.
        case refused(deadline: Int64)
    }

    let stream: StreamConnection
    let peer: PeerCredentials
    var phase: Phase
    /// The part of the request that has been read.
    var request: [UInt8] = []
    /// How many bytes came after the request was refused.
    var discardedCount = 0
    /// The live readings of a subscriber that wants them.
    var readings: LiveValuesFeed?
    /// A line that is sent before anything else.
    var announcement: [UInt8]?

    init(_ stream: StreamConnection, peer: PeerCredentials, deadline: Int64) {
        self.stream = stream
        self.peer = peer
        phase = .requesting(deadline: deadline)
    }

    /// The number of the connection; none is used twice.
    var identifier: UInt64 { stream.token }

    /// The lines of a subscriber; `nil` in another phase.
    var feed: EventFeed? {
        get { if case .subscribed(let feed) = phase { feed } else { nil } }
        set { if let newValue { phase = .subscribed(newValue) } }
    }

    /// When the connection is closed, on CLOCK_MONOTONIC.
    var deadline: Int64? {
        switch phase {
        case .requesting(let deadline), .refused(let deadline): deadline
        case .asking, .subscribed, .closing: nil
        }
    }

    /// Whether output waits for room.
    var hasOutput: Bool { !stream.output.isEmpty }

    /// Writes a message; `false` when the client is gone.
    func send(_ message: SocketMessage) -> Bool {
        stream.write(Self.line(message)) != .failed
    }

    static func line(_ message: SocketMessage) -> [UInt8] {
        var line: [UInt8] = []
        line.append(line: message.json)
        return line
    }
}
