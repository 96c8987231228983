import Binnacle
import BinnacleHeading
import Foundation
import Handlers
import LinuxSystem
import TestSupport
import Testing

/// Sentences as datagrams.
@Suite struct NavigationDatagramTests {
    @Test func theHeadingComesAgainAndAgain() throws {
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, port: receiver.port)
        run.turn(to: 206.7)
        var seen: [String] = []
        try waitUntil("twenty datagrams of one event; so far \(seen)") {
            seen += receiver.takeAll()
            return seen.count >= 20
        }
        #expect(Set(seen) == ["$HCHDG,206.7,,,,*41\r\n", "$HCHDM,206.7,M*2A\r\n"], "one sentence each")
        #expect(seen[0].hasPrefix("$HCHDG") && seen[1].hasPrefix("$HCHDM"), "in the order of the settings")
        run.turn(to: 101.1)
        try receiver.wait(for: "$HCHDM,101.1,M*28\r\n")
        #expect(run.end())
        #expect(run.statistics.sentCount >= 20)
        #expect(run.reports.all.isEmpty, "\(run.reports.all)")
    }

    @Test func aTrueHeadingAndAnotherTalker() throws {
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, port: receiver.port) { settings, _ in
            settings.talker = "II"
            settings.sentences = [.hdt]
        }
        // Without a declination there is no true heading.
        run.turn(to: 1)
        run.turn(to: 94, [Figure(.reference, .text("true")), Figure(.declination, .number(-7.1, decimals: 1))])
        var seen: [String] = []
        try waitUntil("a sentence") {
            seen += receiver.takeAll()
            return !seen.isEmpty
        }
        #expect(Set(seen) == ["$IIHDT,94.0,T*1F\r\n"])
    }

    @Test(arguments: [
        Event(kind: .headingLost, detector: "moved", timeNanoseconds: 0),
        Event(kind: .detectorFailed, detector: "moved", timeNanoseconds: 0),
        Event(kind: .detectorUnavailable, detector: "moved", timeNanoseconds: 0),
        event(kind: .heading, [Figure(.heading, .number(3, decimals: 1)), Figure(.age, .number(2.5, decimals: 1))]),
        event(kind: .heading, [Figure(.heading, .number(3, decimals: 1)), Figure(.accuracy, .integer(-1))]),
        event(kind: .heading, [Figure(.heading, .number(.nan, decimals: 1))]),
    ])
    func nothingIsSentWhileThereIsNone(ending: Event) throws {
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, port: receiver.port)
        run.turn(to: 10)
        try receiver.wait(for: "$HCHDM,10.0,M*18\r\n")
        run.handler.handle(ending)
        try waitUntilSilent(run)
        let count = run.statistics.sentCount
        _ = receiver.takeAll()
        // That there is one again is no heading yet.
        run.handler.handle(event(kind: .headingFound))
        run.handler.handle(event(kind: .gap))
        run.handler.handle(event(kind: .headingFound, [Figure(.heading, .number(20, decimals: 1))]))
        try receiver.wait(for: "$HCHDM,20.0,M*1B\r\n")
        #expect(run.statistics.sentCount > count)
        #expect(run.reports.all.isEmpty)
    }

    /// Hands each heading to a handler, as a router does.
    private final class Forward: NorthDetectorDelegate {
        let handler: ThreadedHandler

        init(_ handler: ThreadedHandler) { self.handler = handler }

        func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
            handler.handle(
                Event(kind: .heading, detector: detector.name, timeNanoseconds: event.timeNanoseconds, of: event))
        }
    }

    @Test func aSteadyCourseWhoseAccuracyChangesStopsAndBeginsAgain() throws {
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, port: receiver.port, accuracyLimitDegrees: 10)
        let sensor = Sensor(name: "compass")
        let streams = SampleStream.ordered([(sensor, .accelerometer), (sensor, .magnetometer)])
        var settings = NorthSettings()
        settings.uncalibratedIronMicrotesla = 0
        // With a place nothing is learned of the strength.
        settings.localField = LocalField(
            declinationDegrees: 0, declinationUncertaintyDegrees: 0, fieldMicrotesla: 49.24)
        let detector = NorthDetector(
            accelerometer: streams.first { $0.kind == .accelerometer },
            magnetometer: streams.first { $0.kind == .magnetometer }, settings: settings)
        let forward = Forward(run.handler)
        detector.delegate = forward
        detector.startDetection()
        // Two seconds on a course of 0°, in a field of another strength.
        func sail(from start: Int64, strength: Float) {
            let delivery = SampleDelivery(streams: streams, capacity: 100)
            for index in 0..<100 {
                let time = start + Int64(index) * 20_000_000
                for stream in streams {
                    let isUp = stream.kind == .accelerometer
                    delivery[stream.id]?.append(
                        Sample(
                            timeNanoseconds: time, x: 0, y: isUp ? 0 : 20 * strength,
                            z: isUp ? 9.80665 : -45 * strength))
                }
            }
            detector.process(delivery)
        }
        sail(from: 0, strength: 1)
        try receiver.wait(for: "$HCHDM,0.0,M*29\r\n")
        sail(from: 2_000_000_000, strength: 1.12)
        try waitUntilSilent(run)
        _ = receiver.takeAll()
        sail(from: 4_000_000_000, strength: 1)
        try receiver.wait(for: "$HCHDM,0.0,M*29\r\n")
    }

    /// Waits until several beats have brought nothing.
    private func waitUntilSilent(_ run: NavigationRun) throws {
        var (count, since) = (run.statistics.sentCount, ContinuousClock.now)
        try waitUntil("silence") {
            let now = run.statistics.sentCount
            if now != count { (count, since) = (now, ContinuousClock.now) }
            return ContinuousClock.now - since > .milliseconds(200)
        }
    }

    @Test func aHeadingThatIsNoLongerItsOwnIsForgotten() throws {
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, port: receiver.port)
        run.turn(to: 10)
        try receiver.wait(for: "$HCHDM,10.0,M*18\r\n")
        func keep(_ detectors: Set<String>, _ run: NavigationRun) {
            var change = HandledChange()
            change.kept = detectors
            run.handler.configurationDidChange(change)
        }
        keep(["moved", "other"], run)
        let successor = try NavigationRun(.udp, port: receiver.port)
        successor.handler.inherit(from: run.handler)
        try waitUntil("sentences of the successor") { successor.statistics.sentCount > 0 }
        for each in [run, successor] {
            keep(["other"], each)
            try waitUntilSilent(each)
        }
    }

    @Test func aBroadcastAddressMayBeMeant() throws {
        // The loopback network has one, and every program on this machine is in that network.
        let receiver = try DatagramReceiver(host: "0.0.0.0")
        let run = try NavigationRun(.udp, host: "127.255.255.255", port: receiver.port)
        run.turn(to: 10)
        try receiver.wait(for: "$HCHDM,10.0,M*18\r\n")
        #expect(run.reasons.isEmpty)
    }

    @Test func aMulticastGroupMayBeMeant() throws {
        let receiver = try DatagramReceiver(host: "0.0.0.0")
        // 239.0.0.0/8 needs no registration; a machine without a route to it says so.
        var group = ip_mreq(
            imr_multiaddr: in_addr(s_addr: in_addr_t(0xEFC0_0A01).bigEndian), imr_interface: in_addr(s_addr: 0))
        let length = socklen_t(MemoryLayout<ip_mreq>.size)
        guard setsockopt(receiver.raw, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &group, length) == 0 else { return }
        let run = try NavigationRun(.udp, host: "239.192.10.1", port: receiver.port)
        run.turn(to: 10)
        var seen: [String] = []
        try waitUntil("a sentence, or why not; told: \(run.reasons)") {
            seen += receiver.takeAll()
            return !seen.isEmpty || !run.reasons.isEmpty
        }
        #expect(!seen.isEmpty || run.reasons[0].hasPrefix("udp://239.192.10.1:"))
    }

    @Test func nobodyNeedBeThere() throws {
        let port = try freePort()
        let run = try NavigationRun(.udp, port: port)
        run.turn(to: 10)
        try waitUntil("ten sentences") { run.statistics.sentCount >= 10 }
        #expect(run.reports.all.isEmpty, "\(run.reasons)")
    }

    /// A lookup makes new sockets, with ports of their own.
    @Test(arguments: [true, false])
    func theReceiverIsLookedUpAgain(isThere: Bool) throws {
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, host: "localhost", port: isThere ? receiver.port : freePort()) { _, times in
            if isThere { times.lookup = 50_000_000 } else { times.refusedLookup = 50_000_000 }
        }
        run.turn(to: 10)
        var sources: Set<Int> = []
        try waitUntil("datagrams from three ports, or ten for no program") {
            while let source = receiver.takeSource() { sources.insert(source) }
            return isThere ? sources.count >= 3 : run.statistics.sentCount >= 10
        }
        #expect(run.reports.all.isEmpty, "\(run.reasons)")
    }

    /// Of a name with several addresses, those that refuse datagrams are passed over.
    @Test func aProgramMayHaveThePortAtAnyAddressOfTheName() throws {
        for address in try NetworkAddress.resolve(host: "localhost", port: 0, type: SOCK_DGRAM, isOwn: false) {
            // A machine may have no IPv6.
            let digits = address.host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            guard let receiver = try? DatagramReceiver(host: digits) else { continue }
            let run = try NavigationRun(.udp, host: "localhost", port: receiver.port)
            run.turn(to: 10)
            try receiver.wait(for: "$HCHDM,10.0,M*18\r\n")
            #expect(run.reports.all.isEmpty, "\(run.reasons)")
        }
    }

    @Test func aHostThatIsNoneIsToldOnce() throws {
        let run = try NavigationRun(.udp, host: "name.invalid", port: 10110)
        run.turn(to: 10)
        try run.reports.wait("a failure") { $0.contains { $0.kind == .handlerFailed } }
        #expect(run.reasons[0].hasPrefix("udp://name.invalid:10110: the name cannot be looked up: "), "\(run.reasons)")
        #expect(run.end())
        #expect(Set(run.reasons).count == run.reasons.count)
        #expect(run.reports.of(.handlerRecovered).isEmpty)
    }

    @Test func aBurstIsOneSentence() throws {
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, port: receiver.port) { settings, _ in
            // Longer than this test may take: what is sent is sent once.
            settings.sending.interval = .seconds(1000)
            settings.sentences = [.hdm]
        }
        for degrees in 0..<10_000 { run.turn(to: Double(degrees % 360)) }
        try waitUntil("a sentence") { run.statistics.sentCount > 0 }
        #expect(run.end())
        #expect(run.statistics.sentCount == 1)
        #expect(receiver.takeAll().count == 1)
    }
}
