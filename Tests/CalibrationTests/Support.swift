import Calibration
import Foundation
import SensorGeometry
import TestSupport
import Testing

/// A fixture's rows of numbers, without its header.
func table(_ name: String) throws -> [[Double]] {
    let text = try String(contentsOfFile: "\(Binary.fixtures)/\(name)", encoding: .utf8)
    return text.split(separator: "\n").dropFirst().map { line in
        line.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
    }
}

/// A cloud of the oracles.
func cloud(_ name: String) throws -> [Vector3] {
    try table("calibration/\(name)").map { Vector3($0[0], $0[1], $0[2]) }
}

/// Vectors as a magnetometer would measure them that is turned about the vertical and wobbles.
///
/// The field is 50 µT with a dip of 65°; hard iron and noise (0.5 µT) are those of the oracles.
func spin(wobbleDegrees: Double, count: Int = 300) -> [Vector3] {
    var generator = SeededGenerator(seed: 7)
    let dip = 65 * Double.pi / 180
    return (0..<count).map { index in
        let turn = 2 * Double.pi * Double(index) / Double(count)
        let pitch = wobbleDegrees * .pi / 180 * sin(3 * turn)
        let roll = wobbleDegrees * .pi / 180 * cos(2 * turn)
        var v = Vector3(50 * cos(dip) * sin(turn), 50 * cos(dip) * cos(turn), -50 * sin(dip))
        v = Vector3(v.x, v.y * cos(pitch) + v.z * sin(pitch), v.z * cos(pitch) - v.y * sin(pitch))
        v = Vector3(v.x * cos(roll) - v.z * sin(roll), v.y, v.z * cos(roll) + v.x * sin(roll))
        let noise = Vector3(
            Double.random(in: -0.87...0.87, using: &generator), Double.random(in: -0.87...0.87, using: &generator),
            Double.random(in: -0.87...0.87, using: &generator))
        return v + Vector3(32, -18, 57) + noise
    }
}

func length(_ v: Vector3) -> Double { (v * v).sum().squareRoot() }
