// The words of events: each kind and each figure is a case and a row. What else needs to know of them is made from the rows.

import PlainText

/// What an event tells; the raw value is its name in configurations and in JSON, and `text` says what it means.
///
/// The log, the journal, the state of a sensor in MQTT, Home Assistant's entities, the warnings of a configuration, the
/// placeholders, the help and the manual are made from the rows; nothing else lists the kinds.
public enum EventKind: String, Sendable, Hashable, CaseIterable {
    case motionBegan = "motion.began"
    case motionMoving = "motion.moving"
    case motionEnded = "motion.ended"
    case shake
    case freeFall = "free_fall"
    case shock
    case rotationBegan = "rotation.began"
    case rotationEnded = "rotation.ended"
    case heading
    case headingLost = "heading.lost"
    case headingFound = "heading.found"
    case sectorEntered = "sector.entered"
    case sectorLeft = "sector.left"
    case interferenceBegan = "interference.began"
    case interferenceEnded = "interference.ended"
    case calibrationNeeded = "calibration.needed"
    case calibrationRestored = "calibration.restored"
    case northFaced = "north.faced"
    case northFacing = "north.facing"
    case northLeft = "north.left"
    case orientationChanged = "orientation.changed"
    case tiltChanged = "tilt.changed"
    case hingeChanged = "hinge.changed"
    case attitudeChanged = "attitude.changed"
    case heelBegan = "heel.began"
    case heelEnded = "heel.ended"
    case pitchBegan = "pitch.began"
    case pitchEnded = "pitch.ended"
    case lightChanged = "light.changed"
    case proximityChanged = "proximity.changed"
    case tap
    case step
    case stationary
    case departed
    case vibrationBegan = "vibration.began"
    case vibrationChanged = "vibration.changed"
    case vibrationEnded = "vibration.ended"
    case machineChanged = "machine.changed"
    case machineFinished = "machine.finished"
    case gap
    case samplesLost = "samples.lost"
    case sensorActive = "sensor.active"
    case sensorInactive = "sensor.inactive"
    case sensorsOneLeft = "sensors.one_left"
    case sensorsNoneLeft = "sensors.none_left"
    case detectorFailed = "detector.failed"
    case detectorUnavailable = "detector.unavailable"
    case quorumReached = "quorum.reached"
    case commandFinished = "command.finished"
    case commandFailed = "command.failed"
    case eventsDropped = "events.dropped"
    case handlerFailed = "handler.failed"
    case handlerRecovered = "handler.recovered"
    case handlerArmed = "handler.armed"
    case handlerDisarmed = "handler.disarmed"
    case storeFailed = "store.failed"
    case storeRecovered = "store.recovered"
}

extension Figure {
    /// The name, which ends with the unit; the raw value is its key in JSON and in placeholders.
    ///
    /// The row says what the figure is, with which unit and how many decimals.
    public enum Name: String, Sendable, CaseIterable {
        case peak = "peak_g"
        case userAcceleration = "user_g"
        case smallest = "min_g"
        case magnitude = "magnitude_g"
        case peakRate = "peak_dps"
        case onset = "onset_ns"
        case duration = "duration_s"
        case x = "x_m_s2"
        case y = "y_m_s2"
        case z = "z_m_s2"
        case heading = "heading_deg"
        case reference
        case declination = "declination_deg"
        case accuracy = "accuracy_deg"
        case age = "age_s"
        case sector
        case axis
        case off = "off_deg"
        case field = "field_uT"
        case expected = "expected_uT"
        case dip = "dip_deg"
        case turnRate = "turn_rate_dps"
        case orientation
        case tilt
        case posture
        case angle = "angle_deg"
        case frame
        case quaternionW = "qw"
        case quaternionX = "qx"
        case quaternionY = "qy"
        case quaternionZ = "qz"
        case roll = "roll_deg"
        case pitch = "pitch_deg"
        case yaw = "yaw_deg"
        case peakAngle = "peak_deg"
        case tiltAccuracy = "tilt_accuracy_deg"
        case yawAccuracy = "yaw_accuracy_deg"
        case gravityX = "gravity_x_m_s2"
        case gravityY = "gravity_y_m_s2"
        case gravityZ = "gravity_z_m_s2"
        case userX = "user_x_m_s2"
        case userY = "user_y_m_s2"
        case userZ = "user_z_m_s2"
        case rateX = "rate_x_dps"
        case rateY = "rate_y_dps"
        case rateZ = "rate_z_dps"
        case illuminance = "illuminance_lux"
        case brightness = "brightness_percent"
        case proximity
        case sign
        case total
        case cadence = "cadence_per_min"
        case band
        case zone
        case velocity = "velocity_mm_s"
        case vibration = "vibration_g"
        case frequency = "frequency_hz"
        case measuredTo = "measured_to_hz"
        case machine
        case learned = "learned_percent"
        case gap = "gap_s"
        case channel
        case cause
        case source
        case reason
        case active
        case count
        case joined
        case ordinal
        case needed
        case sensors
        case handler
        case program
        case trigger = "for_seq"
        case status
        case signal
        case attempt
        case retry = "retry_s"
        case output
    }
}

