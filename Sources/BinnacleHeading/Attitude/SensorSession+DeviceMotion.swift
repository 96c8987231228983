public import Binnacle

/// The attitudes of one detector of a session: pushed as an asynchronous sequence, and pulled as the ``latest``.
///
/// ```swift
/// let motions = session.deviceMotion()
/// for try await motion in motions { print(motion.pitchDegrees, motion.attitude) }
/// ```
public protocol DeviceMotionSequence: AsyncSequence, Sendable
where Element == DeviceMotion, Failure == SensorSessionError {
    /// The newest attitude that the session has had since this object was made; `nil` before the first.
    ///
    /// On any thread, without waiting. It does not start the session. While there is no attitude, as without an accelerometer, it is
    /// the last one, as ``DeviceMotion/timeNanoseconds`` shows.
    var latest: DeviceMotion? { get }
}

extension SessionSequence: DeviceMotionSequence where Element == DeviceMotion {}

extension SensorSession {
    /// The attitudes that a detector of the session finds, at each of its samples.
    ///
    /// For one task; several sequences of one session are independent of each other. One begins with the first attitude after this call,
    /// and ends when the session does; a failure of the session is thrown, and so is that it has no such detector. A
    /// recording waits for the reader; of devices the oldest attitude is dropped when the reader is slow, and
    /// ``DeviceMotion/skippedCount`` of the next one says how many were.
    ///
    /// ```swift
    /// for try await motion in session.deviceMotion() { print(motion.pitchDegrees, motion.attitude) }
    /// ```
    ///
    /// - Parameters:
    ///   - detector: The detector's name.
    ///   - capacity: The most attitudes that wait, at least 1.
    /// - Returns: The sequence, for one task, and the latest attitude, for any.
    public func deviceMotion(
        of detector: String = "attitude", capacity: Int = 1024
    ) -> some DeviceMotionSequence {
        sequence(
            capacity: capacity,
            mark: { count, last in
                var motion = last
                motion.skippedCount = count - 1
                return motion
            },
            attach: { setup, take in
                let detectors = setup.detectors.compactMap { $0 as? AttitudeDetector }
                guard let found = detectors.first(where: { $0.name == detector }) else {
                    let names = detectors.map { "'\($0.name)'" }.joined(separator: ", ")
                    throw SetupProblem(
                        "there is no detector of attitudes '\(detector)': the session has "
                            + (names.isEmpty ? "none: call detectAttitude" : names))
                }
                found.readers.append(take)
            })
    }
}
