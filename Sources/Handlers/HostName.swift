import Glibc

/// The machine's name.
package enum HostName {
    /// What it is now, without its domain; `localhost` when it has none.
    package static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        let name = bytes.prefix { $0 != 0 }.prefix { $0 != CChar(UInt8(ascii: ".")) }
        return name.isEmpty ? "localhost" : String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
