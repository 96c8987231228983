import Foundation
import Binnacle
import BinnacleHeading
import Geomagnetism
import TestSupport
import Testing

@Suite struct GeomagneticModelTests {
    /// A row of the official table.
    private struct Row {
        let numbers: [Double]

        var year: Double { numbers[0] }
        var position: GeodeticPosition? {
            GeodeticPosition(
                latitudeDegrees: numbers[2], longitudeDegrees: numbers[3], altitudeMetres: numbers[1] * 1000)
        }
    }

    private func rows() throws -> [Row] {
        let text = try String(contentsOfFile: "\(Binary.fixtures)/wmm/WMM2025_TestValues_100.txt", encoding: .utf8)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            Row(numbers: line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) })
        }
    }

    @Test func theOfficialTestValuesAreReached() throws {
        let rows = try rows()
        #expect(rows.count == 100)
        for row in rows {
            let position = try #require(row.position)
            let field = GeomagneticModel.wmm2025.field(at: position, decimalYear: row.year)
            // The table has angles to two decimals.
            #expect(abs(field.declinationDegrees - row.numbers[4]) <= 0.00501, "\(row)")
            #expect(abs(field.inclinationDegrees - row.numbers[5]) <= 0.00501, "\(row)")
            #expect(abs(field.horizontalNanotesla - row.numbers[6]) <= 0.001, "\(row)")
            #expect(abs(field.northNanotesla - row.numbers[7]) <= 0.001, "\(row)")
            #expect(abs(field.eastNanotesla - row.numbers[8]) <= 0.001, "\(row)")
            #expect(abs(field.downNanotesla - row.numbers[9]) <= 0.001, "\(row)")
            #expect(abs(field.totalNanotesla - row.numbers[10]) <= 0.001, "\(row)")
        }
    }

    /// At a pole every longitude is the same place, seen from another side.
    @Test(arguments: [90.0, -90.0]) func thePolesAreOrdinaryPlaces(latitude: Double) throws {
        let pole = try #require(GeodeticPosition(latitudeDegrees: latitude, longitudeDegrees: 0))
        let turned = try #require(GeodeticPosition(latitudeDegrees: latitude, longitudeDegrees: 90))
        let near = try #require(
            GeodeticPosition(latitudeDegrees: latitude * (1 - 1e-9), longitudeDegrees: 0))
        let model = GeomagneticModel.wmm2025
        let (field, other, beside) = (
            model.field(at: pole, decimalYear: 2026), model.field(at: turned, decimalYear: 2026),
            model.field(at: near, decimalYear: 2026)
        )
        #expect(abs(field.downNanotesla - other.downNanotesla) < 1e-6)
        // Seen from a quarter further, north is west of here at the north pole, and east at the south pole.
        let sign = latitude > 0 ? 1.0 : -1.0
        #expect(abs(other.northNanotesla + field.eastNanotesla * sign) < 1e-6)
        #expect(abs(other.eastNanotesla - field.northNanotesla * sign) < 1e-6)
        #expect(abs(field.northNanotesla - beside.northNanotesla) < 0.01)
        #expect(abs(field.eastNanotesla - beside.eastNanotesla) < 0.01)
    }

    @Test func theZonesAreThoseOfTheMakers() {
        func zone(_ horizontal: Double) -> LocalField.Zone {
            GeomagneticField(northNanotesla: horizontal, eastNanotesla: 0, downNanotesla: 5e4).zone
        }
        #expect(zone(1999) == .blackout)
        #expect(zone(2000) == .caution)
        #expect(zone(5999) == .caution)
        #expect(zone(6000) == .normal)
    }

    @Test func theUncertaintyGrowsTowardsThePoles() {
        let weak = GeomagneticField(northNanotesla: 5417, eastNanotesla: 0, downNanotesla: 5e4)
        #expect(abs(weak.declinationUncertaintyDegrees - (0.26 * 0.26 + 1).squareRoot()) < 1e-12)
    }

    @Test(arguments: [(91.0, 0.0, 0.0), (0, 361, 0), (0, -181, 0), (.nan, 0, 0), (0, 0, 9e5), (0, 0, -.infinity)])
    func whatIsNoPlaceIsNone(latitude: Double, longitude: Double, altitude: Double) {
        #expect(
            GeodeticPosition(
                latitudeDegrees: latitude, longitudeDegrees: longitude, altitudeMetres: altitude) == nil)
    }

    @Test func yearsCountTheirDays() {
        #expect(DecimalYear.of(year: 2026, dayOfYear: 1) == 2026)
        #expect(abs(DecimalYear.of(year: 2028, dayOfYear: 367) - 2029) < 1e-12)
        #expect(abs(DecimalYear.of(year: 2100, dayOfYear: 366) - 2101) < 1e-12)
    }

    // MARK: - Files

    private func complaint(_ text: String) -> GeomagneticModelError? {
        do {
            _ = try GeomagneticModel(parsing: text)
            return nil
        } catch {
            return error as? GeomagneticModelError
        }
    }

    @Test func aSmallModelIsRead() throws {
        let model = try GeomagneticModel(
            parsing: "2030.0 TEST-2030 1/1/2030\n1 0 -30000 0 1 0\n1 1 0 0 0 0\n9999\nmore")
        #expect(model.name == "TEST-2030")
        #expect(model.years == 2030...2035)
        let position = try #require(GeodeticPosition(latitudeDegrees: 0, longitudeDegrees: 0))
        // A dipole along the axis points north at the equator, and grows by what it changes.
        let (now, later) = (
            model.field(at: position, decimalYear: 2030), model.field(at: position, decimalYear: 2031)
        )
        #expect(now.declinationDegrees == 0)
        #expect(abs(now.northNanotesla / 30_000 - later.northNanotesla / 29_999) < 1e-12)
    }

    @Test(
        arguments: [
            ("", 1, "epoch"), ("x WMM", 1, "epoch"), ("2025.0", 1, "epoch"), ("nan WMM", 1, "epoch"),
            ("2025.0 WMM\n", 2, "has coefficients"),
            ("2025.0 WMM\n1 0 1 0 0", 2, "four numbers"), ("2025.0 WMM\n1 2 1 0 0 0", 2, "order up to it"),
            ("2025.0 WMM\n51 0 1 0 0 0", 2, "degree"), ("2025.0 WMM\n1 0 1 0 0 inf", 2, "no coefficient"),
            ("2025.0 WMM\n1 0 1 0 0 0\n1 0 1 0 0 0", 3, "second time"),
            ("2025.0 WMM\n1 0 1 0 0 0\n9999", 3, "order 1 is missing"),
            ("2025.0 WMM\n2 0 1 0 0 0", 2, "degree 1, order 0 is missing"),
        ]) func aBrokenModelSaysWhereAndWhat(text: String, line: Int, message: String) throws
    {
        let error = try #require(complaint(text))
        #expect(error.line == line)
        #expect(error.message.contains(message), "\(error)")
    }
}
