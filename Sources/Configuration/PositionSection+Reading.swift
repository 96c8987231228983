import Binnacle
import Geomagnetism
import PlainText
import TableReading

extension PositionSection {
    /// The section's keys.
    static let keys = ["latitude_deg", "longitude_deg", "altitude_m", "date", "model"]

    /// Reads the section; `nil` when it cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - table: Its keys.
    ///   - folder: What a path is relative to: nothing, or a path that ends with a slash.
    init?(reading table: TableReader, folder: String) {
        for key in ["latitude_deg", "longitude_deg"] where table.entry(key) == nil {
            table.report(missing: key, "a place has both, in degrees; north and east are positive")
        }
        let latitude = table.number("latitude_deg", in: GeodeticPosition.latitudes)
        let longitude = table.number("longitude_deg", in: GeodeticPosition.longitudes)
        let altitude = table.number("altitude_m", in: GeodeticPosition.altitudes)
        let day = Self.day(table)
        let model = Self.model(table, folder)
        guard let latitude, let longitude, let model,
            let position = GeodeticPosition(
                latitudeDegrees: latitude, longitudeDegrees: longitude, altitudeMetres: altitude ?? 0)
        else { return nil }
        self.init(position: position, day: day, model: model)
    }

    private static func day(_ table: TableReader) -> Day? {
        guard let node = table.entry("date")?.node, let text = table.string("date", node) else { return nil }
        guard let day = Day(text) else {
            table.refuse("date", at: node.position, "`date` is no day", hint: "such as \"2026-11-21\"")
            return nil
        }
        return day
    }

    /// The model that is built in, unless a file is named.
    private static func model(_ table: TableReader, _ folder: String) -> GeomagneticModel? {
        guard let node = table.entry("model")?.node else { return .wmm2025 }
        guard let text = table.string("model", node) else { return nil }
        let path = text.hasPrefix("/") ? text : folder + text
        guard let bytes = table.contents(of: path, named: "model", node) else { return nil }
        do throws(GeomagneticModelError) {
            return try GeomagneticModel(parsing: String(decoding: bytes, as: UTF8.self))
        } catch {
            table.refuse(
                "model", at: node.position, "\(path.printable): \(error)",
                hint: "a coefficient file of the World Magnetic Model, as its makers publish it")
            return nil
        }
    }
}
