import Configuration
import Foundation
import Handlers
import LinuxSensors
import Station
import TestSupport
import Testing

/// Which sections are in force: `enabled`, `default`, and what the shipped configuration becomes with files of one's own.
@Suite struct SectionSwitchTests {
    private static let base = """
        [sensor.a]
        source = "auto"
        [sensor.b]
        source = "auto"
        [motion.m]
        accelerometer = "a"
        [north.n]
        accelerometer = "a"
        magnetometer = "b"
        [handler.h]
        on = ["shake"]
        log = true
        [handler.c]
        on = ["shake"]
        command = ["/bin/true"]
        [position]
        latitude_deg = 54
        longitude_deg = 10
        [store]
        path = "/tmp/e.db"
        [socket]
        path = "/tmp/e.sock"

        """

    /// The names of the sections that are in force.
    private static func names(_ configuration: Configuration) -> [String] {
        configuration.sensors.map(\.name) + configuration.motions.map(\.name) + configuration.norths.map(\.name)
            + configuration.handlers.map(\.name) + (configuration.position == nil ? [] : ["position"])
            + (configuration.store == nil ? [] : ["store"]) + (configuration.socket == nil ? [] : ["socket"])
    }

    @Test(
        arguments: [
            ("sensor.b", "a m h c position store socket"), ("sensor.a", "b h c position store socket"),
            ("motion.m", "a b n h c position store socket"), ("handler.h", "a b m n c position store socket"),
            ("position", "a b m n h c store socket"), ("store", "a b m n h c position socket"),
            ("socket", "a b m n h c position store"),
        ] as [(String, String)])
    func aSectionCanBeSwitchedOff(section: String, rest: String) throws {
        let text = Self.base.replacing("[\(section)]", with: "[\(section)]\nenabled = false")
        #expect(Self.names(try parse(text)) == rest.split(separator: " ").map(String.init))
        let on = Self.base.replacing("[\(section)]", with: "[\(section)]\nenabled = true")
        #expect(Self.names(try parse(on)) == ["a", "b", "m", "n", "h", "c", "position", "store", "socket"])
    }

    @Test func whatNeedsASensorThatIsOffIsToldOf() throws {
        let configuration = try parse(Self.base.replacing("[sensor.b]", with: "[sensor.b]\nenabled = false"))
        #expect(configuration.notices == ["detector 'n': its sensor 'b' is switched off: left out"])
    }

    /// The values of a section that is off may be wrong, such as a password file that is not there yet.
    @Test func onlyTheKeysOfASectionThatIsOffAreChecked() throws {
        let off = "[handler.x]\nenabled = false\nmqtt = \"mqtts://b\"\nuser = \"u\"\npassword_file = \"/nonexistent\"\n"
        #expect(problems(Self.base + off).isEmpty)
        #expect(problems(Self.base + off + "pasword = 1\n").count == 1)
        #expect(problems(Self.base + "[handler.x]\nenabled = \"no\"\nlog = true\non = [\"shake\"]\n").count == 1)
    }

