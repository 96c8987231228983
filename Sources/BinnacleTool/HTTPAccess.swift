import CommandRows
import Glibc
import Handlers
import LinuxSystem
import PlainText
import Station

/// Who may ask a service over HTTP: the one check of `web` and `metrics`.
struct HTTPAccess: Sendable {
    /// What every request has to carry; `nil` asks for nothing.
    let token: String?
    /// Names of the service besides those of the loopback address.
    private let hosts: [String]
    /// Whether other machines may ask without a token.
    private let isOpen: Bool

    init(_ arguments: Arguments, isOpen: Bool) throws(StationError) {
        token = try arguments.value(.tokenFile).map(Self.token)
        hosts = arguments.all(.host).map { $0.lowercased() }
        self.isOpen = isOpen
        if let wrong = hosts.first(where: { Self.name($0) != $0 || $0.isEmpty || $0.contains { " /".contains($0) } }) {
            throw .usage(
                "--host \(wrong.printable): has to be a name without a port, as in box.example, 10.0.0.7 or [fd00::7]")
        }
    }

    /// The first line of a file, which has to be too long to guess, and not readable by other users.
    private static func token(_ path: String) throws(StationError) -> String {
        let remedy = "(umask 077; openssl rand -hex 16 >FILE) makes one"
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.bytes(path, limit: 4096, kind: .given)
        } catch {
            throw .noInput("--token-file \(path.printable): cannot be read: \(error.reason): \(remedy)")
        }
        guard !HandlerPassword.isReadableByAll(path) else {
            throw .data("--token-file \(path.printable): other users can read this token (chmod o-r helps)")
        }
        let line = String(
            decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        guard line.utf8.count >= 16, line.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw .data(
                "--token-file \(path.printable): has to begin with a line of at least 16 letters and digits: \(remedy)")
        }
        return line
    }

    /// Refuses a request that may come from a page of another site, from another machine, or without the token.
    ///
    /// Where the connection comes from counts for nothing once there is a token: a proxy on this machine asks for others.
    func check(_ request: HTTPConnection.Request, on socket: Int32) throws(HTTPRefusal) {
        let hosts = request.values("host")
        guard hosts.count == 1, let host = hosts.first else {
            throw .malformed("The request needs one Host header.")
        }
        let isForeign = HTTPRefusal.forbidden("Requests from other sites are refused.")
        // A page of another site in the same browser; a proxy adds the encryption.
        guard request.values("origin").allSatisfy({ ["http://\(host)", "https://\(host)"].contains($0) }) else {
            throw isForeign
        }
        let sites = request.values("sec-fetch-site")
        // A link from another site may open the page, but not fetch its data.
        guard
            sites.allSatisfy({ ["same-origin", "none"].contains($0) })
                || sites.allSatisfy({ ["cross-site", "same-site"].contains($0) })
                    && request.values("sec-fetch-mode") == ["navigate"]
        else { throw isForeign }
        if let token {
            let bearers = request.values("authorization").compactMap { value in
                value.lowercased().hasPrefix("bearer ") ? String(value.dropFirst(7)) : nil
            }
            let given = bearers + (request.parameter("token").map { [$0] } ?? [])
            guard given.contains(where: { Self.isEqual($0, token) }) else {
                throw .forbidden(
                    "The request lacks the token of this service: ?token=TOKEN in its address, or "
                        + "Authorization: Bearer TOKEN.")
            }
            // No page of another site knows the token, so its name does not matter.
            return
        }
        let address = try Self.address(of: socket)
        let isLocal = address?.isLoopback ?? true
        guard isLocal || isOpen else { throw .forbidden("Requests from other machines need --token-file.") }
        // A foreign name that resolves to this machine (DNS rebinding) is none of these.
        let own = (isLocal ? ["localhost", "127.0.0.1", "[::1]"] : []) + (address.map { [$0.host] } ?? [])
        guard (own + self.hosts).contains(Self.name(host)) else {
            throw .forbidden(
                "The host has to be \(isLocal ? "localhost, 127.0.0.1 or [::1]" : own[0]), or a name of --host.")
        }
    }

    /// The address to which a connection came; `nil` if it did not come by the network.
    private static func address(of socket: Int32) throws(HTTPRefusal) -> NetworkAddress? {
        do throws(SystemError) {
            let address = try NetworkAddress(of: socket)
            return address.family == AF_UNIX ? nil : address
        } catch {
            guard error.code == ENOTSOCK else { throw .unavailable("The connection has no address.") }
            return nil
        }
    }

    /// A Host header in small letters, without its port.
    private static func name(_ host: String) -> String {
        let name = host.lowercased()
        guard let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy({ $0.isASCII && $0.isNumber })
        else { return name }
        return String(name[..<colon])
    }

    /// Compares texts in a time that depends only on their lengths.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
