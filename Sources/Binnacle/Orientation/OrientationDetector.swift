import Glibc
import Kernels

/// Finds which edge of the screen points up, and how far it leans, in the samples of one accelerometer.
///
/// A value
/// changes after it has lasted the dwell time, the first one at once. While the total acceleration is not near 1 g, in
/// free fall and while it is shaken, the last values hold.
package final class OrientationDetector: DetectorCore<OrientationSettings>, AccelerometerDetector {
    package static let kind = "orientation"
    /// What knows the posture that ``OrientationSettings/postures`` is about, and processes each delivery before this detector.
    package var hinge: HingeDetector?
    /// Which edge points up, as the delegate was told.
    package var orientation: ScreenOrientation { edge.value }
    /// How far the screen leans, as the delegate was told.
    package var tilt: ScreenTilt { lean.value }

    /// The length that gravity has in the samples, in g: 1, unless the scale of the device is wrong.
    package var gravityG: Float { gravity.lengthG }

    private let edges: ScreenLimits
    private let signs: SIMD3<Float>
    private var gravity: GravityLength
    private let gapLimitNanoseconds: Int64
    private var edge: Dwell<ScreenOrientation>
    private var lean: Dwell<ScreenTilt>
    private var lastTimeNanoseconds: Int64?

    package init(name: String, accelerometer: SampleStream?, settings: OrientationSettings) {
        edges = ScreenLimits(hysteresisDegrees: settings.hysteresisDegrees)
        signs = settings.signs
        gravity = GravityLength(gateG: settings.gateG, isLearned: settings.learnsLength)
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        let dwell = Units.nanoseconds(settings.dwell)
        edge = Dwell(.undefined, delayNanoseconds: dwell)
        lean = Dwell(.undefined, delayNanoseconds: dwell)
        super.init(name: name, streams: [accelerometer], settings: settings)
    }

    package func reset() {
        edge.accept(.undefined)
        lean.accept(.undefined)
        lastTimeNanoseconds = nil
        // What a device shows at rest outlives a stop; a vector that was about to become it does not.
        gravity.interrupt()
    }

    /// Looks at the accelerometer's batch and tells the delegate what it means.
    package func process(_ delivery: SampleDelivery) {
        guard let stream = begin(delivery) else { return }
        let columns = delivery.batches[stream].columns
        let delegate = self.delegate
        let rows = self.rows.flatMap { $0.isKept ? $0 : nil }
        for index in 0..<columns.count {
            let time = columns.times[index]
            if let last = lastTimeNanoseconds, isGap(from: last, to: time, limit: gapLimitNanoseconds) {
                interrupt()
                gravity.interrupt()
            }
            lastTimeNanoseconds = time
            let force = columns.vector(index)
            let squared = (force * force).sum()
            guard gravity.accepts(force, squared: squared, at: time) || gravity.showsDirection(at: time) else {
                interrupt()
                rows?.append(time, row(of: nil))
                continue
            }
            let up = force * signs / squared.squareRoot()
            position = columns.position(of: index, at: stream)
            // Of the edge that the sample is compared with, which it may change.
            let seen = rows == nil ? nil : angles(up: up)
            process(at: up, columns.sample(index), delegate)
            rows?.append(time, row(of: seen))
        }
    }

    private func row(of angles: SIMD2<Float>?) -> SIMD4<Float> {
        SIMD4(angles?.x ?? .nan, angles?.y ?? .nan, bit(of: orientation), bit(of: tilt))
    }

    /// How far the screen is turned away from its present edge, and how far it leans back or forward, in degrees.
    private func angles(up: SIMD3<Float>) -> SIMD2<Float> {
        let alongEdge: Float =
            switch edge.value {
            case .undefined: max(abs(up.x), abs(up.y))
            case .normal: up.y
            case .bottomUp: -up.y
            case .leftUp: -up.x
            case .rightUp: up.x
            }
        let inPlane = (up.x * up.x + up.y * up.y).squareRoot()
        let degrees = 180 / Float.pi
        return SIMD2(
            inPlane > 0 ? acos(min(1, max(-1, alongEdge / inPlane))) * degrees : 0,
            asin(min(1, abs(up.z))) * degrees)
    }

    /// Forgets changes under way; the last values hold.
    package func interrupt() {
        edge.interrupt()
        lean.interrupt()
    }

    /// Whether a value that was found counts: the first one at once.
    ///
    /// Every direction of up has a tilt. A screen that lies flat has no orientation, so that none is not the same as none yet.
    private func isDue<Value>(_ value: inout Dwell<Value>, _ found: Value, isFirst: Bool, _ time: Int64) -> Bool {
        value.isDue(found, at: time) || (isFirst && found != value.value)
    }

    /// The orientation that counts at the sample under way: in another posture than those in which it changes, that of a screen as it was
    /// built to stand; `nil` where the last one holds, because no posture is known.
    private func counted(_ orientation: ScreenOrientation) -> ScreenOrientation? {
        guard let postures = settings.postures else { return orientation }
        guard let posture = hinge?.posture(at: position) else {
            return edge.value == .undefined && orientation == .normal ? orientation : nil
        }
        return postures.contains(posture) ? orientation : .normal
    }

    private func process(at up: SIMD3<Float>, _ sample: Sample, _ delegate: (any DetectorDelegate)?) {
        let isFirst = lean.value == .undefined
        if let orientation = counted(edges.orientation(up, after: edge.value)) {
            if isDue(&edge, orientation, isFirst: isFirst, sample.timeNanoseconds) {
                edge.accept(orientation)
                delegate?.collect(
                    .orientationChanged, self, found(.orientationChanged, .orientation, orientation, sample))
            }
        } else {
            edge.interrupt()
        }
        let tilt = edges.tilt(up.z, after: lean.value)
        guard isDue(&lean, tilt, isFirst: isFirst, sample.timeNanoseconds) else { return }
        lean.accept(tilt)
        delegate?.collect(.tiltChanged, self, found(.tiltChanged, .tilt, tilt, sample))
    }

    private func found(_ kind: EventKind, _ name: Figure.Name, _ word: any FigureWord, _ sample: Sample) -> Finding {
        Finding(
            kind, at: sample.timeNanoseconds, [name: .word(word)],
            numbers: [.x: Double(sample.x), .y: Double(sample.y), .z: Double(sample.z)])
    }
}