extension EventKind {
    private static let headings: [Figure.Name] = [
        .heading, .reference, .declination, .accuracy, .age, .axis, .field, .dip, .turnRate,
    ]
    private static let sectors: [Figure.Name] = [.sector, .heading, .reference, .accuracy, .axis]
    private static let bearings: [Figure.Name] = [.heading, .reference, .off, .accuracy, .axis]
    package static let attitudeFigures: [Figure.Name] = [
        .frame, .quaternionW, .quaternionX, .quaternionY, .quaternionZ, .roll, .pitch, .yaw, .heading, .reference,
        .declination,
        .tiltAccuracy, .yawAccuracy, .gravityX, .gravityY, .gravityZ, .userX, .userY, .userZ, .rateX, .rateY, .rateZ,
        .reason,
    ]
    private static let moving = HomeEntity.isOn("moving", "Moving", "moving", off: "still")
    private static let vibrating = HomeEntity.isOn("vibration", "Vibrating", "vibrating", off: "calm")
    /// What is measured of a vibration.
    static let vibrations: [Figure.Name] = [
        .band, .zone, .velocity, .vibration, .frequency, .measuredTo, .machine, .learned,
    ]
    private static let limitBegins: [Figure.Name] = [.roll, .pitch, .peakAngle, .onset]
    private static let limitEnds: [Figure.Name] = [.roll, .pitch, .peakAngle, .duration, .onset]
    private static func screens(_ changed: Figure.Name) -> [Figure.Name] { [changed, .x, .y, .z] }
    private static let fields: [Figure.Name] = [.field, .expected]
    private static let commands: [Figure.Name] = [
        .handler, .program, .trigger, .status, .signal, .duration, .attempt, .reason, .retry, .output,
    ]

