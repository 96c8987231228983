import Foundation
import LinuxSystem
import TestSupport
import Testing

/// `binnacle run` and a plotter: a device that turns, and what is sent about it.
@Suite struct NMEATests {
    private static let turning = """
        [sensor.box]
        source = "simulated"
        model = "turn"
        rate_hz = 100
        [motion.moved]
        accelerometer = "box"
        [north.bow]
        accelerometer = "box"
        magnetometer = "box"
        hard_iron_uT = 0
        heading_filter_deg = 0.1

        """

    /// A socket of this machine, bound to a port that the system chooses.
    private static func socket(_ type: __socket_type) throws -> (socket: Descriptor, port: Int) {
        let found = try NetworkAddress.resolve(host: "127.0.0.1", port: 0, type: type, isOwn: true)
        let address = try #require(found.first)
        let socket = try address.makeSocket(type)
        try systemCall("bind") { address.withPointer { bind(socket.raw, $0, $1) } }
        return (socket, try NetworkAddress(of: socket.raw).port)
    }

    /// Waits until texts that come are enough, a datagram or a piece of a stream each.
    ///
    /// When the other end has closed the connection, another one is made where that is asked for, and the texts of the
    /// first do not count.
    private static func wait(
        _ socket: Descriptor, _ comment: String, reconnect: (() throws -> Descriptor)? = nil,
        until isEnough: ([String]) -> Bool
    ) throws -> [String] {
        var socket = socket
        var texts: [String] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        try waitUntil("\(comment); so far \(texts.suffix(10))") {
            var count = recv(socket.raw, &bytes, bytes.count, 0)
            while count > 0 {
                texts.append(String(decoding: bytes[..<count], as: UTF8.self))
                count = recv(socket.raw, &bytes, bytes.count, 0)
            }
            if count == 0, let reconnect, !isEnough(texts) {
                texts = []
                socket = try reconnect()
            }
            return isEnough(texts)
        }
        return texts
    }

    private static func number(_ sentence: String) throws -> Double {
        try #require(Double(sentence.split(separator: ",")[1]))
    }

    @Test func aPlotterGetsTheHeadingOfTheMoment() throws {
        let (receiver, port) = try Self.socket(SOCK_DGRAM)
        let run = try DaemonRun(
            Self.turning + """
                [handler.plotter]
                nmea = "udp://127.0.0.1:\(port)"
                interval_s = 0.02
                [handler.lines]
                on = ["heading"]
                stdout = true
                """
        ).start()
        let seen = try Self.wait(receiver, "two hundred sentences") { $0.count >= 200 }
        #expect(run.stop() == 0)
        let whole = /\$HC(HDG,\d+\.\d,,,,|HDM,\d+\.\d,M|ROT,-?\d+\.\d,A)\*[0-9A-F]{2}\r\n/
        for text in seen {
            #expect(text.wholeMatch(of: whole) != nil, "\(text)")
        }
        let told = Set(try run.events().compactMap { ($0["heading_deg"] as? NSNumber)?.doubleValue })
        // Once the simulated gyroscope decides, there is a rate of turn as well.
        let sent = try seen.filter { !$0.contains("ROT") }.map(Self.number)
        #expect(Set(sent).count >= 10, "it turns")
        let known = told.map { Double(Int(($0 * 10).rounded()) % 3600) / 10 }
        #expect(Set(sent).isSubset(of: known), "nothing is invented")
    }

    /// A reload that changes the section replaces the handler, which has the port of the one before, and its heading.
    @Test func aReloadTakesThePortOver() throws {
        let (chosen, port) = try Self.socket(SOCK_STREAM)
        _ = consume chosen
        // After its first heading no event is reported any more.
        let still = Self.turning.replacing(
            "heading_filter_deg = 0.1", with: "heading_filter_deg = 180\ngyroscope = \"none\"")
        func configuration(_ lines: String) -> String {
            still + "[handler.plotter]\nnmea = \"tcp://127.0.0.1:\(port)\"\n" + lines
                + "\n[handler.log]\non = [\"handler.failed\", \"heading\"]\nstdout = true\n"
        }
        let run = try DaemonRun(configuration("interval_s = 0.05")).start()
        try run.waitForEvent("heading")
        _ = try Self.wait(try Self.connected(port), "a sentence") { $0.joined().contains("$HCHDG,") }
        try run.configure(configuration("talker = \"II\""))
        run.reload()
        try run.waitForMessage("configuration reloaded")
        // The first connection may still be to the handler that goes.
        let reconnect = { try Self.connected(port) }
        let texts = try Self.wait(try reconnect(), "another talker", reconnect: reconnect) {
            $0.joined().contains("$IIHDM,")
        }
        #expect(!texts.joined().contains("$HC"))
        #expect(run.stop() == 0)
        let events = try run.events()
        #expect(events.allSatisfy { $0["kind"] as? String == "heading" } && events.count == 1, "\(events)")
    }

