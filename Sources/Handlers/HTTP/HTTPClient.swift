import CCurl
import Glibc
import PlainText

/// One request at a time by libcurl, over a connection that stays; for one thread.
package final class HTTPClient {
    /// What came of a request; a cause is the same for texts that differ in figures or in the words of the service alone.
    enum Answer {
        /// The service took it.
        case accepted
        /// It is this event that the service does not take.
        case refused(String, cause: String)
        /// The place or the login is wrong, which a person has to change.
        case misplaced(String, cause: String)
        /// There was no answer, or one that says "later"; with the shortest pause in nanoseconds.
        case unavailable(String, cause: String, pause: Int64)
    }

    /// A request's parts; the texts hold neither NUL nor line ends.
    struct Request {
        let url: String
        let headers: [String]
        let body: [UInt8]
        let user: String?
        let password: String?
    }

    private let settings: HTTPSettings
    // Made by the initializer, used by this object's thread alone, and freed once, by `deinit`.
    private let handle: OpaquePointer

    /// Why libcurl cannot be used; `nil` if it can.
    package static var missingLibrary: String? {
        ccurl_problem().map { MissingLibrary.reason(String(cString: $0), debian: "libcurl4") }
    }

    /// The longest pause that an answer may ask for, in seconds.
    private static let longestPause: Int64 = 3600
    /// The answers that are about the place or the login.
    private static let misplaced: Set<Int> = [401, 403, 404, 405, 407, 410]
    /// The answers of a service that is busy, besides those from 500.
    private static let busy: Set<Int> = [408, 425, 429]

    /// Creates a client; `nil` without libcurl or memory.
    init?(_ settings: HTTPSettings) {
        guard let handle = ccurl_new() else { return nil }
        self.handle = handle
        self.settings = settings
    }

    deinit {
        ccurl_free(handle)
    }

    /// Begins a request; `false` when libcurl does not take it.
    func start(_ request: Request) -> Bool {
        // libcurl copies all of them before the call returns, which is how long these copies live.
        let texts =
            (request.headers + [request.url, request.user ?? "", request.password ?? "", settings.authorityFile ?? ""])
            .map { strdup($0) }
        defer { for text in texts { free(text) } }
        let copies = texts.compactMap { $0.map { UnsafePointer($0) } }
        guard copies.count == texts.count else { return false }
        let count = request.headers.count
        return copies.withUnsafeBufferPointer { pointers in
            // With a byte more, because an empty array has no address.
            (request.body + [0]).withUnsafeBytes { body in
                guard let headers = pointers.baseAddress, let bytes = body.bindMemory(to: CChar.self).baseAddress
                else { return false }
                var raw = ccurl_request(
                    url: pointers[count], headers: headers, header_count: count, body: bytes,
                    body_size: request.body.count,
                    user: request.user.map { _ in pointers[count + 1] },
                    password: request.user.map { _ in pointers[count + 2] },
                    authority_file: settings.authorityFile.map { _ in pointers[count + 3] },
                    uses_tls: settings.usesTLS, connect_timeout: min(10_000, milliseconds), timeout: milliseconds)
                return ccurl_start(handle, &raw)
            }
        }
    }

    private var milliseconds: Int { max(1, Int(settings.timeout / .milliseconds(1))) }

    /// Works until something happened or `descriptor` is readable; whether the request has ended.
    func turn(waking descriptor: Int32, milliseconds: Int32) -> Bool {
        ccurl_turn(handle, descriptor, milliseconds)
    }

    /// Ends the request, also one that is under way, and judges the answer; its text has no `secret`, however it is escaped.
    func end(hiding secret: String?) -> Answer {
        let answer = ccurl_end(handle).pointee
        let status = answer.status
        // A complete status counts, however the rest of the answer ended.
        if (200..<300).contains(status) { return .accepted }
        guard status >= 300 else {
            var reason = text(answer.problem, count: MemoryLayout.size(ofValue: answer.problem), hiding: secret)
            if let remedy = NetworkAccess.remedy(for: Int32(clamping: answer.error_number)) { reason += ": \(remedy)" }
            // An authority that is not known, and neither an expired certificate nor that of another host, whose name is in it.
            if answer.code == Self.peerFailedVerification, settings.authorityFile == nil,
                reason.hasPrefix("SSL certificate problem:"),
                ["self-signed", "self signed", "issuer"].contains(where: reason.contains)
            {
                reason += ": `ca_file` names the certificate of an authority of your own"
            }
            return .unavailable(reason, cause: "libcurl \(answer.code)", pause: 0)
        }
        var reason = "it answers \(status)"
        if (300..<400).contains(status) { reason += ", another place, which is not followed" }
        let words = text(answer.text, count: Int(answer.text_size), hiding: secret)
        if !words.isEmpty { reason += ": \(words)" }
        let cause = "status \(status)"
        if status >= 500 || Self.busy.contains(status) {
            let seconds = min(max(0, answer.retry_after), Self.longestPause)
            return .unavailable(reason, cause: cause, pause: seconds * 1_000_000_000)
        }
        return status < 400 || Self.misplaced.contains(status)
            ? .misplaced(reason, cause: cause) : .refused(reason, cause: cause)
    }

    /// CURLE_PEER_FAILED_VERIFICATION: the certificate is not of a known authority, or not the service's.
    private static let peerFailedVerification: Int32 = 60

    /// Text of libcurl or of a service, on one line, in which a service may repeat the secret that it got.
    private func text<Bytes>(_ bytes: Bytes, count: Int, hiding secret: String?) -> String {
        let kept = withUnsafeBytes(of: bytes) { Array($0.prefix(count).prefix { $0 != 0 }) }
        var secrets = [secret ?? ""]
        if let secret, let user = settings.user {
            var login: [UInt8] = []
            Base64.append(Array("\(user):\(secret)".utf8), to: &login)
            secrets.append(String(decoding: login, as: UTF8.self))
        }
        let text = String(decoding: SecretText.hiding(secrets, in: kept), as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ").printable
    }
}
