package import Binnacle
package import Handlers
import LinuxSensors
import LinuxSystem
import Traces

/// Collects samples until there is enough for a calibration, and makes one.
///
/// It is the delegate of its progress indicator, whose cancellation ends a live collection, with what has come so far, and a
/// reading of traces for good.
package final class CalibrationRun {
    /// What a run came to.
    package enum Outcome {
        case done(CalibrationResult)
        case refused(CalibrationRefusal)
        case failed(StationError)
        /// Nobody wants a result any more.
        case cancelled
    }

    /// What a person should know before it begins.
    package let notices: [String]
    /// Whether a person has to do something meanwhile.
    package let isLive: Bool

    private let options: CalibrateOptions
    private let input: CalibrationInput
    private let task: any CalibrationTask
    private let waker: Waker
    private let errors: LineWriter
    private let view: (any GuidanceView)?
    private var isCancelled = false
    private var failure: StationError?
    private var beginNanoseconds: Int64?
    private var reviewedNanoseconds = Int64.min

    /// The most samples that are asked for at a time.
    private static let capacity = 1024
    /// So often it is looked at what has come.
    private static let reviewNanoseconds: Int64 = 250_000_000

    /// Finds the sensor or opens the traces.
    ///
    /// - Parameters:
    ///   - options: What to calibrate, with what.
    ///   - errors: Where to say what happens to the sensor.
    ///   - view: Where a person is guided.
    /// - Throws: ``StationError`` when there is no such sensor, or it is not clear which is meant.
    package init(_ options: CalibrateOptions, errors: LineWriter, view: (any GuidanceView)?) throws(StationError) {
        self.options = options
        self.errors = errors
        self.view = view
        do throws(SystemError) {
            waker = try Waker()
        } catch {
            throw StationError(error)
        }
        input = try CalibrationInput(options, waker: waker)
        notices = input.notices
        task =
            switch options.kind {
            case .magnetometer: MagnetometerTask(options.judge)
            case .accelerometer: AccelerometerTask()
            }
        isLive = if case .live = input.origin { true } else { false }
    }

    /// What a signal handler writes to, to end a wait.
    package var wakeDescriptor: Int32 { waker.descriptor }

    /// The sensor's name.
    package var sensorName: String { input.stream.sensor.name }

    /// Collects, and makes a calibration.
    ///
    /// - Parameter indicator: Shows how far it has come, on the view that this run guides with.
    /// - Returns: What it came to.
    package func run(_ indicator: ProgressIndicator) -> Outcome {
        indicator.delegate = self
        switch input.origin {
        case .trace(let source): read(source, indicator)
        case .live(let source):
            guide()
            indicator.show()
            listen(to: source, indicator)
            source.live?.stop()
        }
        indicator.hide()
        if let failure { return .failed(failure) }
        if isCancelled, !isLive || Interruption.isTermination { return .cancelled }
        do throws(CalibrationRefusal) {
            return .done(try task.finish())
        } catch {
            return .refused(error)
        }
    }

    private func read(_ source: TraceSource, _ indicator: ProgressIndicator) {
        indicator.show()
        let delivery = SampleDelivery(streamCount: input.streamCount, capacity: Self.capacity)
        while goesOn(indicator) {
            delivery.removeAll()
            let answer = source.fill(delivery)
            take(delivery)
            if case .failed(let streams, let reason) = answer { fail(streams, reason) }
            if answer.isEnd { break }
            indicator.update(fraction: source.fraction)
        }
        // A cancelled wait for a pipe looks like its end.
        if Interruption.isRequested { indicator.cancel() }
        for notice in source.repairs.notices { errors.write("binnacle: \(notice.description)") }
    }

    private func listen(to source: StationSource, _ indicator: ProgressIndicator) {
        let delivery = SampleDelivery(streamCount: input.streamCount, capacity: Self.capacity)
        while goesOn(indicator), !isOver {
            delivery.removeAll()
            let answer = source.fill(delivery)
            take(delivery)
            switch answer {
            case .failed(let streams, let reason): fail(streams, reason)
            case .ended: return
            case .samples, .pending: break
            }
            let now = SystemClock.monotonic()
            if beginNanoseconds == nil, !delivery.isEmpty { beginNanoseconds = now }
            if now >= Units.later(reviewedNanoseconds, by: Self.reviewNanoseconds) {
                reviewedNanoseconds = now
                task.review()
                guide()
                indicator.update(fraction: task.fraction)
                if task.isComplete { return }
            }
            tell(source.live?.takeNotices() ?? [], indicator)
            if case .pending = answer, goesOn(indicator) {
                source.wait(timeoutMilliseconds: Int32(Self.reviewNanoseconds / 1_000_000))
            }
        }
    }

    private func goesOn(_ indicator: ProgressIndicator) -> Bool {
        if Interruption.isRequested { indicator.cancel() }
        return !isCancelled && failure == nil
    }

    /// The time counts from the first sample.
    private var isOver: Bool {
        guard let duration = options.duration, let begin = beginNanoseconds else { return false }
        return SystemClock.monotonic() - begin >= Units.nanoseconds(duration)
    }

    private func take(_ delivery: SampleDelivery) {
        let batch = delivery.batches[input.stream.index]
        for index in 0..<batch.count where options.timeRange.contains(batch[index].timeNanoseconds) {
            task.add(batch[index])
        }
    }

    private func guide() {
        view?.guide(picture: task.picture, advice: task.advice)
    }

    private func tell(_ notices: [String], _ indicator: ProgressIndicator) {
        guard !notices.isEmpty else { return }
        // Words and the picture share a terminal.
        indicator.hide()
        for notice in notices { errors.write("binnacle: \(notice.printable)") }
        errors.flush()
        indicator.show()
    }

    private func fail(_ streams: [SampleStream], _ reason: any Error) {
        // What happens to other sensors in the same traces is not asked for here.
        guard failure == nil, streams.contains(where: { $0.index == input.stream.index }) else { return }
        if let reason = reason as? TraceError {
            failure = StationError(reason)
        } else if let reason = reason as? SensorFailure {
            failure = StationError(
                reason.category == .permission ? .noPermission : .unavailable,
                "\(sensorName.printable): \(reason.description)")
        } else {
            failure = StationError(.unavailable, "\(sensorName.printable): \(reason)")
        }
    }
}

extension CalibrationRun: ProgressIndicatorDelegate {
    /// Ends the collection.
    package func progressIndicatorDidCancel(_ indicator: ProgressIndicator) {
        isCancelled = true
    }
}