    private static func connected(_ port: Int) throws -> Descriptor {
        let found = try NetworkAddress.resolve(host: "127.0.0.1", port: port, type: SOCK_STREAM, isOwn: false)
        let address = try #require(found.first)
        var connected: Descriptor?
        try waitUntil("a connection") {
            let socket = Descriptor(owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            guard address.withPointer({ connect(socket.raw, $0, $1) }) == 0 else { return false }
            _ = fcntl(socket.raw, F_SETFL, O_NONBLOCK)
            connected = socket
            return true
        }
        return try #require(connected)
    }

    @Test func aDetectorThatHasLostItsSensorIsNotSpokenFor() throws {
        let (receiver, port) = try Self.socket(SOCK_DGRAM)
        let rows = try String(contentsOfFile: Binary.golden + "/simulated-turn.csv", encoding: .utf8).split(
            separator: "\n")
        let trace = try TemporaryFile(rows.prefix(200).joined(separator: "\n") + "\n", suffix: ".csv")
        let run = try DaemonRun(
            """
            [sensor.box]
            source = "trace"
            file = "\(trace.path)"
            [sensor.other]
            source = "simulated"
            [motion.moved]
            accelerometer = "other"
            [north.bow]
            accelerometer = "box"
            magnetometer = "box"
            hard_iron_uT = 0
            [handler.plotter]
            nmea = "udp://127.0.0.1:\(port)"
            interval_s = 0.02
            [handler.lines]
            on = ["detector.failed"]
            stdout = true
            """
        ).start()
        _ = try Self.wait(receiver, "a sentence") { !$0.isEmpty }
        try run.waitForEvent("detector.failed")
        // What was sent before that, and at the beat that may have begun, is taken; nothing follows for twenty beats.
        var bytes = [UInt8](repeating: 0, count: 2048)
        var silence = 0
        for _ in 0..<6000 where silence < 20 {
            usleep(20_000)
            silence += 1
            while recv(receiver.raw, &bytes, bytes.count, 0) > 0 { silence = 0 }
        }
        #expect(silence == 20, "it goes on")
        #expect(run.stop() == 0)
    }

    @Test func whatCannotBeSentIsAnEvent() throws {
        let run = try DaemonRun(
            Self.turning + """
                [handler.plotter]
                nmea = "tcp://192.0.2.1"
                [handler.lines]
                on = ["handler.failed"]
                stdout = true
                """
        ).start()
        try run.waitForEvent("handler.failed")
        #expect(run.stop() == 0)
        let event = try #require(try run.events().first)
        #expect(event["handler"] as? String == "plotter")
        #expect(event["reason"] as? String == "tcp://192.0.2.1:10110: that is no address of this machine")
    }

    /// An autopilot is not to steer by what happened last week.
    @Test func aReplaySendsNothingUnlessItIsAskedTo() throws {
        let (receiver, port) = try Self.socket(SOCK_DGRAM)
        let folder = try TemporaryFolder([
            "t.toml": Self.turning + "[handler.plotter]\nnmea = \"udp://127.0.0.1:\(port)\"\n"
        ])
        let trace = Binary.golden + "/simulated-turn.csv"
        let arguments = ["replay", "--config", folder.path + "/t.toml", trace]
        #expect(try Binary.run(arguments).status == 0)
        var byte: UInt8 = 0
        #expect(recv(receiver.raw, &byte, 1, 0) == -1, "nothing was sent")
        let replay = Binary.process(arguments + ["--handlers", "--speed", "5"])
        try replay.run()
        defer { replay.end() }
        let seen = try Self.wait(receiver, "sentences") { $0.count >= 3 }
        #expect(seen.allSatisfy { $0.hasPrefix("$HCHD") })
    }
}
