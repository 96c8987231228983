import Binnacle
import BinnacleHeading
import CommandRows
import Configuration
import Geomagnetism
import LinuxSystem
import PlainText
import Station

/// `binnacle declination`: shows the World Magnetic Model's field at a place.
struct DeclinationCommand {
    private let model = GeomagneticModel.wmm2025
    private let position: GeodeticPosition
    private let day: Day
    private let writesJSON: Bool

    init(_ arguments: Arguments) throws(StationError) {
        let text = arguments.operands.joined(separator: " ")
        guard let place = GeographicText.position(text) else {
            throw .usage(
                (text.isEmpty ? "declination" : "'\(text)' is no place: declination")
                    + " needs LAT and LON in degrees, as in 'binnacle declination 54.32 10.14', "
                    + "'54.32N 10.14E' or \"54°19'N 10°8'E\"")
        }
        let latitude = try Self.number(place.latitude, in: GeodeticPosition.latitudes, "LAT")
        let longitude = try Self.number(place.longitude, in: GeodeticPosition.longitudes, "LON")
        var altitude = 0.0
        if let text = arguments.value(.altitude) {
            altitude = try Self.number(Double(text), in: GeodeticPosition.altitudes, "--altitude")
        }
        guard
            let position = GeodeticPosition(
                latitudeDegrees: latitude, longitudeDegrees: longitude, altitudeMetres: altitude)
        else { throw .usage("\(text) is no place") }
        self.position = position
        let date = arguments.value(.date)
        guard let day = date.map({ Day($0) }) ?? Day.today else {
            throw .usage("--date '\(date ?? "")' is no day, as in 2026-11-21")
        }
        self.day = day
        writesJSON = arguments.has(.json)
    }

    private static func number(
        _ number: Double?, in range: ClosedRange<Double>, _ name: String
    ) throws(StationError) -> Double {
        guard let number, range.contains(number) else {
            let value = number.map { " \($0)" } ?? ""
            throw .usage("\(name)\(value): has to be from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func run(_ console: Console) -> ExitStatus {
        let field = model.field(at: position, decimalYear: day.decimalYear)
        if let warning { console.errors.write("binnacle: \(warning)") }
        if writesJSON {
            console.output.write(json(field))
        } else {
            for line in lines(field) { console.output.write(line) }
        }
        return .ok
    }

    private var warning: String? {
        guard !model.years.contains(day.decimalYear) else { return nil }
        return "\(day) is outside the years of \(model.name), \(Int(model.epoch)) to "
            + "\(Int(model.years.upperBound)): the error of the figures grows with each year"
    }

    private func lines(_ field: GeomagneticField) -> [String] {
        let declination = field.declinationDegrees.text(2)
        let uncertainty = field.declinationUncertaintyDegrees.text(2)
        let first =
            switch field.zone {
            case .normal: "declination \(declination)° ± \(uncertainty)°: true = magnetic \(Self.signed(field))°"
            case .caution:
                "declination \(declination)° ± \(uncertainty)°, in the caution zone: a compass may be wrong by degrees here"
            case .blackout: "no declination: in the blackout zone around a magnetic pole a compass is of no use"
            }
        return [
            first,
            "inclination \(field.inclinationDegrees.text(2))°",
            "total \(field.totalNanotesla.text(0)) nT, horizontal \(field.horizontalNanotesla.text(0)) nT",
            "\(model.name), \(day)",
        ]
    }

    private func json(_ field: GeomagneticField) -> String {
        let isUsable = field.zone != .blackout
        var object = JSONObject()
        object.add("latitude_deg", raw: "\(position.latitudeDegrees)")
        object.add("longitude_deg", raw: "\(position.longitudeDegrees)")
        object.add("altitude_m", raw: "\(position.altitudeMetres)")
        object.add("date", day.description)
        object.add("model", model.name)
        object.add("is_within_years", raw: "\(model.years.contains(day.decimalYear))")
        object.add("zone", field.zone.rawValue)
        object.add("declination_deg", raw: isUsable ? field.declinationDegrees.text(4) : "null")
        object.add("uncertainty_deg", raw: isUsable ? field.declinationUncertaintyDegrees.text(4) : "null")
        object.add("inclination_deg", raw: field.inclinationDegrees.text(4))
        object.add("total_nT", raw: field.totalNanotesla.text(3))
        object.add("horizontal_nT", raw: field.horizontalNanotesla.text(3))
        object.add("north_nT", raw: field.northNanotesla.text(3))
        object.add("east_nT", raw: field.eastNanotesla.text(3))
        object.add("down_nT", raw: field.downNanotesla.text(3))
        return object.text
    }

    private static func signed(_ field: GeomagneticField) -> String {
        let size = field.declinationDegrees.magnitude.text(2)
        return field.declinationDegrees < 0 ? "− \(size)" : "+ \(size)"
    }
}
