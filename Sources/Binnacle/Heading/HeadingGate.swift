import Glibc
import Kernels
import SensorGeometry

/// Closes while a moving device cannot tell what is up: on acceleration other than gravity's, and on a dip that differs
/// from the one at rest.
///
/// The dip at rest is a running mean over the samples that pass the first gate, with ``restSeconds`` as its time
/// constant. Somewhere with another dip the gate therefore opens again by itself after some seconds.
struct HeadingGate {
    private let accelerationLimit: Double?
    private let dipLimitSine: Double?
    /// Level and downward share of the field at rest, of no particular length.
    private var rest = SIMD2<Double>.zero
    private var weight = RunningWeight(timeConstantSeconds: restSeconds)
    private var lastTimeNanoseconds: Int64?
    /// The sine of the angle between the dip of the last sample and the one at rest; 0 while nobody asks for it.
    private(set) var dipDepartureSine = 0.0

    private static let restSeconds = 5.0

    init(settings: NorthSettings) {
        accelerationLimit = settings.accelerationGateG.map { $0 * Double(Units.standardGravity) }
        dipLimitSine = settings.dipGateDegrees.map { sin($0 * .pi / 180) }
    }

    /// How far the acceleration's length is from gravity's, as a share of it.
    static func accelerationShare(_ attitude: Attitude) -> Double {
        abs(attitude.acceleration / Double(Units.standardGravity) - 1)
    }

    /// Takes a sample; returns why the gate is closed, if it is.
    mutating func take(_ attitude: Attitude, at timeNanoseconds: Int64) -> HeadingFault? {
        var seconds = lastTimeNanoseconds.map { Units.seconds(from: $0, to: timeNanoseconds) } ?? 0
        if !(0...Self.restSeconds).contains(seconds) {
            // Who knows where it has been.
            rest = .zero
            weight.reset()
            seconds = 0
        }
        lastTimeNanoseconds = timeNanoseconds
        if let accelerationLimit,
            abs(attitude.acceleration - Double(Units.standardGravity)) > accelerationLimit
        {
            return .accelerating
        }
        guard let dipLimitSine else { return nil }
        learn(attitude, seconds)
        let length = (rest.x * rest.x + rest.y * rest.y).squareRoot() * attitude.field
        dipDepartureSine = abs(rest.x * attitude.verticalField - rest.y * attitude.horizontalField) / length
        let isAhead = rest.x * attitude.horizontalField + rest.y * attitude.verticalField >= 0
        return dipDepartureSine <= dipLimitSine && isAhead ? nil : .dipDeparted
    }

    private mutating func learn(_ attitude: Attitude, _ seconds: Double) {
        let now = SIMD2(attitude.horizontalField, attitude.verticalField) / attitude.field
        if rest == .zero { rest = now }
        rest += (now - rest) * weight.take(seconds)
    }
}
