public import Binnacle

extension MagnetometerCalibration {
    /// Takes a fit, for a sensor's ``SensorCalibration``.
    public init(_ fit: MagnetometerFit) {
        self.init(
            axes: AxisCalibration(offset: fit.hardIronMicrotesla, matrix: fit.softIron),
            fieldMicrotesla: fit.fieldMicrotesla, fitErrorPercent: fit.fitErrorPercent)
    }
}

extension AxisCalibration {
    /// Takes a fit, for a sensor's ``SensorCalibration``.
    public init(_ fit: AccelerometerFit) {
        self.init(offset: fit.offset, matrix: fit.matrix)
    }
}
