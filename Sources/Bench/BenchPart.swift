/// What `binnacle bench` measures, part by part.
package enum BenchPart: String, Sendable, CaseIterable {
    /// How fast the machine reads memory.
    case limits
    /// A threshold with hysteresis, over columns.
    case k1
    /// The same straight on a device's scans.
    case k2
    /// Facing a bearing.
    case k3
    /// Gravity separated from movement.
    case k4
    /// Scans into columns.
    case decode
    /// From a pipe to a delegate.
    case live
    /// From a file to a delegate.
    case traces
}
