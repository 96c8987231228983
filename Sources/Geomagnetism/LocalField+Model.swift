public import BinnacleHeading

extension LocalField {
    /// Takes a model's field, rounded to 0.01° and 0.1 µT, for the settings of a north detector.
    ///
    /// Rounded, the field of the next day is mostly the same, so that settings which contain it seldom change.
    public init(_ field: GeomagneticField) {
        func rounded(_ value: Double, _ steps: Double) -> Double { (value * steps).rounded() / steps }
        self.init(
            declinationDegrees: rounded(field.declinationDegrees, 100),
            declinationUncertaintyDegrees: rounded(field.declinationUncertaintyDegrees, 100),
            fieldMicrotesla: rounded(field.totalNanotesla / 1000, 10),
            dipDegrees: rounded(field.inclinationDegrees, 10))
        zone = field.zone
    }
}
