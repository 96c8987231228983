import Glibc
import Kernels
import SensorGeometry

/// What a detector of vibration measures, and when it takes a machine for vibrating.
public struct VibrationSettings: CheckedSettings {
    /// The axes that are measured.
    public enum Axes: String, Sendable, CaseIterable {
        /// The vector of all three: the root of the sum of their mean squares.
        case all
        /// One axis.
        case x, y, z
    }

    /// A range of frequencies.
    public struct Band: Sendable, Equatable {
        package var name: String
        /// Where it begins, in Hz, at least 2.
        package var fromHz: Double
        /// Where it ends, in Hz.
        package var toHz: Double
        /// The limits between its zones, ascending, in the unit of ``isVelocity``; none where it is only measured.
        package var limits: [Double]
        /// Whether limits are velocities in mm/s; otherwise they are accelerations in g.
        package var isVelocity: Bool

        /// Creates a band.
        public init(_ name: String, fromHz: Double, toHz: Double, limits: [Double] = [], isVelocity: Bool = true) {
            self.name = name
            self.fromHz = fromHz
            self.toHz = toHz
            self.limits = limits
            self.isVelocity = isVelocity
        }

        var unit: String { isVelocity ? "mm/s" : "g" }
        /// The name of its value, which ends with the unit.
        var measure: String { name + (isVelocity ? "_mm_s" : "_g") }
    }

    /// The bands, one to four; one from 10 to 1000 Hz by default.
    public var bands = [Band("machine", fromHz: 10, toHz: 1000)]
    /// The axes that are measured; the vector of all by default.
    public var axes = Axes.all
    /// How far below a limit its zone is left, in percent of the limit; 20 by default.
    public var hysteresisPercent = 20.0
    /// How long a change of the zone has to last; 3 s by default.
    public var dwell: Duration = .seconds(3)
    /// The density of the chip's noise on one axis, in µg/√Hz; `nil` when it is not known.
    public var noiseMicroG: Double?
    /// The bandwidth of the chip's filter, in Hz; `nil` when the sampling rate alone limits the bands.
    public var chipBandwidthHz: Double?
    /// Above this acceleration in the first band a machine is running, in g; `nil` finds no states of a machine.
    public var runningG: Double?
    /// Above this acceleration in the first band a machine is spinning, in g; `nil` finds no spinning.
    public var spinningG: Double?
    /// How long a machine has to run or to spin until that counts; 10 s by default.
    public var machineDwell: Duration = .seconds(10)
    /// How long a machine has to be idle until it has finished; 180 s by default.
    public var idle: Duration = .seconds(180)
    /// How many days of measured seconds are learned as normal, for bands without limits; `nil` learns nothing.
    package var learnDays: Double?
    /// How many robust standard deviations above the learned median a band is unusual; 5 by default.
    package var learnedSpreads = 5.0

    /// The most bands: as many as there are values in a row of what is measured.
    package static let mostBands = 4
    /// The lowest frequency of a band, in Hz: below it, the window of one second spreads what is left of gravity.
    package static let lowestHz = 2.0
    /// The part of the sampling rate up to which frequencies are measured: the usual distance to half of it, which leaves
    /// a chip's filter room to fall.
    package static let rateFactor = 2.56
    /// The fewest samples of a second that are measured.
    package static let leastSamples = BandSpectrum.leastSamples

    /// The defaults.
    public init() {}

    package func findProblems(_ list: inout ProblemList<VibrationSettings>) {
        list.require(
            \.bands, (1...Self.mostBands).contains(bands.count), "has \(bands.count) bands, and may have 1 to 4")
        list.require(\.bands, Set(bands.map(\.name)).count == bands.count, "has two bands of one name")
        for band in bands { check(band, &list) }
        list.require(
            \.hysteresisPercent, (0..<100).contains(hysteresisPercent),
            "(\(hysteresisPercent)) is not between 0 and 100")
        list.requireNotNegative(\.dwell, dwell)
        list.requirePositive(\.noiseMicroG, noiseMicroG)
        list.requirePositive(\.chipBandwidthHz, chipBandwidthHz)
        list.requirePositive(\.runningG, runningG)
        if let spinningG {
            list.require(\.spinningG, runningG != nil, "needs \(\Self.runningG)", others: [\.runningG])
            list.require(
                \.spinningG, runningG.map { spinningG > $0 } ?? true,
                "(\(spinningG)) has to be above \(\Self.runningG)", others: [\.runningG])
        }
        list.requireNotNegative(\.machineDwell, machineDwell)
        list.requireNotNegative(\.idle, idle)
        list.requirePositive(\.learnDays, learnDays)
        if let learnDays {
            list.require(
                \.learnDays, learnDays * 86_400 > VibrationLearning.fewest,
                "(\(learnDays)) is a minute or less, after which nothing is known to be unusual")
        }
        list.requirePositive(\.learnedSpreads, learnedSpreads)
        if learnDays != nil, !bands.isEmpty {
            list.require(
                \.learnDays, bands.contains { $0.limits.isEmpty },
                "has no effect: each of \(\Self.bands) has limits of its own", others: [\.bands])
        }
    }

    /// What the chip's noise alone gives in a band, in the unit of its limits; `nil` when the noise or the range is not known.
    ///
    /// The noise n is white on each axis. Over a axes its acceleration is n √a √(f₂ − f₁), and its velocity, the integral
    /// of n²/(2πf)², is n √a √(1/f₁ − 1/f₂) / 2π.
    package func noiseFloor(of band: Band, microG: Double?) -> Double? {
        guard let microG, band.toHz > band.fromHz else { return nil }
        let noise = microG * 1e-6 * (axes == .all ? 3 : 1).squareRoot()
        guard band.isVelocity else { return noise * (band.toHz - band.fromHz).squareRoot() }
        return 1000 * Gravity.standard * noise * (1 / band.fromHz - 1 / band.toHz).squareRoot() / (2 * .pi)
    }

    /// The lowest limits of a band as far as it is measured: its own, and of the first that of a running machine.
    package func lowestLimits(of index: Int, as band: Band) -> [(key: String, limit: Double, band: Band)] {
        let own = band.limits.prefix(1).map { ("bands", $0, band) }
        guard index == 0, let runningG else { return own }
        return own
            + [("running_g", runningG, Band(band.name, fromHz: band.fromHz, toHz: band.toHz, isVelocity: false))]
    }

    private func check(_ band: Band, _ list: inout ProblemList<VibrationSettings>) {
        let isNamed =
            (1...32).contains(band.name.utf8.count)
            && band.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        list.require(
            \.bands, isNamed, "has the name '\(band.name)', which may have 1 to 32 letters, digits and underscores")
        list.require(
            \.bands, band.fromHz >= Self.lowestHz && band.toHz >= band.fromHz + 1 && band.toHz <= 20_000,
            "has a band from \(band.fromHz) to \(band.toHz) Hz, which has to lie between \(Self.lowestHz) and 20000 Hz and to be "
                + "1 Hz wide or more")
        let isAscending = zip(band.limits, band.limits.dropFirst()).allSatisfy { $0 < $1 }
        list.require(
            \.bands, isAscending && band.limits.allSatisfy { $0 > 0 && $0.isFinite } && band.limits.count <= 8,
            "has the limits \(band.limits) in '\(band.name)', which have to be up to 8 ascending numbers above 0")
    }
}
