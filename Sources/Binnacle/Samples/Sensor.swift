import Synchronization

/// One physical device as the user names it; active or not, and the delegating object for what happens to it.
///
/// A device may carry an accelerometer, a magnetometer, a gyroscope, or several of them. It starts active. When its source fails, the
/// pipeline deactivates it and its delegate is told, with the reason.
public final class Sensor {
    /// The name from the configuration or, without one, from the trace.
    public let name: String
    /// Whether no device measures its samples, but a model makes them up; every event says so.
    package let isSimulated: Bool
    /// Whether samples can be expected from this sensor.
    package var isActive: Bool { hasSamples }
    private var hasSamples = true
    /// Whether a machine without such a device is as it should be, because only default detectors would use it.
    package var mayBeMissing = false
    /// Whether it is inactive because no such device has been there yet, which is no failure.
    package private(set) var isAbsent = false
    /// Why the sensor is not active; `nil` while it is and while it is absent.
    package private(set) var failure: String?
    /// Whether its samples are off because nothing moves, until its chip reports movement.
    package private(set) var isSleeping = false
    /// The stamp of the last sample seen, in nanoseconds; `nil` before the first.
    package var lastTimeNanoseconds: Int64? { latestNanoseconds }
    private var latestNanoseconds: Int64?
    /// Whether this process may use the device; set by its source.
    public package(set) var authorizationStatus = AuthorizationStatus.notDetermined
    /// What makes its samples true, applied by the pipeline before anybody looks at them; `nil` leaves them as they are.
    package var calibration: SensorCalibration? {
        didSet { isCalibrated = calibration != nil }
    }
    /// Whether there is a ``calibration``, which is large to look at for each delivery.
    private(set) var isCalibrated: Bool
    /// The density of the noise that was measured at rest, in the samples' unit by √Hz; 0 where none was.
    package func noise(of kind: SampleKind) -> Double { calibration?.noise[kind] ?? 0 }
    /// The largest rate in rad/s that the gyroscope can measure on an axis; `nil` when that is not known.
    ///
    /// Set by the source before the first sample of an opened device, which may be another one than before.
    package var gyroscopeRange: Float?
    /// Whether the gyroscope gives a sample only when its rate has changed; set as ``gyroscopeRange`` is.
    package var gyroscopeReportsOnChange = false
    /// The gyroscope of the device that was opened for it; `nil` for what is no device.
    ///
    /// Set as ``gyroscopeRange`` is.
    package var gyroscopeDevice: MountedSensor?
    /// The magnetometer; the same holds for it.
    package var magnetometerDevice: MountedSensor?
    /// What the device itself finds at present; set as ``gyroscopeRange`` is.
    package var chipReports: Set<ChipReport> = []
    /// Recalls what was learned of a gyroscope or a magnetometer before, of its samples without a calibration, as it is worth now.
    package var recallLearned: ((_ kind: SampleKind, _ sensor: MountedSensor) -> FusionMemory?)?
    /// Told what happens to the sensor.
    ///
    /// One object may be the delegate of many sensors; it is held weakly, so its creator has to keep it.
    package weak var delegate: (any SensorDelegate)?

    /// A number that no other sensor of this process has.
    private let number = Sensor.count.add(1, ordering: .relaxed).newValue
    private static let count = Atomic<UInt64>(0)

    /// Creates an active sensor.
    public init(name: String, isSimulated: Bool = false, calibration: SensorCalibration? = nil) {
        self.name = name
        self.isSimulated = isSimulated
        self.calibration = calibration
        isCalibrated = calibration != nil
    }

    /// What the stream of a kind is known by.
    func streamID(of kind: SampleKind) -> StreamID { StreamID(sensor: number, kind: kind) }

    /// Turns sensors off that one failure took, and only then tells their delegates, so that each is told the same.
    package static func deactivate(_ sensors: [Sensor], because reason: any Error) {
        let lost = sensors.filter(\.isActive)
        for sensor in lost {
            sensor.hasSamples = false
            sensor.isSleeping = false
            sensor.failure = "\(reason)"
        }
        for sensor in lost { sensor.delegate?.sensor(sensor, didDeactivateBecause: reason) }
    }

    /// Whether a failure only says that the machine lacks a device which may be missing.
    func isAbsence(_ reason: any Error) -> Bool {
        mayBeMissing && lastTimeNanoseconds == nil && (reason as? any DeviceFailure)?.isMissingDevice == true
    }

    /// Turns the sensor off without telling the delegate: nothing has failed.
    func becomeAbsent() {
        hasSamples = false
        isAbsent = true
    }

    /// Turns the sensor on again, after a re-plug for instance; on an active sensor it does nothing.
    package func activate() {
        guard !isActive else { return }
        hasSamples = true
        isAbsent = false
        failure = nil
        delegate?.sensorDidActivate(self)
    }

    /// Takes over what its source says of a rest.
    func rest(_ phase: SampleRest.Phase) { isSleeping = phase == .began }

    func didDeliver(upTo timeNanoseconds: Int64) {
        latestNanoseconds = max(latestNanoseconds ?? timeNanoseconds, timeNanoseconds)
    }
}

/// Why a source cannot deliver a sensor's samples.
package protocol DeviceFailure: Error {
    /// Whether the machine has no such device.
    var isMissingDevice: Bool { get }
}

/// A time in which a stream should have had samples and had none.
package struct SampleGap: Sendable, Equatable {
    /// What the interrupted stream measures.
    package let kind: SampleKind
    /// The last stamp before the gap, in nanoseconds.
    package let startNanoseconds: Int64
    /// The first stamp after the gap, in nanoseconds.
    package let endNanoseconds: Int64

    /// The gap's length in seconds.
    package var durationSeconds: Double { Units.seconds(from: startNanoseconds, to: endNanoseconds) }
}

extension SampleGap: FigureSource {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .channel: .word(kind)
        case .gap: figure.number(durationSeconds)
        default: nil
        }
    }
}

/// What a ``Sensor`` tells its delegate; every method has an empty default.
///
/// All methods are called on the thread that offers the samples.
package protocol SensorDelegate: AnyObject {
    /// Tells the delegate that the sensor's source failed; called once per failure, after the sensor turned inactive.
    func sensor(_ sensor: Sensor, didDeactivateBecause reason: any Error)
    /// Tells the delegate that the sensor delivers again.
    func sensorDidActivate(_ sensor: Sensor)
    /// Tells the delegate that a stream of the sensor was interrupted; called when the gap is over, with the place of the first
    /// sample after it in the delivery.
    func sensor(_ sensor: Sensor, didResumeAfter gap: SampleGap, at position: SamplePosition)
    /// Tells the delegate that samples were lost; called once a loss, before the samples that follow it are looked at, with the
    /// place of the first of them; `nil` when none has come yet.
    func sensor(_ sensor: Sensor, didLose loss: SampleLoss, of kind: SampleKind, at position: SamplePosition?)
}

// A method that a conforming type leaves out does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension SensorDelegate {
    package func sensor(_ sensor: Sensor, didDeactivateBecause reason: any Error) {}
    package func sensorDidActivate(_ sensor: Sensor) {}
    package func sensor(_ sensor: Sensor, didResumeAfter gap: SampleGap, at position: SamplePosition) {}
    package func sensor(_ sensor: Sensor, didLose loss: SampleLoss, of kind: SampleKind, at position: SamplePosition?) {
    }
}
