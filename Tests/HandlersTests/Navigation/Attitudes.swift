import Binnacle
import Handlers

/// An event of an attitude: roll 5° to starboard, bow 3° up, unless others are given.
func attitude(
    _ figures: [Figure] = [], frame: EarthFrame = .ned, roll: Double? = 5, pitch: Double = 3, wall: Int64? = nil
) -> Event {
    var all = [Figure(.frame, .word(frame)), Figure(.pitch, .number(pitch, decimals: 2))]
    if let roll { all.append(Figure(.roll, .number(roll, decimals: 2))) }
    var event = event(kind: .attitudeChanged, all + figures)
    event.wallNanoseconds = wall
    return event
}

/// The figures of a true heading of a body.
func trueYaw(_ degrees: Double, declination: Double, accuracy: Double = 3.29) -> [Figure] {
    [
        Figure(.heading, .number(degrees, decimals: 2)), Figure(.reference, .word(HeadingReference.true)),
        Figure(.declination, .number(declination, decimals: 2)), Figure(.yawAccuracy, .number(accuracy, decimals: 1)),
    ]
}

/// The figures of a body that turns about its axes at rates in °/s, in a gravity of 9.81 m/s².
func turning(_ x: Double, _ y: Double, _ z: Double, gravity: SIMD3<Double>) -> [Figure] {
    [
        Figure(.rateX, .number(x, decimals: 2)), Figure(.rateY, .number(y, decimals: 2)),
        Figure(.rateZ, .number(z, decimals: 2)), Figure(.gravityX, .number(gravity.x, decimals: 3)),
        Figure(.gravityY, .number(gravity.y, decimals: 3)), Figure(.gravityZ, .number(gravity.z, decimals: 3)),
    ]
}
