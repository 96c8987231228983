import Binnacle
import Foundation
import Handlers
import LinuxSystem
import TestSupport
import Testing

private let isAvailable = HTTPClient.missingLibrary == nil && PostServer.program != nil

@Suite(.enabled(if: isAvailable, "libcurl4 or python3 is not installed; `scripts/setup test` installs both"))
struct HTTPTests {
    @Test func eventsArePostedInOrderAndAcknowledged() throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x")
        run.handler.deliver(deliveries(1...20))
        try waitUntil("20 acknowledgements; \(run.reasons)") { run.acknowledged.all.count == 20 }
        #expect(server.numbers == Array(1...20) && run.acknowledged.all == Array(1...20))
        let post = try #require(server.posts.first)
        #expect(post.headers["Content-Type"] == "application/json" && post.headers["Expect"] == nil)
        #expect(run.end() == 0 && run.reasons.isEmpty)
    }

    @Test(arguments: ["503", "408", "425", "429", "500", "close"])
    func whatMayPassIsTriedAgainUntilItIsTaken(answer: String) throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?\(Array(repeating: answer, count: 9).joined(separator: ",")),200") {
            $0.retryLimit = 0
        }
        run.handler.deliver(deliveries(1...2))
        try waitUntil("2 acknowledgements; \(run.reasons)") { run.acknowledged.all == [1, 2] }
        #expect(server.numbers == Array(repeating: 1, count: 10) + [2])
        // Each reason once, and its end.
        #expect(run.reasons.count == 1 && run.reports.of(.handlerRecovered).count == 1, "\(run.reasons)")
        #expect(run.reasons[0].hasPrefix("http://127.0.0.1:"), "\(run.reasons)")
    }

    @Test func anEventThatIsRefusedIsGivenUpAtOnce() throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?400,400,422,400,413,200")
        run.handler.deliver(deliveries(1...6))
        try waitUntil("6 acknowledgements; \(run.reasons)") { run.acknowledged.all == Array(1...6) }
        #expect(server.numbers == Array(1...6))
        // The first of each cause is named, and all are counted; the one that is taken ends it.
        #expect(run.reasons.count == 3 && run.reports.droppedCount == 5, "\(run.reasons)")
        #expect(run.reasons[1].contains("event 3") && run.reasons[2].contains("event 5"), "\(run.reasons)")
        #expect(run.reports.of(.handlerRecovered).count == 1)
        #expect(run.reasons[0].contains("event 1 (motion.began) is given up: it answers 400: no\\u{1b}[31m"))
    }

    @Test func aReplayCountsWhatIsGivenUpAsNotSent() throws {
        let server = try PostServer()
        let folder = try TemporaryFolder(["log": ""])
        let descriptor = try Descriptor(path: folder.path + "/log", flags: O_RDWR)
        let log = LineWriter(descriptor: descriptor.raw)
        let refusals = Array(repeating: "400", count: 5).joined(separator: ",")
        let plan = HTTPSender.plan(HTTPRun.settings(server, "/x?\(refusals)"))
        let handler = try AwaitedHandler(plan, HandlerContext(name: "hook", log: log))
        for item in deliveries(1...5) { handler.handle(item.event) }
        handler.finish()
        log.flush()
        let said = contents(of: folder.path + "/log") ?? ""
        #expect(said.contains("event 1 (motion.began) is given up: it answers 400"), "\(said)")
        #expect(said.contains(" events left out, because http://") && !said.contains("not run"), "\(said)")
        // It ends with a status of its own for that.
        #expect(said.contains("hook: 5 events were not sent"), "\(said)")
    }

    /// The status decides, also when the rest of the answer is cut off or does not come.
    @Test(arguments: ["cut", "late"])
    func aRefusalWithoutItsEndIsOne(answer: String) throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?\(answer),200") { $0.timeout = .seconds(3) }
        run.handler.deliver(deliveries(1...2))
        try waitUntil("2 acknowledgements; \(run.reasons)") { run.acknowledged.all == [1, 2] }
        #expect(server.numbers == [1, 2])
        #expect(run.reasons.count == 1 && run.reasons[0].contains("is given up: it answers 400"), "\(run.reasons)")
    }

    /// What is given up is counted while the service refuses, and not at the end alone.
    @Test func whatIsGivenUpIsCountedMeanwhile() throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?400")
        run.handler.deliver(deliveries(1...3))
        try waitUntil("the count; \(run.reasons)") { run.reports.droppedCount == 3 }
    }

    /// Texts that differ in figures alone are one failure: "after 301 milliseconds", "after 300 milliseconds".
    @Test func aCauseIsReportedOnce() throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?\(Array(repeating: "slow", count: 5).joined(separator: ",")),200") {
            $0.timeout = .milliseconds(200)
        }
        run.handler.deliver(deliveries(1...1))
        try waitUntil("the acknowledgement; \(run.reasons)") { run.acknowledged.all == [1] }
        #expect(run.reasons.count == 1, "\(run.reasons)")
    }

    @Test(arguments: ["401", "403", "404", "301"])
    func aWrongPlaceIsTriedAsOftenAsTheConfigurationSays(answer: String) throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?\(Array(repeating: answer, count: 5).joined(separator: ",")),200") {
            $0.retryLimit = 2
        }
        run.handler.deliver(deliveries(1...4))
        try waitUntil("4 acknowledgements; \(run.reasons)") { run.acknowledged.all == [1, 2, 3, 4] }
        // Three attempts for the first, one for each of the next, until one is taken.
        #expect(server.numbers == [1, 1, 1, 2, 3, 4])
        #expect(!server.posts.contains { $0.path == "/elsewhere" })
        #expect(run.reasons.contains { $0.contains("event 1 (motion.began) is given up: it answers \(answer)") })
        #expect(run.reports.droppedCount == 3)
    }

    @Test func whatIsNotTakenWhenTheHandlerEndsIsLeftToItsSuccessor() throws {
        let server = try PostServer()
        let first = try HTTPRun(server, "/x?503,503,503,503,503,503,503,503,503,503,503,503,503,503,503,503,200")
        first.handler.deliver(deliveries(1...3))
        _ = try first.waitForFailure("503")
        first.end(within: .zero)
        #expect(first.acknowledged.all.isEmpty)
        let second = try HTTPRun(server, "/y")
        second.handler.deliver(deliveries(1...3))
        try waitUntil("3 acknowledgements") { second.acknowledged.all == [1, 2, 3] }
    }

    /// Nor does it when it is armed again before the next attempt.
    @Test(arguments: [false, true]) func aDisarmedHandlerTriesNothingAgainAndGoesOn(isArmedAgain: Bool) throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?503,503,503,503,503,503,503,503,503,503,503,503,503,503,503,503,200")
        run.handler.deliver(deliveries(1...1))
        _ = try run.waitForFailure("503")
        run.handler.isArmed = false
        run.handler.isArmed = isArmedAgain
        let disarmed = Event(kind: .handlerDisarmed, sequence: 2, timeNanoseconds: 1)
        run.handler.deliver([Delivery(event: disarmed, ticket: 2)])
        try waitUntil("2 acknowledgements; \(run.reasons)") { run.acknowledged.all == [1, 2] }
        #expect(server.numbers.last == 2 && run.handler.leftOutCount == 1)
    }

    @Test func aServiceThatDoesNotAnswerDelaysNoEnd() throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?slow")
        run.handler.deliver(deliveries(1...1))
        try waitUntil("the request") { server.posts.count == 1 }
        run.end(within: .milliseconds(100))
        #expect(run.handler.hasEnded && run.acknowledged.all.isEmpty)
    }

    @Test func aSlowAnswerIsCutAndTriedAgain() throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?slow,200") { $0.timeout = .milliseconds(300) }
        run.handler.deliver(deliveries(1...1))
        try waitUntil("the acknowledgement; \(run.reasons)") { run.acknowledged.all == [1] }
        #expect(server.numbers == [1, 1] && run.reasons.contains { $0.contains("timed out") }, "\(run.reasons)")
    }

    /// An hour's `Retry-After` is kept: the second request does not come.
    @Test func theServiceSaysHowLateItIsTriedAgain() throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?later,200")
        run.handler.deliver(deliveries(1...1))
        _ = try run.waitForFailure("429")
        // That nothing comes cannot be waited for: the usual pauses are 20 ms here.
        usleep(300_000)
        #expect(server.numbers == [1])
        run.end(within: .zero)
    }

    @Test(arguments: [("huge", "given up"), ("head", nil), ("200huge", nil)] as [(String, String?)])
    func anAnswerWithoutEndFillsNoMemory(answer: String, reason: String?) throws {
        let server = try PostServer()
        let run = try HTTPRun(server, "/x?\(answer),200")
        run.handler.deliver(deliveries(1...2))
        try waitUntil("2 acknowledgements; \(run.reasons)") { run.acknowledged.all == [1, 2] }
        if let reason { #expect(run.reasons.contains { $0.contains(reason) && $0.utf8.count < 600 }, "\(run.reasons)") }
    }

    @Test func aTemplateIsTheBodyAndNoValueBeginsAHeader() throws {
        let server = try PostServer()
        let text = try HTTPRun(server, "/text") {
            $0.payload = try? CommandTemplate.Argument(parsing: "{kind} of {sensor}")
            $0.headers = [
                HTTPSettings.Header(name: "Title", value: CommandTemplate.Argument([.placeholder(.sensor)])),
                HTTPSettings.Header(name: "Tags", value: CommandTemplate.Argument([.placeholder(.detector)])),
            ]
        }
        var hostile = event(1, kind: .motionBegan)
        hostile.detector = nil
        hostile.sensor = "bow\r\nHost: other\r\n\r\n{}"
        text.handler.handle(hostile)
        try waitUntil("the text") { server.posts.count == 1 }
        let post = server.posts[0]
        #expect(post.body == "motion.began of bow\r\nHost: other\r\n\r\n{}")
        #expect(post.headers["Content-Type"] == "text/plain; charset=utf-8" && post.headers["Tags"] == nil)
        #expect(post.headers["Title"] == "bow  Host: other    {}" && post.headers["Host"] == "127.0.0.1:\(server.port)")

        let json = try HTTPRun(server, "/json") {
            $0.json = .object([
                JSONTemplate.Member(key: "a\"b", value: .text(CommandTemplate.Argument([.placeholder(.sensor)]))),
                JSONTemplate.Member(key: "list", value: .array([.literal("8"), .literal("true")])),
            ])
        }
        json.handler.handle(hostile)
        try waitUntil("the JSON") { server.posts.count == 2 }
        #expect(
            server.posts[1].body
                == #"{"a\"b":"bow\u000d\u000aHost: other\u000d\u000a\u000d\u000a{}","list":[8,true]}"#)
    }

    @Test func aPasswordIsATokenALoginOrAPartOfTheAddress() throws {
        let server = try PostServer()
        try server.folder.write("token", "tk_1\n")
        chmod(server.folder.path + "/token", 0o600)
        let password = HandlerPassword.file(server.folder.path + "/token")
        for change: (inout HTTPSettings) -> Void in [
            { $0.password = password },
            {
                $0.password = password
                $0.user = "box"
            },
            {
                $0.password = password
                $0.path = [.text("/hook/"), .secret, .text("?400")]
            },
        ] {
            let run = try HTTPRun(server, "/x", change: change)
            let count = server.posts.count
            run.handler.handle(event(1, kind: .motionBegan))
            try waitUntil("a request; \(run.reasons)") {
                server.posts.count > count && run.handler.unfinishedCount == 0
            }
            #expect(!run.reasons.contains { $0.contains("tk_1") }, "\(run.reasons)")
        }
        #expect(
            server.posts.map { $0.headers["Authorization"] ?? "none" } == ["Bearer tk_1", "Basic Ym94OnRrXzE=", "none"])
        #expect(server.posts.last?.path == "/hook/tk_1?400")
    }

    /// A service may repeat the header that it got, also in JSON.
    @Test(arguments: [("box", "tk_1", "Ym94OnRrXzE="), (nil, #"tk"/1"#, #"tk\"/1"#)] as [(String?, String, String)])
    func noFormOfAPasswordIsReported(user: String?, secret: String, form: String) throws {
        let server = try PostServer()
        try server.folder.write("token", secret + "\n")
        let path = server.folder.path + "/token"
        chmod(path, 0o600)
        let run = try HTTPRun(server, "/x?json,200") {
            $0.password = .file(path)
            $0.user = user
        }
        run.handler.deliver(deliveries(1...1))
        try waitUntil("the acknowledgement; \(run.reasons)") { run.acknowledged.all == [1] }
        let reason = try #require(run.reasons.first)
        #expect(reason.contains("it answers 429: \"") && ![form, secret].contains { reason.contains($0) }, "\(reason)")
    }

    /// Of a page, of Go's JSON, of a form, in a mixture, escaped twice, and cut by the end of what is kept.
    @Test(arguments: [
        ("no /hook/a&amp;b &lt;é&gt;&quot;/1 here", "no /hook/… here"),
        ("a&#38;b&#x20;&#60;&#233;&#X3e;&#34;/1 here", "… here"),
        (#"{"error":"a\u0026b \u003c\u00E9\u003e\"\/1"}"#, #"{"error":"…"}"#),
        ("a%26b%20%3Cé%3e%22/1, a%26b+%3C%C3%A9%3E%22%2F1", "…, …"),
        ("a&amp;amp;b%2520%3C%25C3%A9&gt;\\x22/1 here", "… here"),
        (#"a\u0026b \u00"#, "…"), ("a&amp;b &l", "…"), ("a%26b%2", "…"), ("one a", "one …"),
        (#"key \ud83d\udd11%41, \ud83d\udd11%2541"#, "key …, …"),
        ("a&b, 100 %, C:\\x & \\u", "a&b, 100 %, C:\\x & \\u"),
    ])
    func noEscapedSecretIsShown(text: String, shown: String) {
        let secrets = [#"a&b <é>"/1"#, "🔑%41", ""]
        #expect(String(decoding: SecretText.hiding(secrets, in: Array(text.utf8)), as: UTF8.self) == shown)
    }

    @Test func aPasswordThatOthersCanReadIsNotSent() throws {
        let server = try PostServer()
        try server.folder.write("token", "tk_1\n")
        chmod(server.folder.path + "/token", 0o644)
        let path = server.folder.path + "/token"
        let run = try HTTPRun(server, "/x") { $0.password = .file(path) }
        run.handler.deliver(deliveries(1...1))
        _ = try run.waitForFailure("other users can read this password")
        chmod(path, 0o600)
        try waitUntil("the acknowledgement; \(run.reasons)") { run.acknowledged.all == [1] }
        #expect(server.posts.count == 1)
    }
}

@Suite(
    .enabled(
        if: isAvailable && Certificates.program != nil,
        "libcurl4, python3 or openssl is not installed; `scripts/setup test` installs them"))
struct HTTPEncryptionTests {
    @Test func theCertificateIsVerified() throws {
        let server = try PostServer(certificate: "server")
        let path = try Certificates.get().path
        let run = try HTTPRun(server, "/x", scheme: "https") { $0.authorityFile = path + "/ca.pem" }
        run.handler.deliver(deliveries(1...3))
        try waitUntil("3 acknowledgements; \(run.reasons)") { run.acknowledged.all == [1, 2, 3] }
        #expect(server.numbers == [1, 2, 3])
    }

    @Test(arguments: [("server", "other-ca"), ("server", nil), ("expired", "ca"), ("elsewhere", "ca")])
    func nothingIsSentToAServiceThatCannotProveItself(certificate: String, authority: String?) throws {
        let server = try PostServer(certificate: certificate)
        let path = try Certificates.get().path
        let run = try HTTPRun(server, "/x", scheme: "https") {
            $0.authorityFile = authority.map { "\(path)/\($0).pem" }
        }
        run.handler.deliver(deliveries(1...1))
        let reason = try run.waitForFailure()
        #expect(reason.contains("SSL"), "\(reason)")
        #expect(reason.contains("`ca_file`") == (certificate == "server" && authority == nil), "\(reason)")
        run.end(within: .zero)
        #expect(server.posts.isEmpty && run.acknowledged.all.isEmpty)
    }
}

/// A handler that posts, with what it reports and acknowledges; ended with this object.
final class HTTPRun: HandlerRun {
    let reports = Reports()
    let acknowledged = MQTTRun.Tickets()
    let handler: ThreadedHandler

    init(
        _ server: PostServer, _ path: String, scheme: String = "http", change: (inout HTTPSettings) -> Void = { _ in }
    ) throws {
        var settings = Self.settings(server, path, scheme: scheme)
        change(&settings)
        let acknowledged = acknowledged
        handler = try ThreadedHandler(
            name: "phone", HTTPSender.plan(settings, RetryPauses(first: 20_000_000, longest: 50_000_000)),
            report: reports.add, acknowledge: { acknowledged.add($0) })
    }

    static func settings(_ server: PostServer, _ path: String, scheme: String = "http") -> HTTPSettings {
        var settings = HTTPSettings()
        settings.place = "\(scheme)://127.0.0.1:\(server.port)"
        settings.path = [.text(path)]
        settings.usesTLS = scheme == "https"
        return settings
    }

    deinit {
        end(within: .zero)
    }
}
