package import BinnacleHeading
package import Geomagnetism
import PlainText
import TableReading

/// `[position]`: the place of the device, which gives the declination for true headings.
package struct PositionSection: Sendable {
    package let position: GeodeticPosition
    /// The day of the field; `nil` for today in a live run, and for the model's first day in a replay, which is
    /// reproducible.
    package let day: Day?
    package let model: GeomagneticModel

    /// The field at the place, and warnings; on the section's day, else on `today`, else on the model's first day.
    ///
    /// It is rounded so that it seldom changes from day to day.
    package func field(today: Day?) -> (field: LocalField, notices: [String]) {
        let day = day ?? today
        let year = day?.decimalYear ?? model.epoch
        let found = model.field(at: position, decimalYear: year)
        let field = LocalField(found)
        return (field, notices(day, year, field.zone))
    }

    private func notices(_ day: Day?, _ year: Double, _ zone: LocalField.Zone) -> [String] {
        var notices: [String] = []
        if day == nil {
            notices.append(
                "position: the declination is that of the beginning of \(Int(model.epoch)); `date` in [position] names the "
                    + "recording's day")
        }
        if !model.years.contains(year) {
            notices.append(
                "position: \(day.map { "\($0)" } ?? "\(year)") is outside the years of \(model.name), \(Int(model.epoch)) to "
                    + "\(Int(model.years.upperBound)): the error of true headings grows with each year; `model` names a newer file"
            )
        }
        switch zone {
        case .normal: break
        case .caution:
            notices.append("position: in the caution zone around a magnetic pole: headings may be wrong by degrees")
        case .blackout:
            notices.append("position: in the blackout zone around a magnetic pole: there is no heading")
        }
        return notices
    }
}

extension PositionSection {
    init?(reading table: TableReader) {
        for key in Self.row.keys where key.purpose != nil { _ = table.required(key) }
        let latitude = Self.angle(table, "latitude_deg", .latitude, in: GeodeticPosition.latitudes)
        let longitude = Self.angle(table, "longitude_deg", .longitude, in: GeodeticPosition.longitudes)
        let altitude = table.number("altitude_m", in: GeodeticPosition.altitudes)
        let day = Self.day(table)
        let model = Self.model(table)
        guard let latitude, let longitude, let model,
            let position = GeodeticPosition(
                latitudeDegrees: latitude, longitudeDegrees: longitude, altitudeMetres: altitude ?? 0)
        else { return nil }
        self.init(position: position, day: day, model: model)
    }

    /// A number of degrees, or a text such as `54°19'N`.
    private static func angle(
        _ table: TableReader, _ key: String, _ axis: GeographicText.Axis, in range: ClosedRange<Double>
    ) -> Double? {
        guard let node = table.entry(key)?.node, case .string = node.value else { return table.number(key, in: range) }
        guard let text = table.string(key) else { return nil }
        guard let found = GeographicText.angle(text), found.axis ?? axis == axis, range.contains(found.degrees) else {
            let (name, example) =
                axis == .latitude
                ? ("latitude", "54.32, \"54.32N\" or \"54°19'N\"") : ("longitude", "10.14, \"10.14E\" or \"10°8'E\"")
            table.refuse(
                key, at: node.position, "\(Spelling.quoted(text)) is no \(name)", hint: "such as \(example)")
            return nil
        }
        return found.degrees
    }

    private static func day(_ table: TableReader) -> Day? {
        guard let node = table.entry("date")?.node, let text = table.string("date", node) else { return nil }
        guard let day = Day(text) else {
            table.refuse("date", at: node.position, "`date` is no day", hint: "such as \"2026-11-21\"")
            return nil
        }
        return day
    }

    private static func model(_ table: TableReader) -> GeomagneticModel? {
        guard let node = table.entry("model")?.node else { return .wmm2025 }
        guard let path = table.path("model"), let bytes = table.contents(of: path, named: "model", node) else {
            return nil
        }
        do {
            return try GeomagneticModel(parsing: String(decoding: bytes, as: UTF8.self))
        } catch {
            table.refuse(
                "model", at: node.position, "\(path.printable): \(error)",
                hint: "a coefficient file of the World Magnetic Model, as its makers publish it")
            return nil
        }
    }

    private static let purpose = "a place has both, in degrees; north and east are positive"

    static let row = SectionRow(
        "position", shown: "position", isSet: false,
        """
        Where the device is. With it headings and bearings count from true north, after the World Magnetic Model; without \
        it they are magnetic. "binnacle declination" shows what the model says of a place.
        """,
        keys: [
            Key(
                "latitude_deg", .usual("54.32"), purpose: purpose, usual: "",
                "North is positive; also as \"54°19'N\"."),
            Key(
                "longitude_deg", .usual("10.14"), purpose: purpose, usual: "", "East is positive; also as \"10°8'E\"."),
            Key("altitude_m", .usual("0"), "Above the ellipsoid WGS 84."),
            Key(
                "date", .example("\"2026-11-21\""),
                """
                The day of the field. The default is the day on which a running service reads this file, and the first day of \
                the model in a replay, whose result is the same on every day.
                """),
            Key(
                "model", .example("\"/usr/share/binnacle/WMM2030.COF\""),
                """
                Another model's coefficients, in the makers' own format, instead of WMM2025, which is built in and good \
                until 2030.
                """),
            SectionSwitch.enabled,
        ])
}

extension PositionSection: Equatable {
    /// Models are compared by their results for the place.
    package static func == (left: PositionSection, right: PositionSection) -> Bool {
        left.position == right.position && left.day == right.day && left.model.name == right.model.name
            && [0, 5].allSatisfy { later in
                left.model.field(at: left.position, decimalYear: left.model.epoch + later)
                    == right.model.field(at: right.position, decimalYear: right.model.epoch + later)
            }
    }
}

extension Configuration {
    /// The same configuration with the local field in the detectors, and warnings.
    package func placed(today: Day?) -> (configuration: Configuration, notices: [String]) {
        guard let position, detectors.contains(where: \.dependsOnPlace) else { return (self, []) }
        let (field, notices) = position.field(today: today)
        var placed = self
        placed.detectors = detectors.map { $0.placed(in: field) ?? $0 }
        return (placed, notices)
    }
}
