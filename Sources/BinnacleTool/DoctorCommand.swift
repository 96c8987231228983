import Handlers
import Station

/// `binnacle doctor`: says what would be used and why.
struct DoctorCommand {
    private let root: String?

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("doctor")
        root = arguments.value(.root)
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        .ok
    }
}
