import Glibc
package import SensorGeometry

/// A region that a person can be told of.
package enum DirectionRegion: String, Sendable, CaseIterable {
    /// Where z is above zero, towards the screen.
    case upperHalf = "the upper half"
    /// Where z is below zero, towards the back.
    case lowerHalf = "the lower half"
    /// Around +x.
    case right = "the right side"
    /// Around −x.
    case left = "the left side"
    /// Around +y.
    case top = "the side of the top edge"
    /// Around −y.
    case bottom = "the side of the bottom edge"

    fileprivate var axis: Vector3 {
        switch self {
        case .upperHalf: [0, 0, 1]
        case .lowerHalf: [0, 0, -1]
        case .right: [1, 0, 0]
        case .left: [-1, 0, 0]
        case .top: [0, 1, 0]
        case .bottom: [0, -1, 0]
        }
    }
}

/// From which directions, in the device's frame, samples have come: a sphere in 96 cells of the same size.
///
/// Each half is a disc of four rings (Lambert's azimuthal equal-area projection), with the device's z axis in the middle, x to
/// the right and y up.
package struct DirectionMap: Sendable, Equatable {
    private var covered: [Bool]
    private let centre: Vector3
    /// The share of the cells of a region that it needs so as not to be missing.
    private let neededShare: Double

    private static let ringCount = 4
    private static let halfCount = 48
    /// A region reaches so far from its axis: the cosine of 60°.
    private static let regionCosine = 0.5
    /// With less than this share of its cells a region is missing, where there are samples for all cells.
    private static let regionShare = 0.35

    /// Sorts samples by their directions from a centre; one at the centre has none.
    package init(_ samples: [Vector3], centre: Vector3) {
        self.centre = centre
        covered = [Bool](repeating: false, count: 2 * Self.halfCount)
        for sample in samples {
            if let cell = Self.cell(of: sample - centre) { covered[cell] = true }
        }
        // Samples that are spread at random leave some cells empty: of 60 samples the 96 cells have half of them covered.
        let expected = 1 - pow(1 - 1 / Double(covered.count), Double(samples.count))
        neededShare = Self.regionShare * expected
    }

    /// The share of all cells that have a sample.
    package var coveredShare: Double {
        Double(covered.count { $0 }) / Double(covered.count)
    }

    /// Whether a sample has come from about that direction.
    package func isCovered(_ direction: Vector3) -> Bool {
        Self.cell(of: direction).map { covered[$0] } ?? false
    }

    /// A digit for each cell, 1 where a sample is: the upper half, then the lower one, each from the inmost ring outwards and from -x
    /// on, counter-clockwise.
    package var digits: String { String(covered.map { $0 ? "1" : "0" }) }

    /// The place of a sample's cell among ``digits``.
    package func place(of sample: Vector3) -> Int? { Self.cell(of: sample - centre) }

    /// The regions from which too few have come.
    package var missing: [DirectionRegion] {
        DirectionRegion.allCases.filter { region in
            let cells = Self.directions.indices.filter {
                (Self.directions[$0] * region.axis).sum() >= Self.regionCosine
            }
            let count = cells.count { covered[$0] }
            return count == 0 || Double(count) < neededShare * Double(cells.count)
        }
    }

    /// The point of a half's disc: the direction whose projection is at x and y, inside a circle of radius 1.
    ///
    /// - Returns: `nil` outside the disc.
    package static func direction(x: Double, y: Double, isUpper: Bool) -> Vector3? {
        let square = x * x + y * y
        guard square <= 1 else { return nil }
        let z = 1 - square
        let scale = square > 0 ? ((1 - z * z) / square).squareRoot() : 0
        return Vector3(x * scale, y * scale, isUpper ? z : -z)
    }

    private static func cell(of vector: Vector3) -> Int? {
        let length = vector.length
        guard length > 0, length.isFinite else { return nil }
        let unit = vector / length
        let radius = max(0, 1 - unit.z.magnitude).squareRoot()
        let ring = min(ringCount - 1, Int(radius * Double(ringCount)))
        let turn = atan2(unit.y, unit.x) / (2 * .pi) + 0.5
        let sector = min(sectorCount(ring) - 1, Int(turn * Double(sectorCount(ring))))
        // Rings of 3, 9, 15 and 21 cells: 3·ring² lie inside.
        return (unit.z < 0 ? halfCount : 0) + 3 * ring * ring + sector
    }

    private static func sectorCount(_ ring: Int) -> Int { 3 * (2 * ring + 1) }

    /// The middle of each cell.
    private static let directions: [Vector3] = [true, false].flatMap { isUpper in
        (0..<ringCount).flatMap { ring in
            (0..<sectorCount(ring)).map { sector in
                let radius = (Double(ring) + 0.5) / Double(ringCount)
                let angle = ((Double(sector) + 0.5) / Double(sectorCount(ring)) - 0.5) * 2 * .pi
                return direction(x: radius * cos(angle), y: radius * sin(angle), isUpper: isUpper) ?? .zero
            }
        }
    }
}
