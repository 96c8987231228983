package import Binnacle
package import Calibration
import Handlers
import LinuxSensors
package import LinuxSystem
import PlainText
package import Station
package import Traces

/// Collects samples until there is enough for a calibration, and makes one.
///
/// A person who cancels a live collection gets a calibration of what has come so far; one who cancels the reading of
/// traces gets none.
package final class CalibrationRun {
    /// The result of a run.
    package enum Outcome {
        case done(CalibrationResult)
        case refused(CalibrationRefusal)
        case failed(StationError)
        /// A person cancelled it.
        case cancelled
    }

    /// What a person should know before it begins.
    package var notices: [String] { input.notices }
    /// Whether a person has to do something meanwhile.
    package var isLive: Bool { input.isLive }

    private let options: CalibrateOptions
    private let input: CalibrationInput
    private let task: any CalibrationTask
    private let interruption: Interruption
    private let errors: LineWriter
    private let view: (any GuidanceView)?
    private var reviewedNanoseconds = Int64.min

    /// The most samples that are asked for at a time.
    private static let capacity = 1024
    /// Interval between reviews of the collected samples.
    private static let reviewNanoseconds: Int64 = 250_000_000

    /// Finds the sensor or opens the traces.
    ///
    /// - Parameters:
    ///   - options: What to calibrate, with what.
    ///   - errors: Where to say what happens to the sensor.
    ///   - view: Where a person is guided.
    ///   - interruption: Says when a signal has come.
    /// - Throws: ``StationError`` when there is no such sensor, or it is not clear which is meant.
    package init(
        _ options: CalibrateOptions, errors: LineWriter, view: (any GuidanceView)?, interruption: Interruption
    ) throws(StationError) {
        self.options = options
        self.errors = errors
        self.view = view
        self.interruption = interruption
        input = try CalibrationInput(options, interruption: interruption)
        task =
            switch options.kind {
            case .magnetometer: MagnetometerTask(options.judge)
            case .accelerometer: AccelerometerTask()
            }
    }

    /// What a signal handler writes to, to end a wait.
    package var wakeDescriptor: Int32 { input.source.wakeDescriptor }

    /// The sensor's name.
    package var sensorName: String { input.stream.sensor.name }

    /// Collects, and makes a calibration.
    ///
    /// - Parameter indicator: Shows how far it has come, on the view that this run guides with.
    /// - Returns: The result.
    package func run(_ indicator: ProgressIndicator) -> Outcome {
        var settings = Session.Settings()
        settings.duration = options.duration
        settings.start = .firstSamples
        settings.interruption = interruption
        let session = Session(input.source, capacity: Self.capacity, settings: settings, indicator: indicator) {
            self.take($0)
        }
        session.delegate = self
        if isLive { guide() }
        session.run()
        for notice in input.repairNotices { errors.write("binnacle: \(notice)") }
        input.source.stop()
        if let failure = session.failures.first { return .failed(failure) }
        if session.isCancelled, !isLive || interruption.isTermination { return .cancelled }
        do throws(CalibrationRefusal) {
            return .done(try task.finish())
        } catch {
            return .refused(error)
        }
    }

    private func take(_ delivery: SampleDelivery) {
        guard let batch = delivery[input.stream.id] else { return }
        for index in 0..<batch.count where options.timeRange.contains(batch[index].timeNanoseconds) {
            task.add(batch[index])
        }
    }

    private func guide() {
        view?.guide(picture: task.picture, advice: task.advice)
    }

    private func fail(_ session: Session, _ streams: [SampleStream], _ reason: any Error) {
        // The traces may have other sensors, whose failures do not matter here.
        guard streams.contains(where: { $0.id == input.stream.id }) else { return }
        if let reason = reason as? TraceError { return session.end(StationError(reason)) }
        let isDenied = (reason as? SensorFailure)?.category == .permission
        session.end(
            StationError(isDenied ? .noPermission : .unavailable, "\(sensorName.printable): \(reason)"))
    }

    /// Reviews what has come, says what to do next, and ends when there is enough.
    private func review(_ session: Session) {
        let now = SystemClock.monotonic()
        guard now >= Units.later(reviewedNanoseconds, by: Self.reviewNanoseconds) else { return }
        reviewedNanoseconds = now
        task.review()
        guide()
        session.showProgress(task.fraction)
        if task.isComplete { session.end() }
    }
}

extension CalibrationRun: SessionDelegate {
    /// Ends with a failure of the sensor, or when there is enough.
    package func session(_ session: Session, didTurn answer: SampleAnswer) {
        if case .failed(let streams, let reason) = answer { fail(session, streams, reason) }
        if !isLive {
            session.showProgress(input.fraction)
        } else if !answer.isEnd {
            review(session)
        }
    }

    package func session(_ session: Session, didNotice notice: String) {
        errors.write("binnacle: \(notice.printable)")
    }

    package func sessionShouldFlush(_ session: Session) { session.flush(errors) }

    package func sessionNextDeadline(_ session: Session) -> Int64? {
        SystemClock.monotonic() + Self.reviewNanoseconds
    }
}

/// What a person asks of a calibration.
package struct CalibrateOptions {
    /// Which kind of sensor is calibrated.
    package var kind = SampleKind.magnetometer
    /// What is wanted of a magnetometer's samples.
    package var judge = MagnetometerJudge()
    /// The traces to take samples from; the sensors without any.
    package var traces: [String] = []
    package var map: ColumnMap?
    /// Only samples of the traces with these stamps, in nanoseconds.
    package var timeRange = Int64.min...Int64.max
    /// The configuration whose sensor is calibrated.
    package var configurationPath: String?
    /// The sensor, when there are several.
    package var sensor: String?
    /// How long; until there is enough without.
    package var duration: Duration?
    /// The folder under which `/sys` and `/dev` lie; the machine's own without one.
    package var root: String?

    package init() {}
}
