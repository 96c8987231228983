import Binnacle
import Handlers
import LinuxSystem
import PlainText

/// A request for missed events: `{"after":41}`, or `{"after":41,"through":50}`.
struct MQTTRequest: Equatable {
    let after: UInt64
    /// The last number; `nil` for the newest.
    let through: UInt64?

    /// Why a message is not a valid request.
    struct Fault: Error {
        let reason: String
    }

    init(after: UInt64, through: UInt64? = nil) {
        self.after = after
        self.through = through
    }

    init(_ message: [UInt8]) throws(Fault) {
        let longest = MQTTLimits.requestBytes
        guard message.count <= longest else { throw Fault(reason: "it is longer than \(longest) bytes") }
        let value: JSONValue
        do throws(JSONReader.SyntaxError) {
            value = try JSONReader.value(of: message)
        } catch {
            throw Fault(reason: "it is no JSON: \(error)")
        }
        guard case .object(let members) = value else { throw Fault(reason: #"it has to be as {"after":41}"#) }
        var numbers: [String: UInt64] = [:]
        for member in members {
            let key = member.key
            guard ["after", "through"].contains(key), let number = member.value.sequence else {
                throw Fault(reason: #"it has to be as {"after":41,"through":50}, with whole numbers"#)
            }
            numbers[key] = number
        }
        guard let after = numbers["after"] else { throw Fault(reason: #"it has no "after""#) }
        self.init(after: after, through: numbers["through"])
    }
}

/// Publishes missed events again, page by page from the store.
struct MQTTRepeats {
    private struct Work {
        var request: MQTTRequest
        var position: UInt64
        var lines: ArraySlice<EventLine> = []
        var isReading = false
        var isRead = false
        /// The oldest event in the store.
        var first: UInt64 = 0
        var count = 0
        /// Receives pages on the store's thread.
        let inbox = Gauges<EventPage?>(nil)
    }

    private var work: Work?
    /// The requests that came during the work, as one.
    private var next: MQTTRequest?
    private var inFlight: Set<Int32> = []
    private var allowance = MQTTAllowance(MQTTLimits.repeats)

    /// The maximum number of messages in flight, so that new events need not wait long.
    private static let windowLimit = 16
    private static let pageSize = 64

    var inFlightCount: Int { inFlight.count }
    /// Whether more is sent when time has passed.
    var isPaced: Bool { allowance.isExhausted && work?.lines.isEmpty == false }

    /// Begins an answer; what is requested until its end gets one answer together.
    mutating func begin(_ request: MQTTRequest) {
        guard work != nil else {
            work = Work(request: request, position: request.after)
            return
        }
        guard let old = next else {
            next = request
            return
        }
        let through = old.through.flatMap { old in request.through.map { max(old, $0) } }
        next = MQTTRequest(after: min(old.after, request.after), through: through)
    }

    /// Handles the end of a connection: clients that still wait repeat their requests.
    mutating func reset() {
        work = nil
        next = nil
        inFlight = []
    }

    mutating func finish(_ message: Int32) { inFlight.remove(message) }

    /// Reads and sends as many of the handler's `events` as fit into the window.
    ///
    /// `wake` is called on any thread when there is more to send; `send` returns the message, or `nil` for an event that cannot
    /// be sent. Returns the answer when everything was sent, and the reason when the history cannot be read.
    mutating func advance(
        _ history: any EventHistory, _ events: HandledEvents, wake: @escaping @Sendable () -> Void,
        send: (Event) throws(MQTTFailure) -> Int32?
    ) throws(MQTTFailure) -> (answer: String?, failure: String?) {
        guard var work else { return (nil, nil) }
        defer {
            let isDone = work.isRead && work.lines.isEmpty
            self.work = isDone ? next.map { Work(request: $0, position: $0.after) } : work
            if isDone { next = nil }
        }
        if work.isReading, let page = work.inbox.change({ $0.take() }) {
            work.isReading = false
            if page.failure != nil || page.isClosed {
                (work.isRead, work.lines) = (true, [])
                return (nil, page.failure)
            }
            let last = work.request.through ?? .max
            work.lines = page.lines.filter { $0.sequence <= last }[...]
            work.position = page.through
            work.first = page.first
            work.isRead = page.isLast || page.through >= last
        }
        while inFlight.count < Self.windowLimit, !work.lines.isEmpty, allowance.take(),
            let line = work.lines.popFirst()
        {
            guard let event = try? Event(json: line.json), events.accepts(event) else { continue }
            guard let message = try send(event) else { continue }
            inFlight.insert(message)
            work.count += 1
        }
        guard work.lines.isEmpty else { return (nil, nil) }
        guard !work.isRead else { return (Self.answer(work), nil) }
        if !work.isReading {
            work.isReading = true
            let query = EventQuery(
                after: work.position, filter: EventFilter(kinds: events.kinds), limit: Self.pageSize)
            history.read(query) { [inbox = work.inbox] page in
                inbox.change { $0 = page }
                wake()
            }
        }
        return (nil, nil)
    }

    private static func answer(_ work: Work) -> String {
        var object = JSONObject()
        object.add("after", raw: String(work.request.after))
        object.add("through", raw: String(min(work.position, work.request.through ?? .max)))
        object.add("first", raw: String(work.first))
        object.add("events", raw: String(work.count))
        return object.text
    }
}
