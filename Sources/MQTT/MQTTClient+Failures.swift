import CMosquitto
import Glibc
import Handlers
import LinuxSystem
import PlainText

/// Why there is no connection to a broker, as text.
struct MQTTFailure: Error, Equatable {
    /// The reason, as a part of a sentence.
    let reason: String
    /// Whether the broker closed an accepted connection.
    var isClosedByBroker = false
    var lacksVersion5 = false

    init(_ reason: String) {
        self.reason = reason
    }
}

extension MQTTClient {
    /// Explains a function's result, with errno after the call.
    func failure(_ result: Int32, _ code: Int32) -> MQTTFailure {
        if let answer, answer != 0 {
            var failure = MQTTFailure("\(settings.address): \(refusal(answer))")
            // A 3.1.1 broker answers with reason 1, which the library translates to that of MQTT 5 if it can parse the rest.
            failure.lacksVersion5 = speaksVersion5 && (answer == 1 || answer == 0x84)
            return failure
        }
        if let tlsProblem { return MQTTFailure("\(settings.address): TLS: \(tlsProblem)") }
        let remedy = answer == nil ? NetworkAccess.remedy(for: code) : nil
        let words = [reason(result, code), remedy].compactMap { $0 }.joined(separator: ": ")
        var failure = MQTTFailure("\(settings.address): \(words)")
        // What the library cannot parse costs memory each time, so that version is not spoken again.
        failure.lacksVersion5 =
            speaksVersion5
            && (result == MOSQ_ERR_UNKNOWN.code
                || answer == nil
                    && [MOSQ_ERR_PROTOCOL.code, MOSQ_ERR_MALFORMED_PACKET.code].contains(result))
        failure.isClosedByBroker = answer == 0 && isClosing(result, code)
        return failure
    }

    func noAnswer(within seconds: Int64) -> MQTTFailure {
        let words: String
        if !hasPeer {
            words = "no connection within \(seconds) s"
        } else if settings.usesTLS, !cmosquitto_tls_established(functions.mosquitto_ssl_get(handle)) {
            words = "no answer to the TLS handshake within \(seconds) s"
        } else {
            words = "no answer to CONNECT within \(seconds) s"
        }
        return MQTTFailure("\(settings.address): \(words)")
    }

    /// Records a line of the library's log about TLS.
    func recordLog(_ line: String) {
        // The end of a connection without close_notify is not a TLS failure.
        guard !line.contains("unexpected eof") else { return }
        // The first error is that of the verification; later ones follow from it.
        if line.contains("host name verification failed") {
            tlsProblem = otherHost
        } else if tlsProblem == nil, let words = cmosquitto_verify_problem(functions.mosquitto_ssl_get(handle)) {
            let text = String(cString: words)
            tlsProblem = text.hasSuffix("mismatch") ? otherHost : text
        } else if tlsProblem == nil, settings.usesTLS {
            // "OpenSSL Error[0]: error:0A00010B:SSL routines::wrong version number", or a sentence of the library.
            let words = line.split(separator: ":").last.map(String.init) ?? line
            tlsProblem = String(words.drop { $0 == " " })
        }
    }

    /// The library's text for a reason of MQTT 5.
    func words(forReason reason: Int32) -> String {
        functions.mosquitto_reason_string(reason).map { String(cString: $0) } ?? "reason \(reason)"
    }

    func words(for result: Int32) -> String {
        functions.mosquitto_strerror(result).map { String(cString: $0) } ?? "error \(result)"
    }

    private var otherHost: String { "the certificate is not for '\(settings.host)'" }

    private func reason(_ result: Int32, _ code: Int32) -> String {
        switch result {
        case MOSQ_ERR_ERRNO.code where code != 0 && code != EPROTO: String(cString: strerror(code))
        case MOSQ_ERR_EAI.code: "the name cannot be looked up: \(String(cString: gai_strerror(code)))"
        case MOSQ_ERR_CONN_LOST.code, MOSQ_ERR_NO_CONN.code, MOSQ_ERR_ERRNO.code, MOSQ_ERR_CONN_REFUSED.code:
            answer == nil
                ? "the broker closed the connection before it answered" : "the broker closed the connection"
        case MOSQ_ERR_KEEPALIVE.code: "no sign of life for \(settings.keepaliveSeconds) s"
        case MOSQ_ERR_PROTOCOL.code, MOSQ_ERR_MALFORMED_PACKET.code: "the server there does not speak MQTT 3.1.1"
        default: words(for: result)
        }
    }

    /// The reasons for which MQTT 3.1.1 lets a broker refuse a connection (3.2.2.3).
    ///
    /// Equivalent reasons of MQTT 5 (3.2.2.2) have the same text.
    private func refusal(_ answer: Int32) -> String {
        let answers: [Int32: Int32] = [0x84: 1, 0x85: 2, 0x86: 4, 0x87: 5, 0x88: 3, 0x89: 3]
        return switch answers[answer] ?? answer {
        case 1: "the broker does not speak MQTT 3.1.1"
        case 2: "the broker refused the client_id '\(settings.clientID)'"
        case 3: "the broker says that it is not available"
        case 4, 5:
            if let user = settings.user {
                settings.password == nil
                    ? "the broker refused user '\(user)' without a password"
                    : "the broker refused the password of user '\(user)', or the user"
            } else {
                "the broker refused a client without a user"
            }
        case 0x80...: "the broker refused the connection: \(words(forReason: answer))"
        default: "the broker refused the connection with code \(answer), which MQTT 3.1.1 does not have"
        }
    }

    private func isClosing(_ result: Int32, _ code: Int32) -> Bool {
        switch result {
        case MOSQ_ERR_CONN_LOST.code, MOSQ_ERR_NO_CONN.code: true
        case MOSQ_ERR_ERRNO.code: [ECONNRESET, EPIPE, EPROTO, 0].contains(code)
        default: false
        }
    }

    /// Whether a connection to an address of the broker was made.
    var hasPeer: Bool { (try? NetworkAddress(of: wire?.outer.raw ?? -1, isPeer: true)) != nil }
}
