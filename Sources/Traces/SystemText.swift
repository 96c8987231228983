import Glibc

/// What the system says about an error number.
enum SystemText {
    static func of(_ code: Int32) -> String { String(cString: strerror(code)) }
}
