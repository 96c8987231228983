import Binnacle
import Configuration
import Foundation
import Handlers
import Station
import TestSupport
import Testing

/// What a section with `nmea` becomes.
@Suite struct NMEAActionTests {
    static let bow = """
        [sensor.box]
        source = "auto"
        [north.bow]
        accelerometer = "box"
        magnetometer = "box"

        """

    private func section(_ lines: String, before: String = "") throws -> HandlerSection {
        try #require(try parse(Self.bow + before + "[handler.h]\n" + lines + "\n").handlers.first)
    }

    private func settings(_ lines: String) throws -> NMEASettings {
        try #require(try section(lines).action as? NMEAAction).settings
    }

    @Test(
        arguments: [
            ("udp://192.168.1.255", .udp, "192.168.1.255", 10110), ("tcp://0.0.0.0", .tcp, "0.0.0.0", 10110),
            ("UDP://plotter:1", .udp, "plotter", 1), ("tcp://[::]:2000", .tcp, "::", 2000),
            ("udp://[ff02::1%eth0]:65535", .udp, "ff02::1%eth0", 65535),
        ] as [(String, NavigationSettings.Transport, String, Int)])
    func places(url: String, transport: NavigationSettings.Transport, host: String, port: Int) throws {
        let settings = try settings("nmea = \"\(url)\"")
        #expect(settings == NMEASettings(NavigationSettings(transport, host: host, port: port)))
        #expect(settings.sentences == [.hdg, .hdm, .hdt, .pashr, .rot, .xdr] && settings.talker == "HC")
        #expect(settings.sending.interval == .milliseconds(100))
    }

    @Test func everyKey() throws {
        let settings = try settings(
            "nmea = \"tcp://localhost\"\nsentences = [\"HDT\", \"HDG\"]\ntalker = \"II\"\ninterval_s = 1")
        #expect(
            settings.sentences == [.hdt, .hdg] && settings.talker == "II" && settings.sending.interval == .seconds(1))
    }

    @Test func itIsForTheHeadingsOfOneDetector() throws {
        let section = try section("nmea = \"udp://a\"")
        #expect(
            section.detectors == ["bow"] && section.kinds == NavigationSender.kinds.filter { $0 != .attitudeChanged }
                && section.decorators.isEmpty)
        #expect(section.kinds.contains(.heading) && section.kinds.contains(.headingLost))
        let other = "[north.stern]\naccelerometer = \"box\"\nmagnetometer = \"box\"\n"
        #expect(try self.section("nmea = \"udp://a\"\ndetector = [\"stern\"]", before: other).detectors == ["stern"])
    }

    private static let hull = "[attitude.hull]\naccelerometer = \"box\"\nmagnetometer = \"box\"\n"

    @Test func anAttitudeHasAHeadingToo() throws {
        // The north comes first, so that a configuration with one means the same as before.
        #expect(try section("nmea = \"udp://a\"", before: Self.hull).detectors == ["bow"])
        let named = try section("nmea = \"udp://a\"\ndetector = [\"hull\"]", before: Self.hull)
        #expect(
            named.kinds == [.attitudeChanged, .detectorFailed, .detectorUnavailable] && named.detectors == ["hull"])
        // Signal K knows more of an attitude.
        #expect(try section("signalk = \"udp://a:1\"", before: Self.hull).detectors == ["hull"])
        #expect(try section("signalk = \"udp://a:1\"").detectors == ["bow"])
    }

    @Test func aSerialLine() throws {
        let settings = try settings("nmea = \"/dev/ttyUSB7\"\nbaud = 38400")
        #expect(
            settings.sending.transport == .serial && settings.sending.host == "/dev/ttyUSB7"
                && settings.sending.baud == .b38400)
    }

    @Test func whatIsNeverSentOrTooMuchIsANotice() throws {
        #expect(try section("nmea = \"udp://a\"").action.notices == [], "all sentences are meant, not these")
        let named = try section("nmea = \"udp://a\"\nsentences = [\"PASHR\", \"HDT\", \"XDR\"]").action.notices
        #expect(
            named == [
                "PASHR and XDR: never sent, because only an [attitude.NAME] finds roll and pitch: name it as `detector`",
                "HDT: never sent, because true north is not known without a place: add [position]",
            ])
        let place = "[position]\nlatitude_deg = 54\nlongitude_deg = 10\n"
        #expect(try section("nmea = \"udp://a\"\nsentences = [\"HDT\"]", before: place).action.notices == [])
        let slow = try section("nmea = \"/dev/ttyUSB7\"", before: place).action.notices
        #expect(slow.count == 1 && slow[0].contains("0.1854 s of the line"), "\(slow)")
        let hardly = try section("nmea = \"/dev/ttyUSB7\"\nsentences = [\"HDG\", \"ROT\"]\ninterval_s = 0.1").action
            .notices
        #expect(hardly.count == 1 && hardly[0].contains("0.1021 s of the line"), "\(hardly)")
        let fits = "nmea = \"/dev/ttyUSB7\"\nsentences = [\"HDG\", \"HDT\"]"
        #expect(try section(fits, before: place).action.notices == [])
    }

    @Test(
        arguments: [
            ("magnetometer = \"box\"\n", "HDG", ""),
            ("", "HDG", "HDG: never sent, because its [attitude.NAME] has no `magnetometer`"),
            ("magnetometer = \"box\"\n", "PASHR", "PASHR: never sent, because true north is not known"),
            ("", "XDR", ""), ("", "ROT", ""),
            ("gyroscope = \"none\"\n", "ROT", "ROT: never sent, because its detector has gyroscope = \"none\""),
        ] as [(String, String, String)])
    func aSentenceNeedsWhatItSays(keys: String, sentence: String, notice: String) throws {
        let hull = "[attitude.hull]\naccelerometer = \"box\"\n" + keys
        let found = try section(
            "nmea = \"udp://a\"\ndetector = [\"hull\"]\nsentences = [\"\(sentence)\"]", before: hull
        ).action.notices
        #expect(found.count == (notice.isEmpty ? 0 : 1) && found.allSatisfy { $0.hasPrefix(notice) }, "\(found)")
    }

    /// A line by the device to which its path leads, and a port by its address, of which two mean all.
    @Test func whatOneHandlerCanHave() throws {
        let folder = try TemporaryFolder([:])
        let link = folder.path + "/ttyUSB0"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
        func place(_ lines: String) throws -> String? {
            try section(lines).action.exclusivePlaces.first.map { "\($0.words) \($0.name)" }
        }
        #expect(try place("nmea = \"\(link)\"") == "serial line /dev/null")
        #expect(try place("nmea = \"udp://a\"") == nil)
        let all = try place("nmea = \"tcp://0.0.0.0\"")
        #expect(try all != nil && all == place("signalk = \"tcp://[::]:10110\""))
        #expect(try place("nmea = \"tcp://Boat\"") == place("signalk = \"tcp://boat:10110\""))
        #expect(try place("nmea = \"tcp://boat\"") != place("nmea = \"tcp://boat:10111\""))
    }

    @Test func whatSaysTheSameIsTheSame() throws {
        let one = try section("nmea = \"udp://a\"").action
        #expect(one.isSame(as: try section("nmea = \"udp://a:10110\"\ninterval_s = 0.1").action))
        #expect(!one.isSame(as: try section("nmea = \"udp://a:10111\"").action))
        #expect(!one.isSame(as: try section("nmea = \"tcp://a\"").action))
    }

    @Test func aReplayLeavesItOut() {
        #expect(NMEAAction.actsOnTheWorld)
    }
}
