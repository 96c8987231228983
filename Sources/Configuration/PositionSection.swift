package import Binnacle
package import Geomagnetism

/// `[position]`: where the device is, which makes true headings of magnetic ones.
package struct PositionSection: Sendable {
    /// The place.
    package let position: GeodeticPosition
    /// The day for which the field is worked out; `nil` is today in a live run, and the model's first in a replay, which
    /// must not depend on the day it is made.
    package let day: Day?
    /// The model of the field.
    package let model: GeomagneticModel

    /// What the model says of the place.
    ///
    /// - Parameter today: The day for which it is, unless the section names one; `nil` is the model's first.
    /// - Returns: The field, rounded so that the next day's seldom differs, and what a person should know about it.
    package func field(today: Day?) -> (field: LocalField, notices: [String]) {
        let day = day ?? today
        let year = day?.decimalYear ?? model.epoch
        let found = model.field(at: position, decimalYear: year)
        func rounded(_ value: Double, _ steps: Double) -> Double { (value * steps).rounded() / steps }
        let field = LocalField(
            declinationDegrees: rounded(found.declinationDegrees, 100),
            declinationUncertaintyDegrees: rounded(found.declinationUncertaintyDegrees, 100),
            fieldMicrotesla: rounded(found.totalNanotesla / 1000, 10), zone: LocalField.Zone(found.zone))
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
                    + "\(Int(model.years.upperBound)): true headings are worth less with each year; `model` names a newer file"
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

extension PositionSection: Equatable {
    /// Whether both give the same field: models are compared by what they say of the place.
    package static func == (left: PositionSection, right: PositionSection) -> Bool {
        left.position == right.position && left.day == right.day && left.model.name == right.model.name
            && [0, 5].allSatisfy { later in
                left.model.field(at: left.position, decimalYear: left.model.epoch + later)
                    == right.model.field(at: right.position, decimalYear: right.model.epoch + later)
            }
    }
}

extension LocalField.Zone {
    fileprivate init(_ zone: GeomagneticField.Zone) {
        switch zone {
        case .normal: self = .normal
        case .caution: self = .caution
        case .blackout: self = .blackout
        }
    }
}

extension Configuration {
    /// The same configuration, whose north detectors know the field at their place.
    ///
    /// - Parameter today: The day for which it is, unless the section names one; `nil` is the model's first.
    /// - Returns: The configuration, and what a person should know about it.
    package func placed(today: Day?) -> (configuration: Configuration, notices: [String]) {
        guard let position, !norths.isEmpty else { return (self, []) }
        let (field, notices) = position.field(today: today)
        var placed = self
        placed.norths = norths.map { section in
            var section = section
            section.settings.localField = field
            return section
        }
        return (placed, notices)
    }
}
