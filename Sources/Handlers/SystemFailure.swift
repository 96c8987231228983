import Glibc

/// Why the system refused something.
public struct SystemFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error number.
    public let code: Int32

    /// Whether the reader at the other end of a pipe has gone, which ends a pipeline in the ordinary way.
    public var isReaderGone: Bool { code == EPIPE }

    /// What the system says.
    public var description: String { String(cString: strerror(code)) }
}
