import Binnacle
import Configuration
import Geomagnetism
import SensorGeometry
import Station
import TableReading
import TestSupport
import Testing

/// `[position]`, and the calibration that a sensor's section names.
@Suite struct PositionTests {
    private static let place = "[position]\nlatitude_deg = 54.32\nlongitude_deg = 10.14\n"

    @Test func aPlaceIsRead() throws {
        let position = try #require(
            try parse(Self.place + "altitude_m = 30\ndate = \"2026-11-21\"\n").position)
        #expect(position.position.latitudeDegrees == 54.32 && position.position.longitudeDegrees == 10.14)
        #expect(position.position.altitudeMetres == 30)
        #expect(position.day?.description == "2026-11-21")
        #expect(abs((position.day?.decimalYear ?? 0) - (2026 + 324.0 / 365)) < 1e-9)
        #expect(position.model.name == GeomagneticModel.wmm2025.name)
    }

    @Test(arguments: [
        ("\"54°19'12\\\"N\"", "\"10°8'24\\\"E\""), ("\"54.32N\"", "\"E10.14\""), ("\"54.32\"", "10.14"),
    ])
    func aPlaceIsReadAsPeopleWriteIt(latitude: String, longitude: String) throws {
        let text = "[position]\nlatitude_deg = \(latitude)\nlongitude_deg = \(longitude)\n"
        let position = try #require(try parse(text).position).position
        #expect(abs(position.latitudeDegrees - 54.32) < 1e-9 && abs(position.longitudeDegrees - 10.14) < 1e-9)
        let words = "[position]\nlatitude_deg = \"33°52'S\"\nlongitude_deg = \"70°W\"\n"
        let south = try #require(try parse(words).position)
        #expect(south.position.latitudeDegrees < -33.8 && south.position.longitudeDegrees == -70)
    }

    @Test(arguments: [
        FaultyText("no angle", "[position]\nlatitude_deg = |\"up\"\nlongitude_deg = 1\n", "no latitude", "54°19'N"),
        FaultyText("exchanged", "[position]\nlatitude_deg = |\"10°8'E\"\nlongitude_deg = 1\n", "no latitude"),
        FaultyText("beyond", "[position]\nlatitude_deg = 1\nlongitude_deg = |\"999E\"\n", "no longitude"),
        FaultyText("no longitude", "|[position]\nlatitude_deg = 1\n", "[position] has no `longitude_deg`"),
        FaultyText("latitude", "[position]\n|latitude_deg = 91\nlongitude_deg = 1\n", "between -90.0 and 90.0"),
        FaultyText("a day that is none", place + "date = |\"2026-02-30\"\n", "no day", "\"2026-11-21\""),
        FaultyText("a TOML date", place + "date = |2026-02-20\n", "expected a string"),
        FaultyText("a model that is not there", place + "model = |\"/nowhere/x.COF\"\n", "there is no such file"),
        FaultyText("key", place + "|lattitude = 1\n", "one of `latitude_deg`"),
    ])
    func whatIsWrongIsSaid(_ faulty: FaultyText) throws {
        let found = problems(faulty.text)
        let first = try #require(found.first)
        #expect(found.count == 1)
        #expect((first.line, first.column) == (faulty.line, faulty.column))
        for words in faulty.words { #expect(first.description.contains(words), "\(first)") }
    }

    @Test func aModelThatIsNoneIsRefusedWithItsLine() throws {
        let model = try TemporaryFile("2030.0 X 01/01/2030\n  1  0 no 0 0 0\n")
        let found = problems(Self.place + "model = \"\(model.path)\"\n")
        #expect(found.count == 1)
        #expect(found.first?.description.contains(model.path) ?? false)
    }

    // MARK: - Calibrations

    private static let calibration = """
        [magnetometer]
        model = "ellipsoid"
        hard_iron_uT = [1.5, -2, 3]
        soft_iron = [[1.1, 0, 0], [0, 0.9, 0], [0, 0.1, 1]]
        field_uT = 48
        fit_error_percent = 0.5
        coverage = 5.3
        samples = 400
        [accelerometer]
        offset_m_s2 = [0.1, 0, 0]
        matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        fit_error_m_s2 = 0.01
        positions = 6
        """

    private func sensor(_ calibration: String) throws -> Result<SensorCalibration?, ConfigurationError> {
        let file = try TemporaryFile(calibration)
        do throws(ConfigurationError) {
            let text = "[sensor.a]\nsource = \"auto\"\ncalibration = \"\(file.path)\"\n"
            return .success(try parse(text).sensors.first?.calibration)
        } catch {
            return .failure(error)
        }
    }

    @Test func aCalibrationIsRead() throws {
        let calibration = try #require(try sensor(Self.calibration).get())
        let magnetometer = try #require(calibration.magnetometer)
        #expect(magnetometer.axes.offset == SIMD3(1.5, -2, 3))
        #expect(magnetometer.axes.matrix.rows[2] == SIMD3(0, 0.1, 1))
        #expect(magnetometer.fieldMicrotesla == 48 && magnetometer.residualMicrotesla == 0.24)
        #expect(calibration.accelerometer?.offset == SIMD3(0.1, 0, 0))
        #expect(calibration.accelerometerResidual == 0.01)
    }

    @Test(arguments: [
        ("field_uT = 48", "field_uT = 0", "field_uT (0.0) is not between"),
        ("[1.5, -2, 3]", "[1.5, -2]", "three numbers"),
        ("[1.5, -2, 3]", "[1.5, nan, 3]", "up to a million"), ("[[1.1, 0, 0], ", "[", "needs three"),
        ("[1.1, 0, 0]", "[0, 0, 0]", "determinant"), ("[1.1, 0, 0]", "[-1.1, 0, 0]", "determinant"),
        ("field_uT = 48\n", "", "no `field_uT`"), ("samples", "sample", "did you mean `samples`?"),
        ("fit_error_m_s2 = 0.01", "fit_error_m_s2 = -1", "fit_error_m_s2 (-1.0) is not between"),
        ("[accelerometer]", "[barometer]", "unknown key `barometer`"), ("soft_iron = ", "soft_iron ", "syntax error"),
    ])
    func aCalibrationThatIsWrongIsRefusedAtItsPlace(_ from: String, _ to: String, _ words: String) throws {
        let text = Self.calibration.replacing(from, with: to)
        guard case .failure(let error) = try sensor(text) else {
            Issue.record("taken: \(to)")
            return
        }
        let said = error.description
        #expect(said.contains(words), "\(said)")
        #expect(said.contains("binnacle-test-"), "the calibration's own path: \(said)")
    }

    /// Two sections of one chip, of which one names the file that is for both.
    @Test func whatIsNotUsedOfACalibrationIsWarnedOf() throws {
        let file = try TemporaryFile(Self.calibration)
        func warnings(chassis: Bool, compass: Bool) throws -> [String] {
            let line = "calibration = \"\(file.path)\"\n"
            func sensor(_ name: String, _ isNamed: Bool) -> String {
                "[sensor.\(name)]\nsource = \"auto\"\n" + (isNamed ? line : "")
            }
            return try parse(
                sensor("chassis", chassis) + sensor("compass", compass)
                    + "[north.n]\naccelerometer = \"chassis\"\nmagnetometer = \"compass\"\n"
            ).warnings.map(\.description).filter { $0.contains("is not used") }
        }
        #expect(try warnings(chassis: true, compass: true).isEmpty)
        let compass = try warnings(chassis: false, compass: true)
        let said = "its [accelerometer] is not used: the accelerometer is that of [sensor.chassis]"
        #expect(compass.count == 1 && compass.first?.contains(said) == true, "\(compass)")
        let chassis = try warnings(chassis: true, compass: false)
        let remedy = "name the file in [sensor.compass] as well"
        #expect(chassis.count == 1 && chassis.first?.contains(remedy) == true, "\(chassis)")
    }

    @Test func aCalibrationThatIsNotThereIsSaidAtTheKey() {
        let found = problems("[sensor.a]\nsource = \"auto\"\ncalibration = \"/nowhere/c.toml\"\n")
        #expect(found.map { "\($0.line):\($0.column)" } == ["3:15"])
        #expect(found.first?.hint?.contains("binnacle calibrate") == true)
    }

    @Test func anEmptyCalibrationIsNone() throws {
        guard case .failure(let error) = try sensor("# nothing\n") else {
            Issue.record("taken")
            return
        }
        #expect(error.description.contains("`binnacle calibrate` writes one"))
    }
}
