import CMosquitto
import Glibc
import Handlers
import LinuxSystem
import PlainText

/// One connection to a broker through libmosquitto, from the first packet to its end; for one thread.
///
/// Each attempt has a new client, so that passwords and certificates are read again and no state of a failure remains. The
/// library therefore never resends; the publisher keeps unacknowledged messages.
package final class MQTTClient {
    let settings: MQTTSettings
    let functions: cmosquitto
    let handle: OpaquePointer
    /// The broker's answer to CONNECT: 0, or the reason of the refusal.
    private(set) var answer: Int32?
    /// Whether the broker's name was found.
    private(set) var hasAddress = false
    var tlsProblem: String?
    /// Whether the connection uses MQTT 5; otherwise 3.1.1.
    let speaksVersion5: Bool
    private var acknowledged: [Acknowledgement] = []
    private var descriptions: [String] = []
    private var requests: [Request] = []
    private var subscriptions: [MQTTSubscription] = []
    /// The IDs of unanswered SUBSCRIBEs: the library reports any SUBACK.
    private var unansweredSubscriptions: Set<Int32> = []
    private(set) var unanswered = MQTTUnanswered()
    /// Whether messages arrived that were not subscribed to.
    private var hasUnexpected = false
    private var hasExactlyOnce = false
    /// The beginning of the library's log line about a message, up to its quality of service.
    private let messageLine: String
    /// The bytes that may arrive unexplained, with the greatest of our own messages that the broker returns.
    private var mostUnexplained = MQTTLimits.unexplainedBytes
    /// When a PINGRESP was last expected, on CLOCK_MONOTONIC.
    private var pingTime = SystemClock.monotonic()
    /// The connection; `nil` before it is begun.
    private(set) var wire: MQTTWire?

    struct Request {
        let message: [UInt8]
        let isRetained: Bool
    }

    struct Acknowledgement {
        let message: Int32
        /// The reason of MQTT 5, which 3.1.1 has for subscriptions alone; 0 without one.
        var reason: Int32 = 0

        var isUnheard: Bool { reason == 0x10 }
        var isRefusal: Bool { reason >= 0x80 }
    }

    /// The system's certificates, which are already in use, for a call that requires a path.
    private static let systemCertificates = "/etc/ssl/certs"

    /// Prepares a connection; throws when the library, the password or a certificate cannot be used.
    init(_ settings: MQTTSettings, speaksVersion5: Bool = false) throws(MQTTFailure) {
        self.settings = settings
        self.speaksVersion5 = speaksVersion5
        messageLine = "Client \(settings.clientID) received PUBLISH (d"
        functions = try Self.loadLibrary()
        guard let handle = functions.mosquitto_new(settings.clientID, true, nil) else {
            throw MQTTFailure("the client_id '\(settings.clientID)' cannot be used")
        }
        self.handle = handle
        setCallbacks()
        if speaksVersion5 {
            try set("version", functions.mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5))
        }
        try set("TCP_NODELAY", functions.mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1))
        try set("in-flight limit", functions.mosquitto_max_inflight_messages_set(handle, MQTTLimits.inFlight))
        if let user = settings.user {
            let password = try mapError({ MQTTFailure($0.reason) }) { () throws(HandlerPassword.Failure) in
                try settings.password?.read()
            }
            try set("user", functions.mosquitto_username_pw_set(handle, user, password))
        }
        if let topic = settings.statusTopic {
            let will = Array("offline".utf8)
            try set("status_topic", functions.mosquitto_will_set(handle, topic, Int32(will.count), will, 1, true))
        }
        if settings.usesTLS { try setUpTLS() }
    }

    deinit {
        functions.mosquitto_destroy(handle)
    }

    /// Why libmosquitto cannot be used; `nil` if it can.
    package static var missingLibrary: String? {
        do throws(MQTTFailure) {
            _ = try loadLibrary()
            return nil
        } catch {
            return error.reason
        }
    }

    /// The library's name, with the version of its interface.
    static let library = "libmosquitto.so.1"

    /// The functions of libmosquitto, which is loaded at its first use.
    private static func loadLibrary() throws(MQTTFailure) -> cmosquitto {
        var reason = [CChar](repeating: 0, count: 256)
        guard let table = cmosquitto_load(library, &reason, reason.count) else {
            let words = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let reason = MissingLibrary.reason(words, debian: "libmosquitto1")
            throw MQTTFailure("the MQTT library cannot be used: \(reason)")
        }
        // A copy of function pointers, which never change and are never unloaded.
        return table.pointee
    }

    private func set(_ what: String, _ result: Int32) throws(MQTTFailure) {
        guard result != 0 else { return }
        throw MQTTFailure("the MQTT library refuses the \(what): \(words(for: result))")
    }

    private func setUpTLS() throws(MQTTFailure) {
        let (authority, certificate, key) = (settings.authorityFile, settings.certificateFile, settings.keyFile)
        for path in [authority, certificate, key] {
            guard let path else { continue }
            // The library's error would not name the file.
            try mapError({ MQTTFailure("\(path): \($0.reason)") }) { () throws(SystemError) in
                _ = try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
            }
        }
        if authority == nil {
            try set("system's certificates", functions.mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
        }
        if authority != nil || certificate != nil {
            try set(
                "certificates",
                functions.mosquitto_tls_set(
                    handle, authority, authority == nil ? Self.systemCertificates : nil, certificate, key, nil))
        }
        // 1 is SSL_VERIFY_PEER. TLS 1.2 is the oldest version that is accepted.
        try set("TLS version", functions.mosquitto_tls_opts_set(handle, 1, "tlsv1.2", nil))
    }

    private func setCallbacks() {
        // Not retained: the library calls back only within our own calls, and the handle is destroyed before the client.
        functions.mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        functions.mosquitto_connect_callback_set(handle) { _, object, code in
            MQTTClient.of(object)?.answer = code
        }
        if speaksVersion5 {
            functions.mosquitto_publish_v5_callback_set(handle) { _, object, message, reason, _ in
                MQTTClient.of(object)?.receive(Acknowledgement(message: message, reason: reason))
            }
        } else {
            functions.mosquitto_publish_callback_set(handle) { _, object, message in
                MQTTClient.of(object)?.receive(Acknowledgement(message: message))
            }
        }
        functions.mosquitto_subscribe_callback_set(handle) { _, object, message, count, reasons in
            let reason = count > 0 ? reasons?.pointee ?? 0 : 0
            MQTTClient.of(object)?.receive(subscription: Acknowledgement(message: message, reason: reason))
        }
        functions.mosquitto_message_callback_set(handle) { _, object, message in
            guard let message = message?.pointee, let topic = message.topic else { return }
            let bytes = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            MQTTClient.of(object)?.receive(String(cString: topic), bytes, isRetained: message.retain)
        }
        functions.mosquitto_log_callback_set(handle) { _, object, level, line in
            guard let line, let client = MQTTClient.of(object) else { return }
            switch UInt32(bitPattern: level) {
            case UInt32(MOSQ_LOG_ERR): client.recordLog(String(cString: line))
            case UInt32(MOSQ_LOG_DEBUG): client.recordQuality(line)
            default: break
            }
        }
    }

    private func receive(_ answer: Acknowledgement) {
        wire?.explain(MQTTLimits.bytesPerPacket)
        unanswered.remove(answer.message, at: SystemClock.monotonic())
        acknowledged.append(answer)
    }

    private func receive(subscription answer: Acknowledgement) {
        guard unansweredSubscriptions.remove(answer.message) != nil else { return }
        receive(answer)
    }

    private func receive(_ topic: String, _ payload: UnsafeRawBufferPointer, isRetained: Bool) {
        guard let index = subscriptions.firstIndex(where: { $0.includes(topic) }) else {
            hasUnexpected = true
            return
        }
        guard !subscriptions[index].isEnded, subscriptions[index].allowance.take() else { return }
        wire?.explain(topic.utf8.count + payload.count + MQTTLimits.bytesPerPacket)
        if topic == settings.requestTopic {
            let message = Array(payload.prefix(MQTTLimits.requestBytes + 1))
            requests.append(Request(message: message, isRetained: isRetained))
        } else if isRetained, !payload.isEmpty {
            descriptions.append(topic)
        }
    }

    /// Detects a message with QoS 2, which nothing is subscribed to with: the library keeps it until the broker releases it.
    ///
    /// Its log is the only report of that.
    private func recordQuality(_ line: UnsafePointer<CChar>) {
        let count = messageLine.utf8.count
        guard strncmp(line, messageLine, count) == 0, line[count] != 0 else { return }
        hasExactlyOnce = hasExactlyOnce || strncmp(line + count + 1, ", q2", 4) == 0
    }

    /// The messages of requests that arrived since the last call.
    func removeRequests() -> [Request] {
        defer { requests.removeAll() }
        return requests
    }

    private static func of(_ object: UnsafeMutableRawPointer?) -> MQTTClient? {
        object.map { Unmanaged<MQTTClient>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: - The connection

    /// Begins to connect, without `other` to the name's first address; resolving the name may wait for a name server.
    ///
    /// The library gets another address in place of the name, but for TLS, where it verifies the broker's certificate by the name:
    /// then it begins at the first address all the same, and a socket to the other one replaces its own.
    func connect(to other: NetworkAddress?) throws(MQTTFailure) {
        let digits = settings.usesTLS ? nil : other?.host.filter { $0 != "[" && $0 != "]" }
        let (result, code) = withErrno {
            functions.mosquitto_connect_async(
                handle, digits ?? settings.host, Int32(settings.port), Int32(settings.keepaliveSeconds))
        }
        hasAddress = result != MOSQ_ERR_EAI.code
        guard result == MOSQ_ERR_SUCCESS.code else { throw failure(result, code) }
        let socket = functions.mosquitto_socket(handle)
        if let other, settings.usesTLS {
            try mapError(broken) { () throws(SystemError) in try Self.replace(socket, to: other) }
        }
        do throws(SystemError) {
            wire = try MQTTWire(takingPlaceOf: socket)
        } catch {
            throw MQTTFailure("\(settings.address): \(error)")
        }
    }

    /// Replaces a socket by one that connects to an address, under the same number.
    private static func replace(_ socket: Int32, to address: NetworkAddress) throws(SystemError) {
        let own = try address.makeSocket(SOCK_STREAM)
        try own.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        do throws(SystemError) {
            try systemCall("connect") { address.withPointer { Glibc.connect(own.raw, $0, $1) } }
        } catch {
            guard error.code == EINPROGRESS else { throw error }
        }
        try systemCall("dup2") { dup2(own.raw, socket) }
    }

    /// The broker's socket; −1 when there is none.
    var descriptor: Int32 { functions.mosquitto_socket(handle) < 0 ? -1 : wire?.outer.raw ?? -1 }
    var wantsWrite: Bool { functions.mosquitto_want_write(handle) || wire?.hasPending ?? false }

    /// Reads the broker's data; throws when it exceeds the expected answers.
    func read() throws(MQTTFailure) {
        guard let wire else { return }
        let isWithinLimit: Bool
        do throws(SystemError) {
            isWithinLimit = try wire.receive(atMost: mostUnexplained)
        } catch {
            throw broken(error)
        }
        guard isWithinLimit else {
            throw MQTTFailure(
                "\(settings.address): the broker sends more than answers"
                    + (subscriptions.isEmpty ? ", although nothing is subscribed to" : " and what was subscribed to"))
        }
        // One call reads no more packets than there are messages in flight, and the rest is not reported.
        var unread = Int32.max
        repeat {
            unread = MQTTWire.unread(at: functions.mosquitto_socket(handle))
            try check { handle, _ in cmosquitto_loop_read(handle) }
            guard !hasExactlyOnce else {
                throw MQTTFailure(
                    "\(settings.address): the broker sends with QoS 2, which nothing is subscribed to with")
            }
        } while (1..<unread).contains(MQTTWire.unread(at: functions.mosquitto_socket(handle)))
        try flush()
    }

    func write() throws(MQTTFailure) {
        try check(functions.mosquitto_loop_write)
        try flush()
    }

    /// Sends PINGREQ when it is due; throws when the broker has not answered the last one.
    func keepAlive() throws(MQTTFailure) {
        let now = SystemClock.monotonic()
        if now - pingTime >= Int64(settings.keepaliveSeconds) * 1_000_000_000 {
            pingTime = now
            wire?.explain(MQTTLimits.bytesPerPacket)
        }
        try check { handle, _ in functions.mosquitto_loop_misc(handle) }
        try flush()
    }

    /// Explains a broken connection in the library's terms.
    private func broken(_ error: SystemError) -> MQTTFailure {
        failure(error.code == ECONNRESET ? MOSQ_ERR_CONN_LOST.code : MOSQ_ERR_ERRNO.code, error.code)
    }

    private func flush() throws(MQTTFailure) {
        do throws(SystemError) {
            try wire?.send()
        } catch {
            throw broken(error)
        }
    }

    /// Sends a message; throws when the connection is lost.
    ///
    /// Returns the ID for ``removeAcknowledged()``; `nil` when the message is not valid in MQTT.
    func publish(_ payload: [UInt8], to topic: String, quality: Int = 1, isRetained: Bool) throws(MQTTFailure)
        -> Int32?
    {
        var number: Int32 = 0
        let (result, code) = withErrno {
            functions.mosquitto_publish(
                handle, &number, topic, Int32(clamping: payload.count), payload, Int32(quality), isRetained)
        }
        switch result {
        case MOSQ_ERR_SUCCESS.code:
            // The library itself answers a message of quality 0.
            if quality > 0 { unanswered.add(number) }
            try flush()
            return number
        case MOSQ_ERR_INVAL.code, MOSQ_ERR_PAYLOAD_SIZE.code, MOSQ_ERR_MALFORMED_UTF8.code,
            MOSQ_ERR_OVERSIZE_PACKET.code:
            return nil
        default: throw failure(result, code)
        }
    }

    /// Subscribes to topics, with their retained messages, with QoS 0; `ownBytes` is the size of our own messages there, which
    /// the broker returns.
    ///
    /// Returns the ID for ``removeAcknowledged()``.
    func subscribe(to filter: String, _ allowance: MQTTAllowance, ownBytes: Int = 0) throws(MQTTFailure) -> Int32 {
        subscriptions.removeAll { $0.filter == filter }
        subscriptions.append(MQTTSubscription(filter: filter, allowance: allowance))
        mostUnexplained += ownBytes
        var number: Int32 = 0
        try send { functions.mosquitto_subscribe(handle, &number, filter, 0) }
        unansweredSubscriptions.insert(number)
        unanswered.add(number)
        return number
    }

    /// Waits no longer for the answer to a message.
    func abandon(_ message: Int32) { unanswered.remove(message, at: nil) }

    /// Whether messages arrived since the last call that were not subscribed to.
    func removeUnexpected() -> Bool {
        defer { hasUnexpected = false }
        return hasUnexpected
    }

    /// Ends the subscriptions to which more came than is allowed, and returns their filters.
    func endExhausted() throws(MQTTFailure) -> [String] {
        var filters: [String] = []
        for index in subscriptions.indices where subscriptions[index].allowance.isExhausted {
            guard !subscriptions[index].isEnded else { continue }
            subscriptions[index].isEnded = true
            filters.append(subscriptions[index].filter)
            try send { functions.mosquitto_unsubscribe(handle, nil, subscriptions[index].filter) }
        }
        return filters
    }

    private func send(_ body: () -> Int32) throws(MQTTFailure) {
        let (result, code) = withErrno(body)
        guard result == MOSQ_ERR_SUCCESS.code else { throw failure(result, code) }
        try flush()
    }

    /// The topics of the retained descriptions that arrived since the last call.
    func removeDescriptions() -> [String] {
        defer { descriptions.removeAll() }
        return descriptions
    }

    /// Sends DISCONNECT, so that the broker discards the will.
    func disconnect() {
        _ = functions.mosquitto_disconnect(handle)
        // A broken connection needs no further handling.
        try? flush()
    }

    /// The acknowledgements since the last call, in the broker's order.
    func removeAcknowledged() -> [Acknowledgement] {
        defer { acknowledged.removeAll(keepingCapacity: true) }
        return acknowledged
    }

    // MARK: - Failures

    private func check(_ body: (OpaquePointer, Int32) -> Int32) throws(MQTTFailure) {
        let (result, code) = withErrno { body(handle, 1) }
        guard result == MOSQ_ERR_SUCCESS.code else { throw failure(result, code) }
    }
}

extension mosq_err_t {
    /// The code that the library's functions return.
    var code: Int32 { Int32(rawValue) }
}
