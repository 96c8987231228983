import LinuxSystem

/// The limits of what a broker, and its other clients, can cause; SECURITY.md lists them.
package enum MQTTLimits {
    /// The bytes that may arrive unexplained: a handshake, and a packet that is not complete.
    package static let unexplainedBytes = 262_144
    /// The bytes that an acknowledgement explains, or a message beside its topic and payload.
    static let bytesPerPacket = 512
    /// More messages than are ever in flight; the library would queue the excess in its own memory.
    static let inFlight: UInt32 = 4000
    /// The longest topic at which messages are accepted, in bytes.
    package static let topicBytes = 1024
    /// The number of messages at the topics of descriptions that are accepted from a connection, beside twice our own.
    package static let descriptions = 2000
    /// The longest request, in bytes.
    static let requestBytes = 256
    /// The number of requests that are accepted at once, and the number in each second.
    package static let requests = (atOnce: 1000, perSecond: 100)
    /// The number of events that are published again at once, and the number in each second.
    package static let repeats = (atOnce: 1000, perSecond: 1000)
}

/// How many messages are allowed: some at once, and a number in each second.
struct MQTTAllowance {
    private let most: Double
    private let perSecond: Double
    private var left: Double
    private var time = SystemClock.monotonic()
    /// Whether a message was not allowed.
    private(set) var isExhausted = false

    init(_ limit: (atOnce: Int, perSecond: Int)) {
        most = Double(limit.atOnce)
        perSecond = Double(limit.perSecond)
        left = most
    }

    /// Counts a message, and returns whether it is allowed.
    mutating func take() -> Bool {
        let now = SystemClock.monotonic()
        left = min(most, left + Double(now - time) / 1e9 * perSecond)
        time = now
        isExhausted = left < 1
        if !isExhausted { left -= 1 }
        return !isExhausted
    }
}

/// What is subscribed to, and how many messages may come there.
struct MQTTSubscription {
    let filter: String
    var allowance: MQTTAllowance
    /// Whether the broker was asked to send no more.
    var isEnded = false

    /// Whether messages at a topic were subscribed to; `+` is any level.
    func includes(_ topic: String) -> Bool {
        guard topic.utf8.count <= MQTTLimits.topicBytes else { return false }
        let (levels, allowed) = (Self.levels(topic), Self.levels(filter))
        return levels.count == allowed.count
            && zip(levels, allowed).allSatisfy { $1.elementsEqual("+".utf8) || $0.elementsEqual($1) }
    }

    private static func levels(_ topic: String) -> [Substring.UTF8View] {
        topic.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }
}
