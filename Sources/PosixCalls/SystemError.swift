import Glibc

/// A call that the system refused: which, on what, and why.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error number.
    package let code: Int32
    /// The call.
    package let call: String
    /// The file or device it was about, when there is one.
    package let path: String?

    /// Creates an error.
    package init(code: Int32, call: String, path: String? = nil) {
        self.code = code
        self.call = call
        self.path = path
    }

    /// `path: call: what the system says`.
    package var description: String {
        (path.map { $0 + ": " } ?? "") + "\(call): \(reason)"
    }

    /// What the system says, by itself.
    package var reason: String { String(cString: strerror(code)) }
    /// Whether the reader at the other end of a pipe has gone, which ends a pipeline in the ordinary way.
    package var isReaderGone: Bool { code == EPIPE }
    /// Whether the device behind the file is gone.
    package var isDeviceGone: Bool { code == ENODEV || code == ENXIO }
    /// Whether there is nothing of that name.
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    /// Whether somebody with more rights could have done it; a read-only mount is one of a sandbox.
    package var isPermission: Bool { code == EACCES || code == EPERM || code == EROFS }
}

/// Makes a system call, again when a signal interrupts it.
///
/// - Parameters:
///   - name: The call's name, for the error.
///   - path: What it is about, for the error.
///   - body: Makes the call; −1 and errno are a failure.
/// - Returns: What the call returned.
/// - Throws: ``SystemError`` for a failure other than EINTR.
@inline(never)  // Nothing may touch errno between the call and the read.
@discardableResult
package func systemCall<Result: FixedWidthInteger>(
    _ name: StaticString, path: @autoclosure () -> String? = nil, _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        guard result == -1 else { return result }
        let code = errno
        if code != EINTR { throw SystemError(code: code, call: name.description, path: path()) }
    }
}

/// Makes a call that gives a pointer.
///
/// - Parameters:
///   - name: The call's name, for the error.
///   - path: What it is about, for the error.
///   - body: Makes the call; no pointer and errno are a failure.
/// - Returns: The pointer.
/// - Throws: ``SystemError`` for a failure.
@inline(never)  // Nothing may touch errno between the call and the read.
package func systemPointer<Pointer>(
    _ name: StaticString, path: @autoclosure () -> String? = nil, _ body: () -> Pointer?
) throws(SystemError) -> Pointer {
    if let pointer = body() { return pointer }
    let code = errno
    throw SystemError(code: code, call: name.description, path: path())
}

/// Runs a closure and turns its error into one of another type.
///
/// - Parameters:
///   - transform: Makes the other error.
///   - body: What may fail.
/// - Returns: What the closure returned.
/// - Throws: The error that `transform` made.
@discardableResult
package func mapError<Value: ~Copyable, Failure: Error, Other: Error>(
    _ transform: (Failure) -> Other, _ body: () throws(Failure) -> Value
) throws(Other) -> Value {
    do throws(Failure) {
        return try body()
    } catch {
        throw transform(error)
    }
}
