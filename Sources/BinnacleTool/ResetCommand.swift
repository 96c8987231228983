import EventSocket
import LinuxSystem
import PlainText
import Station

/// `binnacle reset`: makes a detector of the running daemon forget what it has learned or counted.
struct ResetCommand {
    private let detector: String
    private let path: String

    init(_ arguments: Arguments) throws(StationError) {
        guard arguments.operands.count == 1 else {
            throw StationError(.usage, "reset takes the name of one detector, as in 'binnacle reset walked'")
        }
        detector = arguments.operands[0]
        path = arguments.socketPath
    }

    func run(_ output: LineWriter) throws(StationError) -> ExitStatus {
        try mapError({ StationError($0) }) { () throws(EventSubscriptionError) in
            try SocketConnection.reset(detector, path: path)
        }
        output.write("'\(detector.printable)' begins again")
        return .ok
    }
}
