import Glibc
import SensorGeometry

/// Finds how a gyroscope's axes lie in the device, and whether its scale is right, from quarter turns about known axes.
package struct TurnSolver {
    /// A quarter turn that a person can make.
    package enum Turn: Sendable, CaseIterable {
        /// Flat on a table, counter-clockwise as seen from above.
        case counterClockwise
        /// From flat on a table to standing on the bottom edge.
        case ontoBottom
        /// From flat on a table to standing on the left edge.
        case ontoLeft

        /// The device's axis that it turns about, by the right-hand rule: x to the right, y to the top, z out of the screen.
        var axis: Vector3 {
            switch self {
            case .counterClockwise: [0, 0, 1]
            case .ontoBottom: [1, 0, 0]
            case .ontoLeft: [0, -1, 0]
            }
        }
    }

    /// What is wrong with a turn.
    package enum Flaw: Error, Sendable, Equatable {
        /// The gyroscope measured next to nothing.
        case noTurn
        /// The turn was about more than one axis.
        case oblique
    }

    /// What was found.
    package struct Solution: Sendable, Equatable {
        /// From the gyroscope's axes to the device's, with the scale if that is wrong.
        package let matrix: MountMatrix
        /// The factor that is missing in the scale: 1, or one between degrees and radians.
        package let scale: Double
    }

    private static let degreesPerRadian = 180 / Double.pi
    /// From this share of a turn about its strongest axis on it is a turn about one axis.
    private static let purity = 0.75
    /// A quarter turn by hand, in degrees.
    private static let quarters = 45.0...180
    private var turns: [(turn: Turn, degrees: Vector3)] = []

    /// Creates a solver without turns.
    package init() {}

    /// Adds a turn that was asked for, as the sum of the rates times their time, in radians and the gyroscope's own axes.
    package mutating func add(_ turn: Turn, radians: SIMD3<Double>) throws(Flaw) {
        let degrees = Vector3(radians.x, radians.y, radians.z) * Self.degreesPerRadian
        let squares = (0..<3).map { degrees[$0] * degrees[$0] }
        guard Self.scale(of: degrees.length) != nil else { throw .noTurn }
        guard (squares.max() ?? 0) >= Self.purity * squares.reduce(0, +) else { throw .oblique }
        turns.append((turn, degrees))
    }

    /// Solves; `nil` when the turns do not tell the axes apart, or disagree about the scale.
    package func solve() -> Solution? {
        let scales = Set(turns.compactMap { Self.scale(of: $0.degrees.length) })
        guard scales.count == 1, let scale = scales.first,
            let found = MountSolver.matrix(turning: turns.map { ($0.degrees, $0.turn.axis) }),
            let matrix = try? MountMatrix(found.elements.map { $0 * scale })
        else { return nil }
        return Solution(matrix: matrix, scale: scale)
    }

    /// The factor that makes an angle one of a quarter turn; `nil` when none does that is likely.
    private static func scale(of degrees: Double) -> Double? {
        [1, degreesPerRadian, 1 / degreesPerRadian].first { quarters.contains(degrees * $0) }
    }
}
