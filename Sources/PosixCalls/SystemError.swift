import Glibc

/// A system call that failed, with its arguments and the reason.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    package let code: Int32
    package let call: String
    /// The file or device, if there is one.
    package let path: String?

    package init(code: Int32, call: String, path: String? = nil) {
        self.code = code
        self.call = call
        self.path = path
    }

    /// `path: call: reason`.
    package var description: String {
        (path.map { $0 + ": " } ?? "") + "\(call): \(reason)"
    }

    /// The system's message for the error number.
    package var reason: String { String(cString: strerror(code)) }
    /// Whether the reading end of a pipe was closed, which ends a pipeline normally.
    package var isReaderGone: Bool { code == EPIPE }
    /// Whether the device was removed.
    package var isDeviceGone: Bool { code == ENODEV || code == ENXIO }
    /// Whether the file does not exist.
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    /// Whether permission is missing; a sandbox also causes EROFS.
    package var isPermission: Bool { code == EACCES || code == EPERM || code == EROFS }
}

/// Makes a system call that reports failure by −1 and errno, and repeats it when a signal interrupts it.
@inline(never)  // Nothing may touch errno between the call and the read.
@_specialize(where Result == Int)  // Each read of a device; other modules cannot specialize what reads errno.
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

/// Makes a system call once; `nil` when it would block or a signal interrupts it.
package func systemCallOnce<Result: FixedWidthInteger>(
    _ name: StaticString, path: @autoclosure () -> String? = nil, _ body: () -> Result
) throws(SystemError) -> Result? {
    let (result, code) = withErrno(body)
    guard result == -1 else { return result }
    guard code == EAGAIN || code == EINTR else { throw SystemError(code: code, call: name.description, path: path()) }
    return nil
}

/// Makes a call that reports failure otherwise; returns its result and errno, which is 0 if the call did not set it.
@inline(never)  // Nothing may touch errno between the call and the read.
package func withErrno<Result>(_ body: () -> Result) -> (result: Result, code: Int32) {
    errno = 0
    let result = body()
    return (result, errno)
}

/// Makes a call that returns a pointer; throws ``SystemError`` when it is null, with errno.
@inline(never)  // Nothing may touch errno between the call and the read.
package func systemPointer<Pointer>(
    _ name: StaticString, path: @autoclosure () -> String? = nil, _ body: () -> Pointer?
) throws(SystemError) -> Pointer {
    if let pointer = body() { return pointer }
    let code = errno
    throw SystemError(code: code, call: name.description, path: path())
}

/// Runs a closure, and converts the error that it throws.
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