    /// The row of the kind; ``row`` is cheaper.
    var made: Row {
        switch self {
        case .motionBegan:
            Row(
                "a89f1f1421234078b42b57844654f2a5", .info, .begin, from: .detector(MotionManager.kind),
                state: [.delivers, .word("moving")], figures: [.peak, .onset, .source],
                home: [Self.moving, .pulse("tamper", "Tamper", isEnabled: false)],
                "The acceleration has been above the motion threshold for the minimum duration.")
        case .motionMoving:
            Row(
                "8d9a989ff9254221a4f145a6dc471739", .debug, .repeated, from: .detector(MotionManager.kind),
                state: [.delivers, .word("moving")], figures: [.x, .y, .z],
                "Motion goes on; at most once per update interval.")
        case .motionEnded:
            Row(
                "e8777e9df8684e7a918ebac0caf66a5e", .info, from: .detector(MotionManager.kind),
                state: [.delivers, .word("still"), .figures([.peak])], figures: [.peak, .duration, .onset],
                home: [Self.moving, .peak],
                "The device has been quiet for the quiet time; the duration does not include that time.")
        case .shake:
            Row(
                "b5d517eb57344fbe97be000deaa39371", .info, .begin, from: .detector(MotionManager.kind),
                state: [.delivers], figures: [.userAcceleration],
                home: [.pulse("vibration", "Vibration"), .occurrence],
                "The user acceleration rose above the shake threshold.")
        case .freeFall:
            Row(
                "7355033af62e4a0aa6b920ca0eec1200", .info, .begin, from: .detector(MotionManager.kind),
                state: [.delivers], figures: [.smallest, .duration, .onset, .source], home: [.occurrence],
                "The total acceleration has been below the free-fall threshold for free_fall_s, which is the duration; the fall goes on."
            )
        case .shock:
            Row(
                "b47a4ad8626a43d2a120b1369982b514", .info, .begin, from: .detector(MotionManager.kind),
                state: [.delivers, .figures([.peak])], figures: [.peak, .magnitude, .duration, .onset],
                home: [.peak, .occurrence],
                "The total acceleration rose above the shock threshold; reported when the shock window is over.")
        case .rotationBegan:
            Row(
                "11e81d09131e42a0b046bf25547f3666", .info, .begin, from: .detector(MotionManager.kind),
                state: [.delivers], figures: [.peakRate, .onset],
                "The rate of turn has been above the rotation threshold for the minimum duration.")
        case .rotationEnded:
            Row(
                "bf676e36f6ba46fba7943eb77c9bc686", .info, from: .detector(MotionManager.kind),
                state: [.delivers], figures: [.peakRate, .duration, .onset],
                "The device has turned more slowly for the quiet time; the duration does not include that time.")
        case .heading:
            Row(
                "58b6fc8dd32042e7a4aaa2b9f1a5239d", .debug, .course, from: .north, heading: .sensor,
                state: [.delivers], figures: Self.headings, home: [.heading],
                "The first heading, each turn by the heading filter, a held one once a second, a valid one after it.")
        case .headingLost:
            Row(
                "dbc8136273304b39a4686124123c5700", .warning, from: .north,
                state: [.headingLost], figures: [.reason, .age], "There is no valid heading any more.")
        case .headingFound:
            Row(
                "8d0d6e1f4b844c3497a9aaa0a9d8bd47", .info, from: .north, heading: .sensor,
                state: [.delivers], figures: Self.headings, home: [.heading],
                "There is a valid heading again.")
        case .sectorEntered:
            Row(
                "1f8a9cbf2293435eb39427081533f8bb", .info, from: .north, heading: .sensor,
                state: [.delivers], figures: Self.sectors, home: [.occurrence],
                "The heading has been within a sector for the dwell time.")
        case .sectorLeft:
            Row(
                "4ca1acbd92cd4567b7e7844d99fd988e", .info, from: .north, heading: .sensor,
                state: [.delivers], figures: Self.sectors, home: [.occurrence],
                "The heading has been outside a sector by its margin for the dwell time.")
        case .interferenceBegan:
            Row(
                "ee7e80200fc74b50af84a7f3bd838b46", .warning, from: .north,
                state: [.delivers, .interference(true)], figures: Self.fields, home: [.interference],
                "The strength of the field is wrong: iron or a magnet is nearby.")
        case .interferenceEnded:
            Row(
                "02f411da87d8439dbb09337775c1fc5a", .info, from: .north,
                state: [.delivers, .interference(false)], figures: Self.fields, home: [.interference],
                "The strength of the field is as expected again.")
        case .calibrationNeeded:
            Row(
                "b6da00893d324140bcd678a63cc15c98", .warning, from: .north,
                state: [.delivers], figures: Self.fields, home: [.occurrence],
                "The magnetometer has to be calibrated: an interference has lasted, or its hard iron is not known yet.")
        case .calibrationRestored:
            Row(
                "89a8a370bffe4e618d36bddee7cfcfec", .info, from: .north,
                state: [.delivers], figures: Self.fields,
                "The strength of the field is as expected again after a calibration was needed.")
        case .northFaced:
            Row(
                "1b35e93c6eae41e688c447275ae8183c", .info, .begin, from: .north, heading: .sensor,
                state: [.delivers, .word("facing")], figures: Self.bearings, home: [.occurrence],
                "The heading has been within the tolerance of the bearing for the dwell time.")
        case .northFacing:
            Row(
                "4170146b3aa643d997b708618a01d703", .debug, .repeated, from: .north, heading: .sensor,
                state: [.delivers, .word("facing")], figures: Self.bearings,
                "The device still faces the bearing; at most once per update interval.")
        case .northLeft:
            Row(
                "e90c808b2389499b998da13ad2a93e38", .info, from: .north, heading: .sensor,
                state: [.delivers, .word("away")], figures: Self.bearings, home: [.occurrence],
                "The heading has been beyond the exit angle for the dwell time.")
        case .orientationChanged:
            Row(
                "0a4e2e43bdca4a0f8121926c40bdf0c2", .info, from: .detector(OrientationDetector.kind),
                state: [.delivers, .figures([.orientation])], figures: Self.screens(.orientation),
                home: [.choice(.orientation, ScreenOrientation.self), .occurrence],
                "Another edge of the screen has pointed up for the dwell time, or the first one is known.")
        case .tiltChanged:
            Row(
                "152abaed38cb4891bc9a83e096167898", .info, from: .detector(OrientationDetector.kind),
                state: [.delivers, .figures([.tilt])], figures: Self.screens(.tilt),
                home: [.choice(.tilt, ScreenTilt.self), .occurrence],
                "The screen has leaned otherwise for the dwell time, or the first tilt is known.")
        case .hingeChanged:
            Row(
                "bf5d71ae9ddd4dc597aa91d12834bf05", .info, from: .detector(HingeDetector.kind),
                state: [.delivers, .figures([.posture])], figures: [.posture, .angle],
                "A laptop is set up otherwise, its hinge has turned by the angle filter, or both are known.")
        case .attitudeChanged:
            Row(
                "c319c42371a44b88a94013c5a2aa29d9", .debug, .course, from: .attitude, heading: .body,
                state: [.delivers, .figures([.roll, .pitch])], figures: Self.attitudeFigures, home: [.attitude],
                "The first attitude, each turn by the attitude filter, another reference, a worse accuracy.")
        case .heelBegan:
            Row(
                "5126cf15b50e497eaef640555ad5e4f8", .info, .begin, from: .attitude,
                state: [.delivers], figures: Self.limitBegins, home: [.occurrence],
                "The roll has been beyond the heel limit, to either side, for the dwell time.")
        case .heelEnded:
            Row(
                "0de95b1cc0a24eeeb926fd85c8d70e55", .info, from: .attitude,
                state: [.delivers], figures: Self.limitEnds, home: [.occurrence],
                "The roll has been within the heel limit, less the hysteresis, for the dwell time.")
        case .pitchBegan:
            Row(
                "0308aaf62f014de3b42fbd4eb64e06bb", .info, .begin, from: .attitude,
                state: [.delivers], figures: Self.limitBegins, home: [.occurrence],
                "The pitch has been beyond its limit, up or down, for the dwell time.")
        case .pitchEnded:
            Row(
                "bcaf2f5cae534e8eb54185a147e3a3cb", .info, from: .attitude,
                state: [.delivers], figures: Self.limitEnds, home: [.occurrence],
                "The pitch has been within its limit, less the hysteresis, for the dwell time.")
        case .lightChanged:
            Row(
                "e499b8b3c4df4a508360cd87f2e32f2f", .debug, from: .detector(AmbientLightDetector.kind),
                state: [.delivers, .figures([.illuminance, .brightness])], figures: [.illuminance, .brightness],
                "The light around the device has changed by the change percentage, or is known.")
        case .proximityChanged:
            Row(
                "649161fb1f664a2abcefd82a78eb5a33", .info, from: .detector(ProximityDetector.kind),
                state: [.delivers, .figures([.proximity])], figures: [.proximity],
                "Something came near the device or went away, or it is known whether something is near.")
        case .tap:
            Row(
                "01f78a3b235941e0ac71f94123810b3c", .info, .begin, from: .detector(TapDetector.kind),
                state: [.delivers], figures: [.count, .axis, .sign, .peak, .onset, .source],
                home: [.pulse("tap", "Tap", deviceClass: "vibration"), .occurrence],
                "The device was tapped once, twice or three times; reported when no further tap can belong to it.")
        case .step:
            Row(
                "82a3a03469b6484fa3bd700c0ad87138", .debug, from: .detector(StepDetector.kind),
                state: [.delivers, .figures([.total])], figures: [.count, .cadence, .total, .source],
                home: [.occurrence],
                "A step was taken; the first event of a walk brings the regular steps with which it began.")
        case .stationary:
            Row(
                "db07a7c2e6c54a39b5cf8277621e9cd5", .info, from: .detector(StationaryDetector.kind),
                state: [.delivers, .word("still")], figures: [.onset, .source], home: [Self.moving, .occurrence],
                "The device has been still for the dwell time.")
        case .departed:
            Row(
                "60843174f11a4407a31c24154729dcaa", .info, .begin, from: .detector(StationaryDetector.kind),
                state: [.delivers, .word("moving")], figures: [.onset, .source], home: [Self.moving, .occurrence],
                "The device has moved for the dwell time, as one that is carried or driven.")
        case .vibrationBegan:
            Row(
                "d19666cd7a10479cba715b9801f3da47", .info, .begin, from: .detector(VibrationDetector.kind),
                state: [.delivers, .word("vibrating"), .figures([.velocity, .frequency])], figures: Self.vibrations,
                home: [Self.vibrating, .velocity, .frequency, .occurrence],
                "A band of frequencies has been beyond its first limit for the dwell time.")
        case .vibrationChanged:
            Row(
                "ca618cdaf9904b8a967459cd79813f3f", .info, from: .detector(VibrationDetector.kind),
                state: [.delivers, .word("vibrating"), .figures([.velocity, .frequency])], figures: Self.vibrations,
                home: [.velocity, .frequency, .occurrence],
                "A vibration has been in another zone, between two limits, for the dwell time.")
        case .vibrationEnded:
            Row(
                "24fa39f3c01b4011bc45868312f81ce2", .info, from: .detector(VibrationDetector.kind),
                state: [.delivers, .word("calm"), .figures([.velocity, .frequency])],
                figures: Self.vibrations + [.duration],
                home: [Self.vibrating, .velocity, .frequency, .occurrence],
                "All bands have been below their first limits for the dwell time, which the duration does not include.")
        case .machineChanged:
            Row(
                "972cb3872f0a4b979a1c00150168e98b", .info, from: .detector(VibrationDetector.kind),
                state: [.delivers, .figures([.machine])], figures: Self.vibrations,
                home: [.choice(.machine, MachineState.self), .occurrence],
                "A machine is idle, running or spinning, by its vibration; or the first state is known.")
        case .machineFinished:
            Row(
                "1822645ba146499fabbfd524f9255411", .info, from: .detector(VibrationDetector.kind),
                state: [.delivers], figures: Self.vibrations + [.duration], home: [.occurrence],
                "A machine that ran has been idle for the idle time, which the duration does not include.")
        case .gap:
            Row(
                "aeeea507e7da4071ba95c43cffc37257", .warning, from: .sensors,
                figures: [.channel, .gap], "A stream was interrupted for more than a second.")
        case .samplesLost:
            Row(
                "d16304100ccd47d99e77af5bb715c2e8", .warning, from: .sensors,
                figures: [.channel, .cause, .count, .gap, .reason],
                home: [.pulse("samples_lost", "Samples lost", deviceClass: "problem", isDiagnostic: true)],
                "Samples that the device should have delivered will never come.")
        case .sensorActive:
            Row(
                "688aca90714644b5912b3a0311484dcd", .info, from: .sensors, isAlwaysLogged: true,
                state: [.sensorActive], figures: [.active], "A sensor delivers again.")
        case .sensorInactive:
            Row(
                "98545a5055554783a67affc7701e5122", .warning, from: .sensors, isAlwaysLogged: true,
                state: [.sensorInactive], figures: [.reason, .active], "A sensor failed.")
        case .sensorsOneLeft:
            Row("ca56109ae1fc4ca6bcdce8a408649729", .warning, from: .sensors, "A failure left one active sensor.")
        case .sensorsNoneLeft:
            Row(
                "f1a119552c794cd5b4d6eb3da3a1f9c8", .error, from: .sensors, isAlwaysLogged: true,
                "A failure left no active sensor.")
        case .detectorFailed:
            Row(
                "87ba1307496b4d81b281eb4d34d28213", .warning, from: .anyDetector, isAlwaysLogged: true,
                state: [.detectorFailed], figures: [.reason],
                "A sensor that a detector uses is not there, has failed, or cannot be trusted; the reason says which.")
        case .detectorUnavailable:
            Row(
                "d373bceabe214a9fb3cc742bd9aff30d", .warning, from: .anyDetector, isAlwaysLogged: true,
                state: [.detectorFailed], figures: [.reason],
                "A detector could not start, because a sensor that it needs is missing, or had been inactive before a reload."
            )
        case .quorumReached:
            Row(
                "ee0ead0fa1ad46f8baa7c2e94881b597", .info, from: .quorum,
                figures: [.count, .needed, .active, .sensors], "Enough sensors agreed; made by the quorum decorator.")
        case .commandFinished:
            Row(
                "24d9c15ec63c4a7eba1ddc87c49b9172", .info, .report, from: .commands, isAlwaysLogged: true,
                figures: Self.commands, "The program of a handler ended with success.")
        case .commandFailed:
            Row(
                "d844dcdd8d7940579ebe881883855365", .warning, .report, from: .commands, isAlwaysLogged: true,
                figures: Self.commands, "The program of a handler could not be run, failed, or took too long.")
        case .eventsDropped:
            Row(
                "f24d43b8ee92431bb063aa888ca91894", .warning, .report, from: .handlers, isAlwaysLogged: true,
                figures: [.handler, .count, .reason],
                "Events were dropped for a handler or the store: too many waited, they were refused, or they cannot be "
                    + "delivered; the reason says which.")
        case .handlerFailed:
            Row(
                "4bba6fc62946445b8c3213d73d1f18c5", .warning, .report, from: .handlers, isAlwaysLogged: true,
                figures: [.handler, .reason], "A handler can no longer do its work.")
        case .handlerRecovered:
            Row(
                "fec5418a6e754a82b63fe43bfd492164", .info, .report, from: .handlers, isAlwaysLogged: true,
                figures: [.handler], "A handler that had failed works again.")
        case .handlerArmed:
            Row(
                "5d0f6a3e9c1b4e27a84c7f1d92b6e035", .notice, from: .handlers, isAlwaysLogged: true,
                figures: [.handler], "A handler that was disarmed gets events again.")
        case .handlerDisarmed:
            Row(
                "b8e2c47f016d4d9a93f5a0c86e7d1b42", .notice, from: .handlers, isAlwaysLogged: true,
                figures: [.handler],
                "A handler gets no events until it is armed; also reported at each start while it is so.")
        case .storeFailed:
            Row(
                "068b415a5ec949cd9c47cc6bfc3a0769", .warning, .report, from: .store, isAlwaysLogged: true,
                figures: [.reason, .retry], "Events are not stored at the moment.")
        case .storeRecovered:
            Row(
                "47691642e87b47dea5d118646ee95946", .info, .report, from: .store, isAlwaysLogged: true,
                figures: [.reason, .count], "Events are stored again.")
        }
    }
}

