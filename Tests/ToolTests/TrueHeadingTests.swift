import Foundation
import TestSupport
import Testing

/// Headings of a place, through the program.
@Suite struct TrueHeadingTests {
    private static let recording = Binary.fixtures + "/broad/broad05_rotation_breaks.csv"

    private func configuration(_ position: String) -> String {
        """
        [sensor.box]
        source = "trace"
        file = "\(Self.recording)"
        [north.bow]
        accelerometer = "box"
        magnetometer = "box"
        gyroscope = "none"
        hard_iron_uT = 0
        \(position)
        """
    }

    private func replay(_ position: String) throws -> (first: [String: Any], errors: String) {
        let file = try TemporaryFile(configuration(position), suffix: ".toml")
        let result = try Binary.run("replay", "--json", "--config", file.path)
        #expect(result.status == 0, "\(result.errors)")
        let line = try #require(result.lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        return (object, result.errors)
    }

    private static let kiel = "[position]\nlatitude_deg = 54.32\nlongitude_deg = 10.14\n"

    @Test func aPlaceTurnsHeadingsByItsDeclination() throws {
        let magnetic = try replay("").first
        #expect(magnetic["reference"] == nil && magnetic["declination_deg"] == nil)
        let found = try replay(Self.kiel + "date = \"2026-11-21\"\n")
        #expect(found.first["reference"] as? String == "true")
        // As `binnacle declination 54.32 10.14 --date 2026-11-21` has it.
        #expect(found.first["declination_deg"] as? Double == 4.42)
        let turn =
            try #require(found.first["heading_deg"] as? Double) - (try #require(magnetic["heading_deg"] as? Double))
        #expect(abs(turn - 4.42) < 0.011)
        #expect(!found.errors.contains("position:"))
    }

    @Test func aReplayWithoutADayIsThatOfTheModelsFirstDay() throws {
        let found = try replay(Self.kiel)
        #expect(found.errors.contains("the declination is that of the beginning of 2025"))
        let first = try Binary.run("declination", "54.32", "10.14", "--date", "2025-01-01", "--json")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(first.output.utf8)) as? [String: Any])
        let declination = try #require(object["declination_deg"] as? Double)
        #expect(abs(try #require(found.first["declination_deg"] as? Double) - declination) < 0.0051)
    }

    @Test func aDayBeyondTheModelIsWarnedOf() throws {
        let found = try replay(Self.kiel + "date = \"2031-06-01\"\n")
        #expect(found.errors.contains("2031-06-01 is outside the years of WMM-2025, 2025 to 2030"))
    }

    @Test func zonesAroundThePolesAreFlaggedAndRefused() throws {
        // Some 200 km from the north magnetic pole of 2025, and some 1,000.
        for (latitude, longitude, zone) in [(85.8, 139.3, "blackout"), (78.0, 110.0, "caution")] {
            let text = "[position]\nlatitude_deg = \(latitude)\nlongitude_deg = \(longitude)\ndate = \"2026-11-21\"\n"
            let found = try replay(text)
            #expect(found.errors.contains("in the \(zone) zone around a magnetic pole"), "\(found.errors)")
            if zone == "blackout" {
                #expect(found.first["kind"] as? String == "heading.lost")
                #expect(found.first["reason"] as? String == "in the blackout zone around a magnetic pole")
            }
        }
    }

    @Test func anotherModelTakesThePlaceOfTheBuiltInOne() throws {
        // A dipole along the Earth's axis: no declination anywhere.
        let model = try TemporaryFile(
            "    2026.0            AXIAL           01/01/2026\n  1  0  -30000.0  0.0  0.0  0.0\n  1  1  0.0  0.0  0.0  0.0\n"
        )
        let found = try replay(Self.kiel + "date = \"2026-11-21\"\nmodel = \"\(model.path)\"\n")
        #expect(found.first["declination_deg"] as? Double == 0)
    }

    @Test func aLiveHeadingIsTrueToo() throws {
        let run = try DaemonRun(
            """
            [sensor.box]
            source = "simulated"
            model = "turn"
            [north.bow]
            accelerometer = "box"
            magnetometer = "box"
            sectors = [{ name = "half", from_deg = 0, to_deg = 180 }]
            \(Self.kiel)
            [handler.out]
            on = ["heading", "sector.entered"]
            stdout = true
            """
        ).start()
        try run.waitForEvent("heading", count: 2)
        try run.waitForEvent("sector.entered")
        #expect(run.stop() == 0)
        let event = try #require(try run.events().first { $0["kind"] as? String == "heading" })
        #expect(event["reference"] as? String == "true")
        #expect(try #require(event["accuracy_deg"] as? Double) > 0)
    }

    /// With a magnet beside the sensor from 41.5 to 99 s, and a calibration made meanwhile, it is the time without the magnet
    /// that is disturbed.
    @Test func whatCalibrateWritesIsWhatTheConfigurationNames() throws {
        let recording = Binary.fixtures + "/broad/broad33_attached_magnet_2cm.csv"
        let folder = try TemporaryFolder()
        let made = try Binary.run(
            "calibrate", "magnetometer", "--trace", recording, "--from", "50", "--to", "74", "-o",
            folder.path + "/c.toml")
        #expect(made.status == 0, "\(made.errors)")
        let text = """
            [sensor.box]
            source = "trace"
            file = "\(recording)"
            calibration = "c.toml"
            [north.bow]
            accelerometer = "box"
            magnetometer = "box"
            """
        try text.write(toFile: folder.path + "/b.toml", atomically: true, encoding: .utf8)
        let result = try Binary.run("replay", "--json", "--config", folder.path + "/b.toml")
        #expect(result.status == 0, "\(result.errors)")
        let events = try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let disturbances = events.filter { ($0["kind"] as? String)?.hasPrefix("interference.") ?? false }
        let kinds = disturbances.compactMap { $0["kind"] as? String }.map { $0.suffix(5) }
        #expect(kinds == ["began", "ended", "began"])
        let seconds = disturbances.compactMap { $0["time_ns"] as? Int }.map { Double($0) * 1e-9 }
        try #require(seconds.count == 3)
        #expect(seconds[0] < 31 && (41.5...45.5).contains(seconds[1]) && (99...101).contains(seconds[2]))
    }

    @Test func anAccelerometerWithTheOtherSignGivesNoHeadingWhereThePlaceIsKnown() throws {
        let file = try TemporaryFile(
            """
            [sensor.box]
            source = "trace"
            file = "\(Binary.fixtures)/heading/gravity_sign_flat_045.csv"
            [north.bow]
            accelerometer = "box"
            magnetometer = "box"
            hard_iron_uT = 0
            [position]
            latitude_deg = 47.37
            longitude_deg = 8.54
            """, suffix: ".toml")
        let result = try Binary.run("replay", "--json", "--config", file.path)
        #expect(result.status == 0, "\(result.errors)")
        let objects = try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["kind"] as? String } == ["heading.lost"])
        let reason = try #require(objects.first?["reason"] as? String)
        #expect(reason.contains("the accelerometer's sign is probably the other one"))
        #expect(reason.contains("acceleration = \"gravity\""))
    }
}