    @Test func defaultsMakeWay() throws {
        let shipped = Self.base.replacing("[motion.m]", with: "[motion.m]\ndefault = true")
            .replacing("[north.n]", with: "[north.n]\ndefault = true")
            .replacing("[handler.h]", with: "[handler.h]\ndefault = true")
        #expect(try parse(shipped).motions.map(\.name) == ["m"])
        #expect(try parse(shipped).norths.map(\.name) == ["n"])
        let own = shipped + "[motion.own]\naccelerometer = \"a\"\n"
        #expect(try parse(own).motions.map(\.name) == ["own"])
        #expect(try parse(own).norths.isEmpty)
        #expect(try parse(own).handlers.map(\.name) == ["h", "c"])
        #expect(
            try parse(own).notices == [
                "detector 'm' is a default: left out, because there is 'own' (default = false keeps it)",
                "detector 'n' is a default: left out, because there is 'own' (default = false keeps it)",
            ])
        // A handler that names it wants it.
        let wanted = own.replacing("[handler.c]", with: "[handler.c]\ndetector = [\"n\"]")
        #expect(try parse(wanted).norths.map(\.name) == ["n"])
        // So does the desktop service.
        #expect(try parse(own + "[dbus]\ncompass = \"n\"\n").norths.map(\.name) == ["n"])
        #expect(try parse(own + "[dbus]\nenabled = false\ncompass = \"n\"\n").norths.isEmpty)
        // Two logs would write each event twice.
        let logged = shipped + "[handler.own]\non = [\"shake\"]\nstdout = true\n"
        #expect(try parse(logged).handlers.map(\.name) == ["c", "own"])
        // One that is switched off is none of the user's own.
        let off = own + "enabled = false\n"
        #expect(try parse(off).motions.map(\.name) == ["m"])
    }

    @Test func nmeaTakesTheDetectorThatIsInForce() throws {
        let text = """
            [sensor.a]
            source = "auto"
            [north.bow]
            default = true
            accelerometer = "a"
            magnetometer = "a"
            [north.helm]
            accelerometer = "a"
            magnetometer = "a"
            [handler.plotter]
            nmea = "udp://127.0.0.1"
            """
        #expect(try parse(text).handlers.map(\.detectors) == [["helm"]])
    }

    /// The shipped configuration with each example beside it says what the example says, once.
    @Test func noExampleDoublesTheShippedConfiguration() throws {
        let folder = NSTemporaryDirectory() + "binnacle-defaults-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder + "/conf.d", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: ConfigurationFileTests.shipped, toPath: folder + "/binnacle.toml")
        let examples = ConfigurationFileTests.root + "/config/examples"
        for name in try FileManager.default.contentsOfDirectory(atPath: examples) where name.hasSuffix(".toml") {
            let alone = try Configuration.read(path: examples + "/" + name)
            try FileManager.default.copyItem(atPath: examples + "/" + name, toPath: folder + "/conf.d/own.toml")
            let both = try Configuration.read(path: folder)
            try FileManager.default.removeItem(atPath: folder + "/conf.d/own.toml")
            #expect(both.motions.map(\.name) == alone.motions.map(\.name), "\(name)")
            #expect(both.norths.map(\.name) == alone.norths.map(\.name), "\(name)")
            #expect(both.handlers.map(\.name).sorted() == alone.handlers.map(\.name).sorted(), "\(name)")
        }
    }

    @Test func onlySensorsThatNobodyNamedMayBeMissing() throws {
        let shipped = try Configuration.read(path: ConfigurationFileTests.shipped)
        #expect(shipped.sensors.allSatisfy(shipped.isOptional))
        let own = try parse(Self.base)
        #expect(!own.sensors.contains(where: own.isOptional))
        let named = try parse(
            Self.base.replacing("[north.n]", with: "[north.n]\ndefault = true")
                .replacing("[motion.m]", with: "[motion.m]\ndefault = true")
                .replacing("[sensor.b]\n", with: "[sensor.b]\nmatch = { name = \"c\" }\n"))
        #expect(named.sensors.map(named.isOptional) == [true, false])
        // Each kind of detector has `default`, and those of the desktop service are such by themselves.
        let base = "[sensor.a]\nsource = \"auto\"\n[sensor.b]\nsource = \"auto\"\n"
        for detector in [
            "[orientation.d]\naccelerometer = \"a\"", "[hinge.d]\ndisplay = \"a\"\nbase = \"b\"",
            "[attitude.d]\naccelerometer = \"a\"\nmagnetometer = \"b\"", "[motion.d]\naccelerometer = \"a\"",
            "[north.d]\naccelerometer = \"a\"\nmagnetometer = \"b\"",
        ] {
            let own = try parse(base + detector)
            #expect(!own.isOptional(own.sensors[0]), "\(detector)")
            let byDefault = try parse(base + detector + "\ndefault = true")
            #expect(byDefault.sensors.allSatisfy(byDefault.isOptional), "\(detector)")
            let handler = "\n[handler.h]\non = [\"any\"]\ndetector = [\"d\"]\nlog = true"
            let wanted = try parse(base + detector + "\ndefault = true" + handler)
            #expect(!wanted.isOptional(wanted.sensors[0]), "\(detector)")
        }
        var desktop = try parse("[dbus]")
        desktop.addDesktop()
        #expect(desktop.sensors.count == 2 && desktop.sensors.allSatisfy(desktop.isOptional))
    }
}