extension Figure.Name {
    package var row: Row {
        switch self {
        case .peak:
            Row(
                .number(.g, decimals: 4),
                "The greatest acceleration of the motion so far, of the shock, or of the taps.")
        case .userAcceleration: Row(.number(.g, decimals: 4), "The user acceleration of the shake.")
        case .smallest: Row(.number(.g, decimals: 4), "The smallest total acceleration of the free fall so far.")
        case .magnitude: Row(.number(.g, decimals: 4), "The total acceleration of the first sample of the shock.")
        case .peakRate:
            Row(
                .number(.degreesPerSecond, decimals: 1),
                "The greatest rate of turn of the rotation so far, about any axis.")
        case .onset:
            Row(
                .stamp, "The stamp of the first sample beyond the threshold, of the first peak of a tap, or of a rest.")
        case .duration: Row(.number(.seconds, decimals: 3), "How long it lasted.")
        case .x: Row(.number(.metresPerSecondSquared, decimals: 3), "The acceleration to the right.")
        case .y: Row(.number(.metresPerSecondSquared, decimals: 3), "The acceleration to the top.")
        case .z: Row(.number(.metresPerSecondSquared, decimals: 3), "The acceleration out of the screen.")
        case .heading: Row(.number(.degrees, decimals: 2), "The heading, clockwise from the north of `reference`.")
        case .reference:
            Row(
                .word(HeadingReference.self),
                "`true` when a heading counts from true north, else not there; of an attitude also `magnetic` and `relative`."
            )
        case .declination:
            Row(.number(.degrees, decimals: 2), "How far magnetic north lies east of true north, where that is known.")
        case .accuracy: Row(.number(.degrees, decimals: 1), "The error that nine of ten headings stay within.")
        case .age: Row(.number(.seconds, decimals: 3), "How old a held heading is; a valid heading has none.")
        case .sector: Row(.text, "The name of the sector.")
        case .axis:
            Row(
                .word(DeviceAxis.self),
                "The axis of the device whose direction the heading is, or along which the first tap accelerated it most."
            )
        case .off: Row(.number(.degrees, decimals: 2), "The turn to the bearing; negative to the left.")
        case .field: Row(.number(.microtesla, decimals: 2), "The strength of the field.")
        case .expected: Row(.number(.microtesla, decimals: 2), "The strength that the field should have.")
        case .dip: Row(.number(.degrees, decimals: 1), "The angle of the field below the horizon.")
        case .turnRate:
            Row(
                .number(.degreesPerSecond, decimals: 2),
                "How fast the heading grows, clockwise; where a gyroscope is used.")
        case .orientation:
            Row(
                .word(ScreenOrientation.self),
                "The edge of the screen that points up: normal, left-up, right-up or bottom-up.")
        case .tilt:
            Row(
                .word(ScreenTilt.self),
                "How the screen leans: vertical, tilted-up, tilted-down, face-up or face-down.")
        case .posture: Row(.word(Posture.self), "How a laptop is set up: laptop, tent, tablet or closed.")
        case .angle:
            Row(
                .number(.degrees, decimals: 1),
                "The angle between keyboard and screen: 0 closed, 180 flat, 360 folded back; not there with a switch alone."
            )
        case .frame: Row(.word(EarthFrame.self), "The frame of the Earth, and the axes of the body: ned or enu.")
        case .quaternionW:
            Row(
                .number(.ratio, decimals: 6),
                "The attitude's quaternion, from body to Earth: its scalar part, 0 or more.")
        case .quaternionX: Row(.number(.ratio, decimals: 6), "Its part along the first axis.")
        case .quaternionY: Row(.number(.ratio, decimals: 6), "Its part along the second axis.")
        case .quaternionZ: Row(.number(.ratio, decimals: 6), "Its part along the third axis.")
        case .roll:
            Row(.number(.degrees, decimals: 2), "The turn about the forward axis, positive with the right side down.")
        case .pitch:
            Row(
                .number(.degrees, decimals: 2),
                "The turn about the axis across: positive with the bow up in ned, the nose down in enu.")
        case .yaw:
            Row(
                .number(.degrees, decimals: 2),
                "The turn about the vertical from what `reference` says: clockwise from north in ned, counter-clockwise from east in enu."
            )
        case .peakAngle: Row(.number(.degrees, decimals: 2), "The greatest angle so far, without its sign.")
        case .tiltAccuracy: Row(.number(.degrees, decimals: 1), "The error that nine of ten verticals stay within.")
        case .yawAccuracy:
            Row(.number(.degrees, decimals: 1), "The error that nine of ten turns about the vertical stay within.")
        case .gravityX:
            Row(
                .number(.metresPerSecondSquared, decimals: 3),
                "Gravity along the body's first axis, as a specific force.")
        case .gravityY: Row(.number(.metresPerSecondSquared, decimals: 3), "Gravity along its second axis.")
        case .gravityZ: Row(.number(.metresPerSecondSquared, decimals: 3), "Gravity along its third axis.")
        case .userX:
            Row(
                .number(.metresPerSecondSquared, decimals: 3),
                "The acceleration without gravity along the body's first axis.")
        case .userY: Row(.number(.metresPerSecondSquared, decimals: 3), "That along its second axis.")
        case .userZ: Row(.number(.metresPerSecondSquared, decimals: 3), "That along its third axis.")
        case .rateX:
            Row(
                .number(.degreesPerSecond, decimals: 2),
                "How fast the body turns about its first axis; with a gyroscope.")
        case .rateY: Row(.number(.degreesPerSecond, decimals: 2), "How fast it turns about its second axis.")
        case .rateZ: Row(.number(.degreesPerSecond, decimals: 2), "How fast it turns about its third axis.")
        case .illuminance: Row(.number(.lux, decimals: 1), "The light around the device.")
        case .brightness:
            Row(.number(.percent, decimals: 1), "The light around the device, of a sensor that has no unit.")
        case .proximity: Row(.word(Proximity.self), "Whether something is near: near or far.")
        case .sign:
            Row(
                .integer, "1 when the first peak of a tap is along its axis, as in `+z`, and -1 against it, as in `-z`."
            )
        case .total: Row(.integer, "The number of steps since they were last counted from 0.")
        case .cadence: Row(.number(.ratio, decimals: 0), "Steps a minute.")
        case .band: Row(.text, "The name of the band of frequencies.")
        case .zone: Row(.integer, "The number of the band's limits that are exceeded.")
        case .velocity:
            Row(
                .number(.millimetresPerSecond, decimals: 3),
                "The root mean square of the velocity in the band, over a second.")
        case .vibration:
            Row(.number(.g, decimals: 5), "The root mean square of the acceleration in the band, over a second.")
        case .frequency: Row(.number(.hertz, decimals: 2), "The frequency with the greatest acceleration in the band.")
        case .measuredTo:
            Row(
                .number(.hertz, decimals: 1),
                "Up to where the band is measured, by the sampling rate and the chip's bandwidth.")
        case .machine: Row(.word(MachineState.self), "What the machine does: idle, running or spinning.")
        case .learned: Row(.number(.percent, decimals: 1), "How much of what is normal has been learned.")
        case .gap: Row(.number(.seconds, decimals: 3), "How long there were no samples.")
        case .channel: Row(.word(SampleKind.self), "What the samples measure.")
        case .cause:
            Row(
                .word(SampleLoss.Cause.self),
                "Why samples were lost: overrun, stall, read_error, suspend, wake or clock.")
        case .source:
            Row(
                .word(EventSource.self),
                "What has seen it, when that is no detector in samples: chip, by an event of its own.")
        case .reason: Row(.text, "Why it happened, in words.")
        case .active: Row(.integer, "The number of active sensors.")
        case .count: Row(.integer, "How many events, samples, taps or steps it stands for; lost samples are estimated.")
        case .joined:
            Row(
                .integer,
                "How many events the `coalesce` decorator has joined in it, where `count` says something else.")
        case .ordinal: Row(.integer, "Its number among the events of its kind; added by the `count` decorator.")
        case .needed: Row(.integer, "How many sensors had to agree.")
        case .sensors: Row(.text, "The names of the sensors that agreed.")
        case .handler: Row(.text, "The name of the handler.")
        case .program: Row(.text, "The program.")
        case .trigger: Row(.integer, "The number of the event that the program was run for.")
        case .status: Row(.integer, "The exit status of the program.")
        case .signal: Row(.integer, "The number of the signal that ended the program.")
        case .attempt: Row(.integer, "The attempt number, starting at 1.")
        case .retry: Row(.number(.seconds, decimals: 3), "The seconds until the next attempt.")
        case .output: Row(.text, "The end of what the program wrote.")
        }
    }
}

