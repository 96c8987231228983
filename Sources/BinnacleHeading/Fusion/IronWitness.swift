import Glibc
import SensorGeometry

/// Learns the iron from the strength of the field alone, of which the gyroscope knows nothing.
///
/// To the first order a gyroscope that turns s times too fast about the vertical is iron of h·(s − 1)/s, where h is the level field: one
/// that is reversed shows iron of 2·h, and the opposite of h, as strong and as steep. Only the strength of the field in other directions
/// tells them apart.
struct IronWitness {
    /// Whether the iron that turns have shown is another one, for some seconds of turning.
    var isContradicted: Bool { contradictedSeconds >= Self.leastContradiction }
    /// Whether the field has one strength, which may be the Earth's: what turns do not explain then is no field of a room.
    private(set) var isFieldSphere = false

    private var sphere = Self.sphere
    private var spheresBefore = 0
    private var turnedSeconds = 0.0
    private var contradictedSeconds = 0.0
    private var secondsSinceJump = Self.leastJumpDistance

    // A step is 8° of a turn, and the noise is what a room changes the strength by.
    private static var sphere: IronSphere { IronSphere(ironSigma: 35, step: 6, fieldNoise: 2.5) }
    /// In µT: walls alone, past which a device is carried without a turn, give smaller spheres.
    private static let strengths = 25.0...70.0
    private static let largestMisfit = 0.15
    /// One in 1,000 squares of three components is larger (chi-square).
    private static let largestSquare = 16.27
    /// In rad/s: slower, the room changes the field as much as the turn does.
    private static let turning = 0.3
    /// The seconds of turning from which on a sphere is one, those for which it contradicts, and how long it is remembered.
    private static let (leastTurning, leastContradiction, longestContradiction) = (8.0, 6.0, 10.0)
    /// A magnet comes once; what a wrong gyroscope takes for one comes again and again.
    private static let leastJumpDistance = 30.0

    /// The probability that there is no iron where turns have shown some: by Bayes' rule from the strength of the field alone, to which
    /// both are as probable before.
    func doubt(of iron: Vector3, variance: Double) -> Double {
        let (none, some) = (sphere.square(of: .zero, variance: 0), sphere.square(of: iron, variance: variance))
        return 1 / (1 + exp(min(max((none - some) / 2, -50), 50)))
    }

    /// Takes what a step of the model has learned.
    ///
    /// - Parameters:
    ///   - model: It.
    ///   - time: The stamp of the last field.
    mutating func update(_ model: FieldModel, at time: Int64) {
        let seconds = model.turnSeconds
        secondsSinceJump += seconds
        if !model.isFieldKnown, secondsSinceJump > Self.leastJumpDistance {
            (sphere, spheresBefore, turnedSeconds, secondsSinceJump) = (Self.sphere, 0, 0, 0)
        }
        if model.mean.speed > Self.turning {
            sphere.update(model.mean.measured, up: nil, tilt: 0, at: time)
            turnedSeconds = sphere.restarts == spheresBefore ? turnedSeconds + seconds : 0
            spheresBefore = sphere.restarts
        }
        isFieldSphere =
            turnedSeconds >= Self.leastTurning && sphere.misfit < Self.largestMisfit
            && Self.strengths.contains(sphere.fittedStrength)
        let isOther =
            isFieldSphere && sphere.square(of: model.iron, variance: model.ironVariance) > Self.largestSquare
        contradictedSeconds = min(
            max(contradictedSeconds + (isOther ? seconds : -seconds), 0), Self.longestContradiction)
    }
}
