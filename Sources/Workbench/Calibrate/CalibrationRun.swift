package import Binnacle
package import Calibration
import LinuxSensors
package import LinuxSystem
import PlainText
package import Station
import Traces

/// Collects samples until there are enough for a calibration, and computes it.
///
/// Cancelling a live collection calibrates with the samples so far; cancelling the reading of traces does not.
package final class CalibrationRun {
    package enum Outcome {
        case done(CalibrationResult)
        case refused(CalibrationRefusal)
        case failed(StationError)
        case cancelled
    }

    private let options: CalibrateOptions
    package let input: CalibrationInput
    private let task: any CalibrationTask
    private let interruption: Interruption
    private let errors: LineWriter
    private let view: (any GuidanceView)?
    private var reviewedNanoseconds = Int64.min

    /// Maximum number of samples in a delivery.
    private static let capacity = 1024
    /// Interval between reviews of the collected samples.
    private static let reviewNanoseconds: Int64 = 250_000_000

    /// Opens the sensor or the traces; messages about the sensor go to `errors`.
    package init(
        _ options: CalibrateOptions, errors: LineWriter, view: (any GuidanceView)?, interruption: Interruption
    ) throws(StationError) {
        self.options = options
        self.errors = errors
        self.view = view
        self.interruption = interruption
        input = try CalibrationInput(options, interruption: interruption)
        task =
            options.measuresNoise
            ? NoiseTask(options.kind, for: options.duration) : options.kind.calibrationTask(options.judge)
    }

    /// The descriptor to which a signal handler writes to end a wait.
    package var wakeDescriptor: Int32 { input.source.wakeDescriptor }

    package var sensorName: String { input.stream.sensor.name }

    /// Collects samples and computes a calibration; the indicator draws on the guidance view.
    package func run(_ indicator: ProgressIndicator) -> Outcome {
        let settings = SampleLoop.Settings(
            duration: options.duration, start: .firstSamples, interruption: interruption, errors: errors)
        let session = SampleLoop(input.source, capacity: Self.capacity, settings: settings, indicator: indicator) {
            self.collect($0)
        }
        session.delegate = self
        if input.isLive { guide() }
        session.run()
        for notice in input.repairNotices { errors.write("binnacle: \(notice)") }
        input.source.stop()
        if let failure = session.failures.first { return .failed(failure) }
        if session.isCancelled, !input.isLive || interruption.isTermination { return .cancelled }
        do throws(CalibrationRefusal) {
            var result = try task.finish()
            if !options.measuresNoise, let axes = input.axes {
                result.table.append("axes = \(JSONObject.quoted(axes))")
            }
            return .done(result)
        } catch {
            return .refused(error)
        }
    }

    private func collect(_ delivery: SampleDelivery) {
        guard let batch = delivery[input.stream.id] else { return }
        for index in 0..<batch.count where options.timeRange.contains(batch[index].timeNanoseconds) {
            task.add(batch[index])
        }
    }

    private func guide() {
        view?.guide(picture: task.picture, advice: task.advice)
    }

    private func fail(_ session: SampleLoop, _ streams: [SampleStream], _ reason: any Error) {
        guard streams.contains(where: { $0.id == input.stream.id }) else { return }
        if let reason = reason as? TraceError { return session.end(StationError(reason)) }
        let isDenied = (reason as? SensorFailure)?.category == .permission
        session.end(StationError(isDenied ? .noPermission : .unavailable, "\(sensorName.printable): \(reason)"))
    }

    /// Evaluates the samples, updates the guidance, and ends the session when there are enough.
    private func review(_ session: SampleLoop) {
        let now = SystemClock.monotonic()
        guard now >= Units.later(reviewedNanoseconds, by: Self.reviewNanoseconds) else { return }
        reviewedNanoseconds = now
        task.review()
        guide()
        session.showProgress(task.fraction)
        if task.isComplete { session.end() }
    }
}

extension CalibrationRun: SampleLoopDelegate {
    package func session(_ session: SampleLoop, didTurn answer: SampleAnswer) {
        if case .failed(let streams, let reason) = answer { fail(session, streams, reason) }
        if !input.isLive {
            session.showProgress(input.fraction)
        } else if !answer.isEnd {
            review(session)
        }
    }

    package func sessionShouldFlush(_ session: SampleLoop) { session.flush(errors) }

    package func sessionNextDeadline(_ session: SampleLoop) -> Int64? {
        SystemClock.monotonic() + Self.reviewNanoseconds
    }
}

/// The options of `binnacle calibrate`.
package struct CalibrateOptions {
    package var kind = SampleKind.magnetometer
    /// Whether the noise at rest is measured, in place of a calibration.
    package var measuresNoise = false
    /// Of the file's table.
    package var tableName: String { measuresNoise ? SensorCalibration.noiseKey(of: kind).table : kind.rawValue }
    /// Requirements for the samples of a magnetometer.
    package var judge = MagnetometerJudge()
    /// Empty for a live calibration.
    package var traces = TraceSet()
    /// The range of stamps that are used, in nanoseconds.
    package var timeRange = Int64.min...Int64.max
    /// The configuration whose sensor is calibrated.
    package var configurationPath: String?
    /// What plays the sensor.
    package var simulation: SimulationSettings.Model?
    /// The sensor, if there are several.
    package var sensor: String?
    /// `nil` until there are enough samples.
    package var duration: Duration?
    /// The parent of `sys` and `dev`; `nil` for this machine.
    package var root: String?

    package init() {}
}
