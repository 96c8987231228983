/// What one client may cost the server; ``IIOSession`` holds nothing that grows beyond this.
package enum IIOLimits {
    /// The longest request in bytes, with its end; libiio's own are shorter than 200.
    package static let line = 1024
    /// The most bytes of a refused WRITE that are read and discarded, so that the next request is found behind them.
    package static let payload = 65_536
    /// How many malformed requests a client may send before it is disconnected: it speaks something else, such as HTTP.
    package static let malformed = 16
    /// The most samples of a buffer, and the most bytes that one READBUF may ask for, which is sent in pieces.
    package static let samples = 1 << 20
    package static let readBytes = 1 << 26
    /// The most samples of one piece of an answer.
    package static let piece = 1024
    /// The longest TIMEOUT in milliseconds, and what applies before there is one, as in iiod.
    package static let timeout = 3_600_000
    package static let standardTimeout = 5_000
    /// How long a client may read nothing of an answer, in nanoseconds.
    package static let stall: Int64 = 60_000_000_000
    /// How long a client may take until its first request is understood, in nanoseconds: without it, those that ask nothing would
    /// take the places of others.
    package static let firstRequest: Int64 = 30_000_000_000
    /// How often a wait for samples looks whether the client is still there, in nanoseconds.
    package static let look: Int64 = 200_000_000
}
