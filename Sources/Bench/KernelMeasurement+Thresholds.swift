import Kernels

extension KernelMeasurement {
    /// K1: thresholds with hysteresis.
    static var thresholds: [KernelMeasurement] { [] }
}
