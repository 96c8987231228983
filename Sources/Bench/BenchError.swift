import LinuxSystem

/// Why a measurement ended early.
package enum BenchError: Error, CustomStringConvertible, Equatable {
    /// A person cancelled.
    case cancelled
    /// A kernel does not find what the reference finds: its figures would mean nothing.
    case wrongResult(String)
    /// Something that the measurement needs is not there.
    case unavailable(String)

    /// What the system refused.
    init(_ error: SystemError) {
        self = .unavailable(error.description)
    }

    /// What is wrong, for a person.
    package var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .wrongResult(let what):
            "\(what): differs from the scalar reference; this is a fault of binnacle, please report it"
        case .unavailable(let what): what
        }
    }
}
