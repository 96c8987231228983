package import Binnacle

/// A handler whose events a store keeps, so that they are handled at least once and in order across restarts.
///
/// It says of each delivery when it is done with it, through what it was created with: on any thread, once, also when it
/// failed for good. What it is told to ``ThreadedHandler/end(within:)`` before it is done with, it never speaks of, and the
/// next one of its name gets that again. Without a store it gets its events through `handle(_:)`, as all do.
package protocol DeliveringHandler: ThreadedHandler, Sendable {
    /// The most deliveries that it is ever given before it is done with one of them.
    var deliveryLimit: Int { get }
    /// Takes deliveries, in their order, on one thread, which may be another than that of ``ThreadedHandler/end(within:)``, and
    /// without waiting.
    func deliver(_ deliveries: [Delivery])
}
