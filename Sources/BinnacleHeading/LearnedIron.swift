import Binnacle

/// Hard iron that turns have shown, in µT, and its standard deviation on an axis.
struct LearnedIron {
    let offset: SIMD3<Float>
    let sigma: Double

    /// The share of the field that the iron's standard deviation along a level axis may be to count as known.
    static let knownShare = 0.05
    /// Turns know no better than a calibration with a smaller error, in µT.
    private static let goodCalibration = 1.0

    /// The standard deviation of the iron on each axis before a turn has shown it; `nil` where a calibration, or the maker, has
    /// taken it, and where a model makes the samples.
    ///
    /// A calibration that is poor says where to begin, and turns show the rest.
    static func startSigma(_ magnetometer: Sensor?, _ settings: NorthSettings) -> Double? {
        let assumed = magnetometer?.isSimulated ?? false ? 0 : settings.uncalibratedIronMicrotesla
        guard let error = magnetometer?.calibration?.magnetometer?.residualMicrotesla else {
            return assumed > 0 ? assumed : nil
        }
        return error <= goodCalibration ? nil : assumed > 0 ? min(error, assumed) : error
    }
}
