import Binnacle

/// Collects one sensor's samples for a calibration, and says what is missing.
protocol CalibrationTask: AnyObject {
    /// Takes a sample.
    func add(_ sample: Sample)
    /// Looks at what has come, for the properties below.
    func review()
    /// Whether more samples would not make it better.
    var isComplete: Bool { get }
    /// How far it has come, from 0 to 1.
    var fraction: Double { get }
    /// What a person is to do.
    var advice: String { get }
    /// Lines that show what has come.
    var picture: [String] { get }
    /// Makes a calibration of what has come.
    func finish() throws(CalibrationRefusal) -> CalibrationResult
}

extension SIMD3<Double> {
    init(_ sample: Sample) { self.init(Double(sample.x), Double(sample.y), Double(sample.z)) }
}
