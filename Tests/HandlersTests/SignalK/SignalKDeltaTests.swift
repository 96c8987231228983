import Binnacle
import Foundation
import Handlers
import LinuxSystem
import TestSupport
import Testing

/// What a delta says: paths, units and signs.
@Suite struct SignalKDeltaTests {
    /// 08:53:35.25 on a day of 2026.
    private static let wall: Int64 = 1_795_596_815_250_000_000

    private func delta(_ event: Event) -> String? {
        NavigationReading(event).flatMap { SignalKDelta().messages($0, at: Self.wall).first }
    }

    /// The values by their paths, and the parts of an attitude by theirs.
    private func values(_ event: Event) throws -> [String: Double] {
        let text = try #require(delta(event))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let update = try #require((object["updates"] as? [[String: Any]])?.first)
        var found: [String: Double] = [:]
        for value in try #require(update["values"] as? [[String: Any]]) {
            let path = try #require(value["path"] as? String)
            if let number = value["value"] as? Double { found[path] = number }
            for (part, number) in value["value"] as? [String: Double] ?? [:] { found[path + "." + part] = number }
        }
        return found
    }

    @Test func theWholeDelta() {
        let event = attitude(trueYaw(90, declination: -9) + turning(0, 0, -18, gravity: [0, 0, -9.81]))
        #expect(
            delta(event)
                == #"{"context":"vessels.self","updates":[{"source":{"label":"Binnacle sensor daemon","type":"signalk","#
                + #""src":"moved"},"timestamp":"2026-11-25T08:53:35.250000Z","values":["#
                + #"{"path":"navigation.headingMagnetic","value":1.727876},{"path":"navigation.headingTrue","value":1.570796},"#
                + #"{"path":"navigation.magneticVariation","value":-0.157080},{"path":"navigation.rateOfTurn","value":-0.314159},"#
                + #"{"path":"navigation.attitude","value":{"roll":0.087266,"pitch":0.052360,"yaw":1.570796}}]}]}"#
                + "\n")
    }

    /// Starboard down and bow up are positive, and so is a turn to starboard, in both frames.
    @Test func signs() throws {
        let ned = try values(
            attitude(trueYaw(200, declination: 4) + turning(0, 0, 2, gravity: [0, 0, -9.81]), roll: -20, pitch: 7))
        let enu = try values(
            attitude(
                trueYaw(200, declination: 4) + turning(0, 0, -2, gravity: [0, 0, 9.81]), frame: .enu, roll: -20,
                pitch: -7))
        #expect(ned == enu)
        #expect(try #require(ned["navigation.attitude.roll"]) < 0 && #require(ned["navigation.attitude.pitch"]) > 0)
        #expect(try #require(ned["navigation.rateOfTurn"]) > 0 && #require(ned["navigation.magneticVariation"]) > 0)
        // Within half a turn, beside a heading within a whole one.
        let expected: [(path: String, degrees: Double)] = [
            ("attitude.yaw", -160), ("headingTrue", 200), ("headingMagnetic", 196),
        ]
        for (path, degrees) in expected {
            let radians: Double = try #require(ned["navigation.\(path)"])
            #expect(abs(radians - degrees * .pi / 180) < 1e-6, "\(path)")
        }
    }

    /// A roll about a bow that points up has a part about the vertical, and turns no heading.
    @Test func aRollOfATrimmedBoatIsNoTurn() throws {
        let (pitch, roll) = (20 * Double.pi / 180, 15 * Double.pi / 180)
        let up = SIMD3(sin(pitch), -cos(pitch) * sin(roll), -cos(pitch) * cos(roll)) * 9.81
        let figures = trueYaw(60, declination: 4) + turning(20, 0, 0, gravity: up)
        let found = try values(attitude(figures, roll: 15, pitch: 20))
        #expect(abs(try #require(found["navigation.rateOfTurn"])) < 1e-3)
    }

    @Test func whatIsNotKnownIsLeftOut() throws {
        #expect(try values(attitude()).keys.sorted() == ["navigation.attitude.pitch", "navigation.attitude.roll"])
        #expect(try values(attitude(roll: nil, pitch: 90)).keys.sorted() == ["navigation.attitude.pitch"])
        let heading = event(kind: .heading, [Figure(.heading, .number(359.999, decimals: 3))])
        #expect(try values(heading) == ["navigation.headingMagnetic": 0], "a whole turn is none")
        #expect(delta(event(kind: .heading, [])) == nil)
        let rate = Figure(.turnRate, .number(-6, decimals: 2))
        #expect(
            try values(event(kind: .heading, [Figure(.heading, .number(90, decimals: 3)), rate])) == [
                "navigation.headingMagnetic": 1.570796, "navigation.rateOfTurn": -0.104720,
            ])
    }

    /// A handler that sends to a receiver, without an interval at the usual one.
    private func boat(
        _ receiver: DatagramReceiver, interval: Duration? = nil, reports: Reports = Reports()
    ) throws -> ThreadedHandler {
        var settings = NavigationSettings(.udp, host: "127.0.0.1", port: receiver.port)
        settings.interval = interval ?? settings.interval
        return try ThreadedHandler(
            name: "boat", NavigationSender.plan(settings, as: SignalKDelta()), report: reports.add)
    }

    private func threeDeltas(_ receiver: DatagramReceiver) throws -> [String] {
        var seen: [String] = []
        try waitUntil("three deltas; so far \(seen)") {
            seen += receiver.takeAll()
            return seen.count >= 3
        }
        return seen
    }

    /// A name is quoted, and a repeated delta has the time at which it holds.
    @Test func datagramsAreDeltasWithATime() throws {
        let receiver = try DatagramReceiver()
        let reports = Reports()
        let handler = try boat(receiver, reports: reports)
        var event = attitude(trueYaw(10, declination: 1), wall: Self.wall)
        event.detector = "hull \"1\""
        handler.handle(event)
        let seen = try threeDeltas(receiver)
        let first = try #require(seen.first)
        #expect(first.contains(#""src":"hull \"1\"""#) && first.contains(#""timestamp":"2026-11-25T08:53:35.250000Z""#))
        #expect(seen.dropFirst().allSatisfy { !$0.contains("2026-11-25T08:53:35") }, "\(seen)")
        handler.end(within: .zero)
        #expect(reports.all.isEmpty)
    }

    /// A reading from before the clock was set back has the time at which it is sent.
    @Test func aClockThatIsSetBackStopsNoStamp() throws {
        let receiver = try DatagramReceiver()
        let handler = try boat(receiver, interval: .milliseconds(20))
        let ahead = SystemClock.realtime() + 3_600_000_000_000
        handler.handle(attitude(trueYaw(10, declination: 1), wall: ahead))
        let seen = try threeDeltas(receiver)
        #expect(Set(seen).count == seen.count, "each has a later time than the one before: \(seen)")
        handler.end(within: .zero)
    }

    /// A reading that comes late was true then, and what is sent again is not known to hold since; no stamp goes back.
    @Test func stampsNeverGoBack() throws {
        let receiver = try DatagramReceiver()
        let handler = try boat(receiver, interval: .milliseconds(20))
        var seen: [String] = []
        for number in 1...8 {
            let isLate = number % 2 == 0
            let wall = SystemClock.realtime() - (isLate ? 300_000_000 : 0)
            handler.handle(attitude(trueYaw(Double(10 * number), declination: 1), wall: wall))
            let count = seen.count
            try waitUntil("two deltas of event \(number)") {
                seen += receiver.takeAll()
                return seen.count >= count + 2
            }
        }
        func stamp(_ delta: String) -> String? {
            delta.firstRange(of: "\"timestamp\":\"").map { String(delta[$0.upperBound...].prefix(27)) }
        }
        let stamps = seen.compactMap(stamp)
        #expect(stamps.count == seen.count && stamps == stamps.sorted(), "\(stamps)")
        handler.end(within: .zero)
    }
}
