/// How a handler that publishes to a broker is doing.
package struct MQTTStatistics: Sendable, Equatable {
    /// The broker.
    package var broker: String
    /// Since when the broker has accepted the connection, on CLOCK_MONOTONIC; `nil` when there is none.
    package var connectedSinceNanoseconds: Int64?
    /// Why there is no connection, or why the last one ended; `nil` once one has lasted.
    package var failure: String?
    /// The events that wait to be sent for the first time.
    package var queuedCount = 0
    /// The events that were sent, or are to be sent again, and that the broker has not acknowledged.
    package var inFlightCount = 0
    /// The events that the broker acknowledged.
    package var publishedCount = 0
    /// The events that the broker would not take, and that were passed over.
    package var refusedCount = 0
    /// The events for which there was no room.
    package var droppedCount = 0
    /// The connections that were accepted after the first.
    package var reconnectCount = 0

    /// Whether no event waits for anything.
    var isIdle: Bool { queuedCount == 0 && inFlightCount == 0 }
}
