/// How a handler that sends sentences is doing.
package struct NMEAStatistics: Sendable, Equatable {
    /// The port at which connections come in; `nil` when none do.
    package var port: Int?
    /// Why nothing can be sent; `nil` when it can, as far as anybody knows.
    package var failure: String?
    /// The sentences that were sent, each counted once, whoever got it.
    package var sentCount = 0
    /// The connections that are open.
    package var clientCount = 0
    /// The connections that were closed because all places were taken.
    package var refusedCount = 0
    /// The connections that were closed because they took nothing for too long.
    package var slowCount = 0
}