extension Figure.Name {
    /// A unit, whose raw value ends the names of its figures.
    package enum Unit: String, Sendable, CaseIterable {
        case g = "_g"
        case seconds = "_s"
        case metresPerSecondSquared = "_m_s2"
        case degrees = "_deg"
        case microtesla = "_uT"
        case degreesPerSecond = "_dps"
        case lux = "_lux"
        case percent = "_percent"
        case millimetresPerSecond = "_mm_s"
        case hertz = "_hz"
        /// A number without a unit.
        case ratio = ""

        /// The unit behind a number in lines for people.
        package var symbol: String {
            switch self {
            case .g: " g"
            case .seconds: " s"
            case .metresPerSecondSquared: " m/s²"
            case .degrees: "°"
            case .microtesla: " µT"
            case .degreesPerSecond: "°/s"
            case .lux: " lx"
            case .percent: " %"
            case .millimetresPerSecond: " mm/s"
            case .hertz: " Hz"
            case .ratio: ""
            }
        }
    }
}

extension EventKind.HomeEntity {
    /// The greatest acceleration.
    static let peak = Self.figure(.peak, "peak", "Peak acceleration", icon: "mdi:axis-arrow", decimals: 3)
    /// The root mean square of a velocity.
    static let velocity = Self.figure(
        .velocity, "velocity", "Vibration velocity", icon: "mdi:vibrate", deviceClass: "speed", decimals: 2)
    /// The strongest frequency of a vibration.
    static let frequency = Self.figure(
        .frequency, "frequency", "Vibration frequency", icon: "mdi:sine-wave", deviceClass: "frequency", decimals: 1)
}
