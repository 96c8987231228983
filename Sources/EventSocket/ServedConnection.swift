import LinuxSystem

/// One connection to a client, on the server's thread.
final class ServedConnection {
    enum Phase {
        /// The request is incomplete; the connection is closed at the deadline.
        case requesting(deadline: Int64)
        /// The answer to `status` or a change is pending.
        case asking
        case subscribed(EventFeed)
        /// The connection is closed when everything is written.
        case closing
        /// The request was refused; further input is discarded until the client has read the reason, at most until the deadline.
        case refused(deadline: Int64)
    }

    let stream: StreamConnection
    let peer: PeerCredentials
    var phase: Phase
    /// The part of the request that was read.
    var request: [UInt8] = []
    /// The number of bytes received after the refusal.
    var discardedCount = 0
    /// The live readings of a subscriber; `nil` without a request for them.
    var readings: LiveValuesFeed?
    /// The samples of a subscriber; `nil` without a request for them.
    var samples: SamplesFeed?
    /// A line to be sent before any other.
    var announcement: [UInt8]?

    init(_ stream: StreamConnection, peer: PeerCredentials, deadline: Int64) {
        self.stream = stream
        self.peer = peer
        phase = .requesting(deadline: deadline)
    }

    /// The number of the connection, which is never reused.
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

    /// Whether output waits until the socket is writable.
    var hasOutput: Bool { !stream.output.isEmpty }

    /// Sends a message; `false` when the client is gone.
    func send(_ message: SocketMessage) -> Bool {
        stream.write(Self.line(message)) != .failed
    }

    static func line(_ message: SocketMessage) -> [UInt8] { Array((message.json + "\n").utf8) }
}