extension OrientationDetector {
    package var state: String? { orientation == .undefined ? nil : orientation.rawValue }
    package var figures: [Figure] { [Figure(.tilt, .word(tilt))] }

    private static let (turn, lean) = ("turn_deg", "lean_deg")

    package var sampledValues: [SampledValue] {
        [
            SampledValue(name: Self.turn, place: .row(0)), SampledValue(name: Self.lean, place: .row(1)),
            SampledValue(name: Lane.States.state, place: .row(2), form: .bits),
            SampledValue(name: Figure.Name.tilt.rawValue, place: .row(3), form: .bits),
        ]
    }

    package var lanes: [Lane] {
        [
            Lane(
                "screen of \(name): its turn from the present edge, and its lean", "°",
                ["turn": Self.turn, "lean": Self.lean],
                states: [
                    Lane.States(
                        name: Lane.States.state, prefix: "orientation: ",
                        words: ScreenOrientation.allCases.map(\.rawValue)),
                    Lane.States(
                        name: Figure.Name.tilt.rawValue, prefix: "tilt: ", words: ScreenTilt.allCases.map(\.rawValue)),
                ])
        ]
    }

    /// How far the screen turns until another edge counts, and how far it leans until another tilt does.
    ///
    /// The values have no sign: the limits are the same to both sides.
    package var limits: [LiveValues.Limit] {
        let half = Float(settings.hysteresisDegrees / 2)
        func limit(_ name: String, of value: String, _ degrees: Float) -> LiveValues.Limit {
            LiveValues.Limit(name, of: value, begin: degrees + half, end: degrees - half, isAlwaysShown: true)
        }
        return [
            limit("next edge", of: Self.turn, 45), limit("tilted", of: Self.lean, 20.5),
            limit("facing up or down", of: Self.lean, 69.5),
        ]
    }

    package var assumptions: [Assumption] {
        guard gravityG != 1 else { return [] }
        let length = Figure.Value.number(Double(gravityG), decimals: 2)
        return streams.map(\.sensor.name).map { sensor in
            Assumption(
                subject: sensor,
                text: "sensor '\(sensor)': it measures \(length) g at rest, so its scale is wrong; the orientation "
                    + "needs its direction alone, and 'binnacle calibrate' corrects it")
        }
    }
}

extension OrientationSettings {
    /// What turns a sample into the direction of up.
    fileprivate var signs: SIMD3<Float> {
        switch frame {
        case .device: SIMD3(1, 1, 1)
        case .desktop: isReversed ? SIMD3(1, 1, -1) : SIMD3(-1, -1, 1)
        }
    }
}
