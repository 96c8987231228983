import Binnacle
import LinuxSystem

/// Posts events in order, one at a time; for one thread.
///
/// An event is acknowledged when the service has taken it, so it may get an event twice when a connection breaks, or when the
/// request is cut short by the end of the program.
package final class HTTPSender {
    private let settings: HTTPSettings
    private let port: HandlerPort
    private var client: HTTPClient?
    private var failures: FailureReports
    private var current: Delivery?
    /// How often the current event was refused because of the place or the login.
    private var refusalCount = 0
    /// Whether an event was given up for that since the service took one.
    private var isMisplaced = false
    /// Events that were given up for a cause that was reported before.
    private let skipped: EventDrops

    /// The plan of a handler that posts its events.
    package static func plan(_ settings: HTTPSettings, _ pauses: RetryPauses = RetryPauses()) -> HandlerPlan {
        var plan = HandlerPlan { port in HTTPSender(settings, port, FailureReports(port, pauses)).run() }
        plan.startsWithEvent = true
        plan.deliveryLimit = 256
        plan.pace = .room(done: "sent")
        return plan
    }

    private init(_ settings: HTTPSettings, _ port: HandlerPort, _ failures: FailureReports) {
        self.settings = settings
        self.port = port
        self.failures = failures
        skipped = EventDrops(
            handler: port.name, reason: "\(settings.place) refuses them", report: { port.report($0) })
    }

    private func run() {
        defer { skipped.reportRest() }
        while true {
            // Read first, so that events queued before the request are included.
            let isStopping = port.stop != nil
            let pause = reportDrops()
            if current == nil { current = port.removeFirst(atMost: 1).first }
            if let item = current, port.leavesOut(item) {
                finish(item)
                continue
            }
            guard let item = current else {
                if isStopping { return }
                port.courier.wait(milliseconds: pause)
                continue
            }
            guard let answer = send(item.event) else { return }
            switch answer {
            case .accepted:
                isMisplaced = false
                skipped.reportRest()
                failures.recover()
                finish(item)
            case .refused(let reason, let cause):
                skip(item, reason, cause)
            case .misplaced(let reason, let cause):
                refusalCount += 1
                guard refusalCount <= settings.retryLimit, !isMisplaced else {
                    isMisplaced = true
                    skip(item, reason, cause)
                    continue
                }
                guard wait(reason, cause: cause, 0) else { return }
            case .unavailable(let reason, let cause, let pause):
                guard wait(reason, cause: cause, pause) else { return }
            }
        }
    }

    private func finish(_ item: Delivery) {
        current = nil
        refusalCount = 0
        port.finish(item)
    }

    /// Reports a failure, and waits before the next attempt; `false` when there is none.
    private func wait(_ reason: String, cause: String, _ pause: Int64) -> Bool {
        failures.fail("\(settings.address): \(reason)", cause: cause)
        return failures.waitBeforeRetry(atLeast: pause) { attemptTime in
            _ = reportDrops()
            return port.isOver(at: attemptTime)
        }
    }

    /// Gives an event up; the first one for each cause is reported with its reason, and all are counted.
    private func skip(_ item: Delivery, _ reason: String, _ cause: String) {
        let event = item.event
        let isNamed = failures.fail(
            "\(settings.address): event \(event.sequence) (\(event.kind.rawValue)) is given up: \(reason)",
            cause: "given up: \(cause)")
        // A replay says at its end how many events were not sent.
        if port.isReplay { port.abandon([item]) }
        if !isNamed || !port.isReplay { skipped.add(event) }
        finish(item)
    }

    /// Reports what is due of the events that had no room and of those that were given up; returns the longest wait for the
    /// next in milliseconds, or −1 for an infinite one.
    private func reportDrops() -> Int32 {
        let pause = port.reportDrops()
        guard let rest = skipped.reportDue(hasRoom: false) else { return pause }
        let milliseconds = SystemClock.milliseconds(until: Units.nanoseconds(rest), from: 0)
        return pause < 0 ? milliseconds : min(pause, milliseconds)
    }

    /// Posts an event; `nil` when a request to stop cut that short.
    private func send(_ event: Event) -> HTTPClient.Answer? {
        if client == nil { client = HTTPClient(settings) }
        guard let client else {
            return .unavailable(
                HTTPClient.missingLibrary ?? "there is no memory for a request", cause: "libcurl", pause: 0)
        }
        let password: String?
        do throws(HandlerPassword.Failure) {
            password = try settings.password?.read()
        } catch {
            return .unavailable(error.reason, cause: error.reason, pause: 0)
        }
        if let password, let problem = problem(with: password) {
            return .unavailable(problem, cause: problem, pause: 0)
        }
        guard client.start(request(event, password)) else {
            return .unavailable("libcurl does not take the request", cause: "request", pause: 0)
        }
        while true {
            let end = port.stop?.time(after: 90) ?? .max
            guard SystemClock.monotonic() < end else {
                _ = client.end(hiding: password)
                return nil
            }
            let pause = min(1000, SystemClock.milliseconds(until: end))
            if client.turn(waking: port.courier.waker.descriptor, milliseconds: pause) {
                return client.end(hiding: password)
            }
            port.courier.waker.clear()
        }
    }

    /// What would make another request of a password.
    private func problem(with password: String) -> String? {
        if password.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            return "the password holds a control character"
        }
        let isInPath = settings.path.contains(.secret)
        guard isInPath, password.utf8.contains(where: { !(0x21..<0x7F).contains($0) || $0 == UInt8(ascii: "#") })
        else { return nil }
        return "the secret holds a character that stands in no URL"
    }

    private func request(_ event: Event, _ password: String?) -> HTTPClient.Request {
        let isInPath = settings.path.contains(.secret)
        var headers = ["Expect:"]
        let hasType = settings.headers.contains { $0.name.lowercased() == "content-type" }
        if !hasType {
            headers.append(
                "Content-Type: " + (settings.payload == nil ? "application/json" : "text/plain; charset=utf-8"))
        }
        for header in settings.headers {
            // A value of an event must not begin another header.
            let value = String(
                decoding: header.value.text(for: event).utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 },
                as: UTF8.self)
            if value.contains(where: { $0 != " " }) { headers.append("\(header.name): \(value)") }
        }
        if let password, settings.user == nil, !isInPath { headers.append("Authorization: Bearer \(password)") }
        let body = settings.payload?.text(for: event) ?? settings.json?.json(for: event) ?? event.json
        return HTTPClient.Request(
            url: settings.url(secret: password), headers: headers, body: Array(body.utf8), user: settings.user,
            password: password)
    }
}
