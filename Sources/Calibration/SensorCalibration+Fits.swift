public import Binnacle

extension MagnetometerCalibration {
    /// Takes what a judge found, for a sensor's ``SensorCalibration``: the fit, and how wrong it may be.
    public init(_ finding: MagnetometerJudge.Finding) {
        let fit = finding.calibration
        self.init(
            axes: AxisCalibration(offset: fit.hardIronMicrotesla, matrix: fit.softIron),
            fieldMicrotesla: fit.fieldMicrotesla, residualMicrotesla: finding.errorMicrotesla)
    }
}

extension AxisCalibration {
    /// Takes a fit, for a sensor's ``SensorCalibration``.
    public init(_ fit: AccelerometerFit) {
        self.init(offset: fit.offset, matrix: fit.matrix)
    }
}
