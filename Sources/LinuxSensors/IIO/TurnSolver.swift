import Glibc
import SensorGeometry

/// Finds the orientation of a gyroscope's axes in the device, and errors of its scale, from quarter turns about known axes.
package struct TurnSolver {
    /// A quarter turn that the user makes.
    package enum Turn: Sendable, CaseIterable {
        /// Flat on a table, counter-clockwise as seen from above.
        case counterClockwise
        /// From flat on a table to standing on the bottom edge.
        case ontoBottom
        /// From flat on a table to standing on the left edge.
        case ontoLeft

        /// The device's axis of rotation, by the right-hand rule: x to the right, y to the top, z out of the screen.
        var axis: Vector3 {
            switch self {
            case .counterClockwise: [0, 0, 1]
            case .ontoBottom: [1, 0, 0]
            case .ontoLeft: [0, -1, 0]
            }
        }
    }

    package enum Flaw: Error, Sendable, Equatable {
        /// The gyroscope measured almost no rotation.
        case noTurn
        /// The turn was about more than one axis.
        case oblique
    }

    package struct Solution: Sendable, Equatable {
        /// The rotation from the gyroscope's axes to the device's, with the scale if that is wrong.
        package let matrix: MountMatrix
        /// The factor missing in the scale: 1, or the one between degrees and radians.
        package let scale: Double
    }

    private static let degreesPerRadian = 180 / Double.pi
    /// The minimum share of the strongest axis in a turn about one axis.
    private static let purity = 0.75
    /// The range of a quarter turn by hand, in degrees.
    private static let quarters = 45.0...180
    private var turns: [(turn: Turn, degrees: Vector3)] = []

    package init() {}

    /// Adds a requested turn as the integral of the rates, in radians and the gyroscope's own axes.
    package mutating func add(_ turn: Turn, radians: SIMD3<Double>) throws(Flaw) {
        let degrees = Vector3(radians.x, radians.y, radians.z) * Self.degreesPerRadian
        let squares = (0..<3).map { degrees[$0] * degrees[$0] }
        guard Self.scale(of: degrees.length) != nil else { throw .noTurn }
        guard (squares.max() ?? 0) >= Self.purity * squares.reduce(0, +) else { throw .oblique }
        turns.append((turn, degrees))
    }

    /// Solves; `nil` when the turns do not determine the axes, or their scales disagree.
    package func solve() -> Solution? {
        let scales = Set(turns.compactMap { Self.scale(of: $0.degrees.length) })
        guard scales.count == 1, let scale = scales.first,
            let found = MountSolver.matrix(turning: turns.map { ($0.degrees, $0.turn.axis) }),
            let matrix = try? MountMatrix(found.elements.map { $0 * scale })
        else { return nil }
        return Solution(matrix: matrix, scale: scale)
    }

    /// The factor that turns an angle into a quarter turn; `nil` when no likely factor does.
    private static func scale(of degrees: Double) -> Double? {
        [1, degreesPerRadian, 1 / degreesPerRadian].first { quarters.contains(degrees * $0) }
    }
}
