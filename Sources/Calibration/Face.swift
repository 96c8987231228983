package import SensorGeometry

/// A side of the device that points up.
public enum Face: String, Sendable, CaseIterable {
    case screenUp, screenDown, topUp, topDown, rightUp, rightDown

    /// The direction that points up, in the device's frame.
    package var axis: Vector3 {
        switch self {
        case .screenUp: [0, 0, 1]
        case .screenDown: [0, 0, -1]
        case .topUp: [0, 1, 0]
        case .topDown: [0, -1, 0]
        case .rightUp: [1, 0, 0]
        case .rightDown: [-1, 0, 0]
        }
    }

    /// What a person calls the position.
    package var words: String {
        switch self {
        case .screenUp: "screen up"
        case .screenDown: "screen down"
        case .topUp: "top edge up"
        case .topDown: "top edge down"
        case .rightUp: "right edge up"
        case .rightDown: "left edge up"
        }
    }

    /// The position is meant when the axis is no further from up than this: the cosine of 20°.
    private static let leastCosine = 0.94

    /// The side that points up, from the reading of an uncalibrated accelerometer; `nil` on an edge between two.
    package init?(_ acceleration: Vector3) {
        let length = acceleration.length
        guard length > 0, length.isFinite,
            let face = Face.allCases.first(where: { ($0.axis * acceleration).sum() >= Self.leastCosine * length })
        else { return nil }
        self = face
    }
}
