import Foundation
import TestSupport
import Testing

@Suite struct DeclinationTests {
    private func object(_ arguments: [String]) throws -> [String: Any] {
        let result = try Binary.run(["declination", "--json"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return try #require(
            JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    }

    /// The first of the official test values, and one at the other end of the table's years.
    @Test func aPlaceHasItsField() throws {
        let first = try object(["--date", "2025-01-01", "--altitude", "65000", "43", "93"])
        #expect(first["declination_deg"] as? Double == 0.4964)
        #expect(first["inclination_deg"] as? Double == 64.0966)
        #expect(first["total_nT"] as? Double == 55626.621)
        #expect(first["zone"] as? String == "normal")
        #expect(first["is_within_years"] as? Bool == true)
        #expect(first["model"] as? String == "WMM-2025")
    }

    @Test(arguments: [["-33", "109"], ["--", "-33", "109"], ["--date", "2025-01-01", "-33", "109"]])
    func southIsANumber(arguments: [String]) throws {
        let found = try object(arguments)
        #expect(found["latitude_deg"] as? Double == -33)
        let declination = try #require(found["declination_deg"] as? Double)
        #expect((-6.5 ... -4.5).contains(declination))
    }

    /// As charts, phones and logbooks write places.
    @Test(
        arguments: [
            ["54.32N", "10.14E"], ["54.32N 10.14E"], ["54.32N,", "10.14E"], ["10.14E", "54.32N"], ["N54.32", "E10.14"],
            ["54.32,10.14"], ["54°19.2'N", "10°8.4'E"], ["54°19'12\"N 10°8'24\"E"], ["54° 19' 12\" N, 10° 8' 24\" E"],
            ["54°19′12″N", "10°08′24″E"], ["54d19m12sN", "10d8m24sE"],
        ])
    func aPlaceIsWrittenAsPeopleDo(arguments: [String]) throws {
        let found = try object(arguments)
        #expect(abs(try #require(found["latitude_deg"] as? Double) - 54.32) < 1e-9)
        #expect(abs(try #require(found["longitude_deg"] as? Double) - 10.14) < 1e-9)
        let south = try object(["54.32S", "10°8.4'W"])
        #expect(south["latitude_deg"] as? Double == -54.32)
        #expect(abs(try #require(south["longitude_deg"] as? Double) + 10.14) < 1e-9)
    }

    @Test func theBlackoutZoneHasNoDeclination() throws {
        let found = try object(["--date", "2025-06-01", "86", "139"])
        #expect(found["zone"] as? String == "blackout")
        #expect(found["declination_deg"] is NSNull)
        let text = try Binary.run("declination", "--date", "2025-06-01", "86", "139")
        #expect(text.output.hasPrefix("no declination"))
    }

    @Test func outsideItsYearsTheModelIsDoubted() throws {
        let result = try Binary.run("declination", "--date", "2031-01-01", "50", "8")
        #expect(result.status == 0)
        #expect(result.errors.contains("outside the years of WMM-2025, 2025 to 2030"))
        let within = try Binary.run("declination", "--date", "2029-12-31", "50", "8")
        #expect(within.errors.isEmpty)
    }

    @Test(
        arguments: [
            (["50"], "needs LAT and LON"), (["50", "8", "9"], "needs LAT and LON"),
            (["91", "8"], "LAT 91.0: has to be from -90.0"),
            (["50", "east"], "'50 east' is no place"), (["50", "nan"], "is no place"),
            (["54N", "10N"], "is no place"), (["54°60'N", "10E"], "is no place"),
            (["--", "-54S", "10E"], "is no place"),
            (["50N", "400E"], "LON 400.0"),
            (["--date", "2026-02-30", "50", "8"], "is no day"),
            (["--date", "2026-11-21T12:45", "50", "8"], "is no day"),
            (["--altitude", "1e9", "50", "8"], "--altitude"),
        ] as [([String], String)])
    func wrongUseIsExplained(arguments: [String], message: String) throws {
        let result = try Binary.run(["declination"] + arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }
}
