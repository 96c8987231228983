/// Why samples give no calibration of an accelerometer that anybody should use.
package enum AccelerometerRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// Positions that were not held still; some of them the device was in, and moved.
    case missing([Face], moving: [Face])
    /// The positions do not fit together, in m/s².
    case fit(Double)

    /// A word for programs.
    package var name: String {
        switch self {
        case .missing(_, let moving): moving.isEmpty ? "positions" : "moving"
        case .fit: "fit"
        }
    }

    /// What is wrong, and what to do about it.
    package var description: String {
        switch self {
        case .missing(let faces, let moving):
            "not held still for a second: \(faces.map(\.words).joined(separator: ", "))"
                + (moving.isEmpty ? "" : "; it moved with \(moving.map(\.words).joined(separator: ", "))")
        case .fit(let error):
            error.isFinite
                ? "the positions do not fit together: they are off by \((error * 100).rounded() / 100) m/s², at most "
                    + "\(AccelerometerFit.greatestError) m/s² is good enough; lay the device flat against something "
                    + "level and upright"
                : "no scale and offset make 1 g of what was read in the positions"
        }
    }
}
