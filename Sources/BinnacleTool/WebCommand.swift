import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station

/// `binnacle web`: serves a page with live readings, stored events and the state of the daemon.
struct WebCommand {
    private let service: WebService
    private let isOneRequest: Bool
    private let listener: (host: String, port: Int)

    private static let standardPort = 9478

    init(_ arguments: Arguments) throws(StationError) {
        isOneRequest = arguments.has(.http)
        listener = try ConnectionListener.place(arguments, port: Self.standardPort)
        if isOneRequest, arguments.has(.listen) {
            throw .usage("--http answers one request on standard input: it does not go with --listen")
        }
        let access = try HTTPAccess(arguments, isOpen: false)
        if !isOneRequest, access.token == nil, !ConnectionListener.isLoopback(listener.host) {
            throw .usage(
                "--listen \(arguments.value(.listen)?.printable ?? ""): others may ask there: --token-file FILE names what they have to know"
            )
        }
        let folder = arguments.value(.calibrations)
        if let folder {
            guard access.token != nil, !isOneRequest else {
                throw .usage(
                    "--calibrations \(folder.printable): writes files, so --token-file FILE names what a page has to know, and it "
                        + "does not go with --http")
            }
            try WebCalibration.check(folder)
        }
        service = WebService(
            socketPath: arguments.socketPath, access: access, calibration: WebCalibration(folder: folder))
    }

    func run(_ console: Console) throws(StationError) -> ExitStatus {
        guard !isOneRequest else {
            let connection = HTTPConnection(input: STDIN_FILENO, output: STDOUT_FILENO)
            service.serve(connection)
            if connection.stream.hasStalled {
                console.errors.write("binnacle: web: \(HTTPConnection.stalling.text(1, nil))")
            }
            return .ok
        }
        do throws(SystemError) {
            return try listen(console)
        } catch {
            throw StationError(error)
        }
    }

    private func listen(_ console: Console) throws(SystemError) -> ExitStatus {
        let host = listener.host.contains(":") ? "[\(listener.host)]" : listener.host
        let token = service.access.token == nil ? "" : "?token=..."
        let places = try ConnectionPlaces(of: "web", servedTime: 10_000_000_000)
        let listener = ConnectionListener(place: listener, places: places, console: console)
        return try listener.run { port in
            "the page is at http://\(host):\(port)/\(token)"
        } serve: { [service] place, places in
            let connection = HTTPConnection(input: place.socket.raw, output: place.socket.raw)
            service.serve(connection) { places.admit(place) }
            if connection.stream.hasStalled { places.report(HTTPConnection.stalling, place.peer) }
        }
    }
}
