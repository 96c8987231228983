/// What an event tells; the raw value is its name in configurations and in JSON.
public enum EventKind: String, Sendable, Hashable, CaseIterable {
    /// Motion has lasted the minimum duration.
    case motionBegan = "motion.began"
    /// Motion goes on; at most once per update interval.
    case motionMoving = "motion.moving"
    /// Quiet has lasted the quiet time.
    case motionEnded = "motion.ended"
    /// A violent movement to and fro.
    case shake
    /// Weightlessness.
    case freeFall = "free_fall"
    /// A blow.
    case shock
    /// The heading turned by more than the heading filter.
    case heading
    /// There is no valid heading any more.
    case headingLost = "heading.lost"
    /// There is a valid heading again.
    case headingFound = "heading.found"
    /// The device has faced the bearing for the dwell time.
    case northFaced = "north.faced"
    /// The device goes on facing the bearing; at most once per update interval.
    case northFacing = "north.facing"
    /// The device has looked away from the bearing for the dwell time.
    case northLeft = "north.left"
    /// A stream was interrupted.
    case gap
    /// Samples were lost on their way from the device.
    case samplesLost = "samples.lost"
    /// A sensor delivers again.
    case sensorActive = "sensor.active"
    /// A sensor failed.
    case sensorInactive = "sensor.inactive"
    /// One active sensor is left.
    case sensorsOneLeft = "sensors.one_left"
    /// No active sensor is left.
    case sensorsNoneLeft = "sensors.none_left"
    /// A detector lost the sensor it needs.
    case detectorFailed = "detector.failed"
    /// A detector could not start, because a sensor it needs is not there.
    case detectorUnavailable = "detector.unavailable"
    /// Enough sensors agreed; made by the quorum decorator.
    case quorumReached = "quorum.reached"
    /// A handler's program ended as it should.
    case commandFinished = "command.finished"
    /// A handler's program could not be run, failed, or took too long.
    case commandFailed = "command.failed"
    /// Events did not get to a handler, because too many waited for it.
    case eventsDropped = "events.dropped"
    /// A handler can no longer do its work.
    case handlerFailed = "handler.failed"
    /// A handler that had failed works again.
    case handlerRecovered = "handler.recovered"
    /// The event store cannot be used as it should.
    case storeFailed = "store.failed"
    /// The event store, which had failed, works again.
    case storeRecovered = "store.recovered"

    /// The kinds that repeat an ongoing state, and are therefore given only to handlers that ask for them by name.
    public static let repeated: Set<EventKind> = [.motionMoving, .northFacing]

    /// Whether it is one of the kinds wanted; without such a list, whether it does not repeat a state.
    func isAmong(_ wanted: Set<EventKind>?) -> Bool {
        wanted?.contains(self) ?? !EventKind.repeated.contains(self)
    }

    /// The kinds that tell of handlers and of the store, and are therefore never given to a handler that could cause more
    /// of them.
    public static let reports: Set<EventKind> = [
        .commandFinished, .commandFailed, .eventsDropped, .handlerFailed, .handlerRecovered, .storeFailed,
        .storeRecovered,
    ]
}
