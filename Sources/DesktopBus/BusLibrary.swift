import CSDBus
import LinuxSystem

/// The functions of libsystemd, loaded on demand.
enum BusLibrary {
    /// Loads the library once; on any thread.
    static func load() throws(BusFailure) -> csdbus {
        var reason: UnsafePointer<CChar>?
        guard let functions = csdbus_load(&reason) else {
            let text = reason.map { String(cString: $0) } ?? "libsystemd.so.0 cannot be loaded"
            throw BusFailure(call: text, code: 0)
        }
        return functions.pointee
    }
}

package struct BusFailure: Error, CustomStringConvertible {
    let call: String
    /// The error number; 0 when `call` contains the reason.
    let code: Int32

    package var description: String {
        code == 0 ? call : "\(call): \(SystemError(code: code, call: "").reason)"
    }
}

/// Calls a function of sd-bus, which returns a negative error number on failure.
@discardableResult
func busCall(_ name: StaticString, _ body: () -> Int32) throws(BusFailure) -> Int32 {
    let result = body()
    guard result < 0 else { return result }
    throw BusFailure(call: name.description, code: -result)
}
