import Foundation
package import Testing

/// Waits until something is the case, and fails when it is not within two minutes, which is long on a busy machine, too.
///
/// - Parameters:
///   - what: What is waited for, and what is known of it; it is evaluated at the end.
///   - sourceLocation: Where the failure is shown.
///   - isCase: Whether it is the case; asked often at first, and then a hundred times a second.
/// - Throws: An error when the time is over, so that a test does not go on with a state that it does not have.
@available(*, noasync, message: "a task leaves its thread to others: try await waitUntil")
@_disfavoredOverload  // Where both fit, the one below.
package func waitUntil(
    _ what: @autoclosure () throws -> String, sourceLocation: SourceLocation = #_sourceLocation,
    isCase: () throws -> Bool
) throws {
    let end = ContinuousClock.now + .seconds(120)
    var pause: UInt32 = 250
    while try !isCase() {
        guard ContinuousClock.now < end else {
            Issue.record("waited in vain for \(try what())", sourceLocation: sourceLocation)
            throw CancellationError()
        }
        usleep(pause)
        pause = min(2 * pause, 10_000)
    }
}

/// Waits as the function above does, and leaves its thread to other tasks meanwhile: all tests share as many threads as there are
/// processors.
package func waitUntil(
    _ what: @autoclosure () throws -> String, sourceLocation: SourceLocation = #_sourceLocation,
    isCase: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(120)
    var pause = 250
    while try await !isCase() {
        guard ContinuousClock.now < end else {
            Issue.record("waited in vain for \(try what())", sourceLocation: sourceLocation)
            throw CancellationError()
        }
        try await Task.sleep(for: .microseconds(pause))
        pause = min(2 * pause, 10_000)
    }
}
