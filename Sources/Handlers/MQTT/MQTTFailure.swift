/// Why there is no connection to a broker, in words for people.
struct MQTTFailure: Error, Equatable {
    /// The reason, as a part of a sentence.
    let reason: String
    /// Whether the broker closed a connection that it had accepted.
    var isClosedByBroker = false
    /// Whether there was no answer at all from the machine that the broker should be on.
    var isUnreachable = false

    /// Whether it only tells that a host cannot be reached by IPv4.
    var isDetour = false

    /// Creates a failure.
    init(_ reason: String) {
        self.reason = reason
    }
}
