import Binnacle
import EventSocket
import Foundation
import PlainText
import Testing

@Suite struct SocketRequestTests {
    @Test func everyKeyIsRead() throws {
        let request = try SocketRequest(
            parsing: #"""
                {"subscribe":{"kinds":["motion.began","shock"],"sensors":["lid"],"after":18446744073709551615,
                "identity":"a","since_ns":-5,"follow":false}}
                """#.utf8)
        var wanted = SubscriptionRequest()
        wanted.filter = EventFilter(kinds: [.motionBegan, .shock], sensors: ["lid"])
        wanted.after = .max
        wanted.identity = "a"
        wanted.sinceNanoseconds = -5
        wanted.follows = false
        #expect(request == .subscribe(wanted))
    }

    @Test func everyKeyMayBeLeftOut() throws {
        #expect(try SocketRequest(parsing: #" {"subscribe" : {} } "#.utf8) == .subscribe(SubscriptionRequest()))
        #expect(try SocketRequest(parsing: #"{"status":{}}"#.utf8) == .status)
    }

    @Test func whatIsWrittenIsRead() throws {
        var request = SubscriptionRequest()
        #expect(try SocketRequest(parsing: request.json.utf8) == .subscribe(request))
        request.filter = EventFilter(kinds: Set(EventKind.allCases), sensors: ["a\"b\\c\n", "ü", "]"])
        request.after = 12
        request.identity = "x\u{1}"
        request.sinceNanoseconds = .min
        request.follows = false
        #expect(try SocketRequest(parsing: request.json.utf8) == .subscribe(request))
    }

    @Test(
        arguments: [
            ("", 1, "the text ends"), ("null", 1, "one key"), ("[]", 1, "one key"), ("{}", 1, "one key"),
            (#"{"subscribe":{},"status":{}}"#, 1, "one key"), (#"{"subscribe":{}} x"#, 18, "something follows"),
            (#"{"subscrbe":{}}"#, 2, "did you mean `subscribe`?"), (#"{"subscribe":[]}"#, 14, "an object"),
            (#"{"subscribe":{"kind":["shock"]}}"#, 15, "did you mean `kinds`?"),
            (#"{"subscribe":{"kinds":["shock","motion.begun"]}}"#, 32, "did you mean `motion.began`?"),
            (#"{"subscribe":{"kinds":"shock"}}"#, 23, "an array"), (#"{"subscribe":{"kinds":[]}}"#, 23, "an array"),
            (#"{"subscribe":{"kinds":[1]}}"#, 24, "a string"),
            (#"{"subscribe":{"sensors":[{"a":[1,2]},"x"]}}"#, 26, "a string"),
            (#"{"subscribe":{"sensors":["a",["b"],"x"]}}"#, 30, "a string"),
            (#"{"subscribe":{"after":-1}}"#, 23, "number of an event"),
            (#"{"subscribe":{"after":1.0}}"#, 23, "number of an event"),
            (#"{"subscribe":{"after":"1"}}"#, 23, "number of an event"),
            (#"{"subscribe":{"since_ns":1e9}}"#, 26, "whole number"),
            (#"{"subscribe":{"identity":7}}"#, 26, "a string"), (#"{"subscribe":{"follow":1}}"#, 24, "true or false"),
            (#"{"subscribe":{"after":1,"after":2}}"#, 25, "stands twice"), (#"{"status":{"x":1}}"#, 12, "unknown key"),
            (#"{"status":null}"#, 11, "an object"),
        ] as [(String, Int, String)])
    func whatIsWrongIsSaidWithItsPlace(text: String, column: Int, message: String) {
        let error = #expect(throws: SocketRequest.SyntaxError.self) { try SocketRequest(parsing: text.utf8) }
        #expect(error?.column == column, "\(error as Any)")
        #expect(error?.message.contains(message) == true, "\(error as Any)")
    }

    @Test func namesHaveALimit() throws {
        let long = String(repeating: "n", count: SocketRequest.longestName)
        _ = try SocketRequest(parsing: #"{"subscribe":{"sensors":["\#(long)"]}}"#.utf8)
        #expect(throws: SocketRequest.SyntaxError.self) {
            try SocketRequest(parsing: #"{"subscribe":{"sensors":["\#(long)n"]}}"#.utf8)
        }
        let names = (0...SocketRequest.mostSensors).map { "\"\($0)\"" }
        _ = try SocketRequest(parsing: #"{"subscribe":{"sensors":[\#(names.dropLast().joined(separator: ","))]}}"#.utf8)
        #expect(throws: SocketRequest.SyntaxError.self) {
            try SocketRequest(parsing: #"{"subscribe":{"sensors":[\#(names.joined(separator: ","))]}}"#.utf8)
        }
    }

    @Test(
        arguments: [
            .subscribed(identity: "x", newest: 5, after: 3),
            .event(TestServer.event(7), json: TestServer.event(7).json),
            .missed(MissedEvents(count: 2, first: 3, last: 4, reason: "so \"it\" is")),
            .missed(MissedEvents(reason: "r")), .end, .status(#"{"a":{"b":[1,2]}}"#),
            .error(message: "m", column: 4), .error(message: "m", column: nil), .busy(message: "m"),
            .unknown(#"{"news":{}}"#),
        ] as [SocketMessage])
    func messagesAreReadAsTheyAreWritten(message: SocketMessage) throws {
        #expect(try SocketMessage(parsing: message.json) == message)
    }

    /// It counts as missed, so that it is not lost silently.
    @Test(arguments: [
        #"{"seq":7,"kind":"motion.flew","time_ns":1}"#, #"{"seq":7,"kind":"shake","time_ns":"late"}"#,
        #"{"seq":7,"kind":5}"#,
    ])
    func anEventThatIsNotKnownIsMissed(line: String) throws {
        guard case .missed(let missed) = try SocketMessage(parsing: line) else {
            Issue.record("\(line)")
            return
        }
        #expect(missed.count == 1 && missed.first == 7 && missed.last == 7)
        #expect(missed.reason.contains("the daemon is newer"), "\(missed.reason)")
    }

    @Test func theTableOfSecurityHasTheLimits() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../SECURITY.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        func shown(_ count: Int) -> String { count.formatted(.number.locale(Locale(identifier: "en_US"))) }
        let samples = shown(SampleRing.capacity)
        for words in [
            "\(SocketRequest.longestLine / 1024) KiB, 8 levels, \(SocketRequest.mostSensors) sensors",
            "\(SocketService.mostDiscarded >> 20) MB or \(SocketService.refusedNanoseconds / 1_000_000_000) s after that",
            "the last \(samples) of each stream, \(SampleRing.capacity * 24 / 1024) KiB",
        ] {
            #expect(text.contains(words), "SECURITY.md does not have \(words)")
        }
    }
}
