import Binnacle
import EventSocket
import FuzzDriver
import PlainText

/// The package manager calls an executable's main by this name.
@_cdecl("FuzzSocket_main")
public func fuzzMain(
    _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    runFuzzer(argumentCount, arguments) { fuzzOne($0, $1) }
}

/// Feeds one input: its first byte chooses between what a server and what a client reads.
///
/// Whatever traps, or breaks one of the promises below, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let rest = UnsafeBufferPointer(start: bytes + 1, count: count - 1)
    if bytes[0] % 2 == 1 { fuzzRequest(rest) } else { fuzzMessage(rest) }
    return 0
}

/// Requests: what is accepted is read back from its own line, and a fault has a place in the text.
private func fuzzRequest(_ bytes: UnsafeBufferPointer<UInt8>) {
    do throws(SocketRequest.SyntaxError) {
        let request = try SocketRequest(parsing: bytes)
        precondition((try? SocketRequest(parsing: request.json.utf8)) == request)
        guard case .subscribe(let subscription) = request else { return }
        precondition(
            subscription.filter.kinds?.isEmpty != true || subscription.readings != nil || subscription.samples != nil)
        precondition(subscription.samples == nil || subscription.follows)
        precondition((subscription.samples?.sensors?.count ?? 1) <= SocketRequest.mostSensors)
        precondition((subscription.filter.sensors?.count ?? 1) <= SocketRequest.mostSensors)
    } catch {
        precondition(error.column >= 1 && error.column <= bytes.count + 1)
        precondition(!error.message.isEmpty && error.message.utf8.count < 4096)
        // A message fits on a line.
        precondition(!SocketMessage.error(message: error.message, column: error.column).json.utf8.contains(10))
    }
}

/// Messages: what is read is the same when it is written and read again.
private func fuzzMessage(_ bytes: UnsafeBufferPointer<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let message = try? SocketMessage(parsing: text) else { return }
    let again = try? SocketMessage(parsing: message.json)
    if case .event(let event, _) = message {
        // A figure that is no number is equal to nothing, not even to itself.
        guard case .event(let other, _) = again else { preconditionFailure("an event is no event any more") }
        precondition(other.json == event.json)
    } else if case .readings(let readings) = message {
        // Figures have a fixed number of decimals.
        guard case .readings(let other) = again else { preconditionFailure("readings are none any more") }
        precondition(other.json == readings.json)
    } else if case .samples(let samples) = message {
        // An axis without a number is equal to nothing.
        guard case .samples(let other) = again else { preconditionFailure("samples are none any more") }
        precondition(other.json == samples.json)
    } else {
        precondition(again == message)
    }
}
