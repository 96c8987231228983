import Synchronization

/// How far a subscriber has come, for whoever asks on another thread.
final class SubscriberGauge: Sendable {
    /// Who it is.
    let peer: PeerCredentials
    /// The number of the last event that was looked at for it.
    let sequence = Atomic<UInt64>(0)
    /// How many events it did not get.
    let missed = Atomic<UInt64>(0)

    /// Creates the gauge of a new subscriber.
    init(peer: PeerCredentials) {
        self.peer = peer
    }
}
