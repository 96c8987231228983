package import SensorGeometry

/// Keeps samples from all around, so that a device that lies still does not outweigh the directions it was turned through.
///
/// Space is cut into cubes, of which each keeps its first few samples. Cubes need no centre, which is not known before the
/// fit; and memory has a limit, however long the device is turned.
package struct SampleThinning: Sendable {
    /// What was kept, in µT, in the order of arrival.
    package private(set) var samples: [Vector3] = []
    /// How many samples were looked at.
    package private(set) var count = 0
    /// How many were no numbers, or far beyond any magnetometer.
    package private(set) var unusableCount = 0

    private var counts: [SIMD3<Int32>: Int] = [:]

    /// The edge of a cube in µT: a twentieth of the Earth's field and more than a sensor's noise.
    private static let edgeMicrotesla = 5.0
    /// The most samples that a cube keeps.
    private static let mostInCube = 4
    /// The most samples that are kept at all; a field of 70 µT has cubes for half of them.
    private static let most = 20_000
    /// No magnetometer of a compass measures more, in µT.
    private static let rangeMicrotesla = 1e5

    package init() {}

    /// Takes a sample, in µT.
    package mutating func add(_ sample: Vector3) {
        count += 1
        guard sample.isFinite, sample.length <= Self.rangeMicrotesla else {
            unusableCount += 1
            return
        }
        guard samples.count < Self.most else { return }
        // The range has made sure that it fits.
        let cube = SIMD3<Int32>((sample / Self.edgeMicrotesla).rounded(.down))
        let already = counts[cube, default: 0]
        guard already < Self.mostInCube else { return }
        counts[cube] = already + 1
        samples.append(sample)
    }
}
