import Binnacle
import LinuxSystem

/// What a live source does while a device rests.
///
/// The way is that of samples: the beginning of a rest is a value in a delivery, and its end is one in the delivery of the first
/// samples after it. Calls that may block run on worker threads, which answer through the mailbox.
extension LiveSource {
    /// Begins to watch over the rest of a device that was opened with an event for it.
    func beginRest(of sensor: LiveSensor) throws(SensorFailure) {
        guard let watch = sensor.openWatch else { return }
        do throws(SystemError) {
            try epoll.add(watch.events.raw, token: Self.eventToken + UInt64(sensor.number))
        } catch {
            throw SensorFailure(error)
        }
        sensor.eventClock = ClockMap(floor: sensor.lastTimeNanoseconds)
        let plan = watch.arming.plan
        // The suspends so far are known before the next one.
        if plan.staysArmed { nextSuspendLookNanoseconds = .min }
        sensor.request.sensor.chipReports = plan.reports
        sensor.stepCount = watch.firstStepCount
        sensor.steps = (.min, false)
        guard let settings = sensor.settings.chip, plan.type != nil else { return }
        sensor.rest = SleepWatch(settings, thresholdG: plan.thresholdG)
    }

    /// Ends a rest because the device is closed; the next opening begins awake.
    func endRest(of sensor: LiveSensor) {
        guard let watch = sensor.openWatch else { return }
        epoll.remove(watch.events.raw)
        sensor.request.sensor.chipReports = []
        if sensor.rest?.phase == .asleep, sensor.wakeUp == nil { sensor.wakeUp = WakeUp(onsetNanoseconds: nil) }
        sensor.rest = nil
        sensor.hasEvents = false
        sensor.freeFallNanoseconds = nil
    }

    /// Looks at the samples of a sensor that were just delivered; the first after a rest say that it has ended.
    func followRest(of sensor: LiveSensor, in delivery: SampleDelivery, at now: Int64) {
        if let wakeUp = sensor.wakeUp.take() {
            // A begin that still waits for the last samples comes before its end.
            for rest in rests where sensor.streamIDs.contains(rest.stream) { delivery.append(rest) }
            rests.removeAll { sensor.streamIDs.contains($0.stream) }
            let phase = SampleRest.Phase.ended(
                onsetNanoseconds: wakeUp.onsetNanoseconds, freeFallNanoseconds: sensor.freeFallNanoseconds.take())
            for (stream, place) in zip(sensor.streamIDs, sensor.places) {
                delivery.append(SampleRest(stream: stream, phase: phase))
                guard let onset = wakeUp.onsetNanoseconds, !delivery.batches[place].isEmpty else { continue }
                let first = delivery.batches[place].columns.times[0]
                let seconds = Units.seconds(from: onset, to: first)
                guard seconds > 0 else { continue }
                let count = sensor.reader?.intervalNanoseconds.map { max(1, Int(min(seconds * 1e9 / max($0, 1), 1e6))) }
                delivery.append(
                    SampleLoss(
                        stream: stream, cause: .wake, count: count, durationSeconds: seconds,
                        detail: "the chip noticed movement, and then its samples were switched on",
                        timeNanoseconds: first))
            }
        }
        guard let accelerometer = sensor.streams.firstIndex(where: { $0.kind == .accelerometer }) else { return }
        let columns = delivery.batches[sensor.places[accelerometer]].columns
        guard columns.count > 0, sensor.rest?.follow(columns) == true else { return }
        perform(.sleep, sensor, now)
    }

    /// Removes the beginnings of rests whose sensors have no more samples from before.
    func takeBegunRests() -> [SampleRest] {
        guard !rests.isEmpty else { return [] }
        let ready = sensors.filter(\.isReady).flatMap(\.streamIDs)
        let begun = rests.filter { !ready.contains($0.stream) }
        rests.removeAll { !ready.contains($0.stream) }
        return begun
    }

    /// Takes what the chip of a sensor has reported.
    func readEvents(of sensor: LiveSensor, at now: Int64) {
        sensor.hasEvents = false
        guard let watch = sensor.openWatch else { return }
        let phase = sensor.rest?.phase
        // While samples come, they tell more.
        let isResting = phase == .asleep || phase == .fallingAsleep || sensor.wakeUp != nil
        var (first, stepped): (Int64?, Int64?)
        do throws(SensorFailure) {
            try watch.read { record in
                let plan = watch.arming.plan
                let isOfSteps = plan.reports.contains(.steps) && record.isOfSteps
                let isCarried = plan.reports.contains(.activity) ? record.isCarried : nil
                let taps = plan.reports.contains(.taps) ? record.taps : nil
                let isFall = plan.seesFreeFall && record.isFall
                let isMovement = record.isOfAccelerometer && record.type != nil && record.type == plan.type
                guard isOfSteps || isCarried != nil || taps != nil || isFall || isMovement else { return }
                // Each once and in their order: a stamp that steps back is another clock.
                let time = sensor.eventClock.time(of: record.timeNanoseconds, arrival: now).nanoseconds
                if isOfSteps { stepped = time }
                if let isCarried { add(.activity, isCarried ? 1 : 0, of: sensor, at: time) }
                if let taps { add(.taps, taps, of: sensor, at: time) }
                // When a walk is over is seen in samples.
                if isFall || isMovement || isCarried == true { first = first ?? time }
                if isFall, isResting, sensor.freeFallNanoseconds == nil { sensor.freeFallNanoseconds = time }
            }
        } catch {
            return advance(sensor, .failed(error), at: now)
        }
        if let stepped { readSteps(of: sensor, watch, at: stepped) }
        guard let first else { return }
        advanceRest(of: sensor, .event(timeNanoseconds: first), at: now)
    }

    /// Passes on what the chip of a sensor has found itself.
    private func add(_ report: ChipReport, _ value: Int, of sensor: LiveSensor, at time: Int64) {
        guard let stream = sensor.streams.first(where: { $0.kind == .accelerometer }) else { return }
        rests.append(SampleRest(stream: stream.id, phase: .reported(report, value: value, timeNanoseconds: time)))
    }

    /// Reads on a worker thread how many steps the chip has counted, which its report does not say.
    ///
    /// One reading at a time keeps their order.
    private func readSteps(of sensor: LiveSensor, _ watch: ChipWatch, at time: Int64) {
        sensor.steps.reportedNanoseconds = time
        guard !sensor.steps.isReading else { return }
        sensor.steps.isReading = true
        let (mailbox, number, opening, arming) = (mailbox, sensor.number, watch.gate, watch.arming)
        onWorker {
            let count = Result { () throws(SensorFailure) in try arming.stepCount() }
            mailbox.post(.stepped(sensor: number, opening: opening, timeNanoseconds: time, count))
        }
    }

    /// Passes on the steps that a chip has counted since the last time.
    func takeSteps(_ result: Result<Int, SensorFailure>, of sensor: LiveSensor, at time: Int64) {
        sensor.steps.isReading = false
        switch result {
        case .failure(let failure): addNotice(sensor, "its steps cannot be read: \(failure.description)")
        case .success(let total):
            // A chip that was reset counts from 0.
            let count = total < sensor.stepCount ? total : total - sensor.stepCount
            sensor.stepCount = total
            if count > 0 { add(.steps, count, of: sensor, at: time) }
        }
        let later = sensor.steps.reportedNanoseconds
        if later > time, let watch = sensor.openWatch { readSteps(of: sensor, watch, at: later) }
    }

    /// Finds out what woke the machine, when a sensor was to do that and the machine was suspended.
    ///
    /// Where the processor has no state for a suspend to idle, all clocks go on, and only the kernel's count shows it. It is raised
    /// after processes go on: when a clock has shown the suspend, the next count is where to begin.
    func tellWhatWokeTheMachine(_ now: Int64, hasSlept: Bool = false) {
        nextSuspendLookNanoseconds = now + 1_000_000_000
        let isWatched = sensors.contains { $0.openWatch?.arming.plan.staysArmed == true }
        let before = suspendCount
        suspendCount = isWatched && !hasSlept ? MachineWakeUp.suspendCount(root: finder.root) : nil
        let isCounted = before != nil && suspendCount != nil && before != suspendCount
        guard isWatched, hasSlept || isCounted else { return }
        let (mailbox, root) = (mailbox, finder.root)
        onWorker { mailbox.post(.machineWoke(MachineWakeUp.text(root: root))) }
    }

    /// Passes an input to the state machine of a rest and performs the effects.
    func advanceRest(of sensor: LiveSensor, _ input: SleepWatch.Input, at now: Int64) {
        for effect in sensor.rest?.handle(input, at: now) ?? [] { perform(effect, sensor, now) }
        dueNanoseconds = .min
    }

    private func perform(_ effect: SleepWatch.Effect, _ sensor: LiveSensor, _ now: Int64) {
        guard case .open(.buffer(let buffer)) = sensor.held, let watch = buffer.watch else { return }
        let reader = sensor.reader as? IIOBufferReader
        switch effect {
        case .sleep:
            work(for: sensor, watch) { () throws(SensorFailure) in
                try buffer.changes.controls.write("0", to: "enable")
                try watch.arming.arm()
            } then: {
                .slept($0)
            }
        case .begin:
            reader?.sleep()
            // What the buffer still has is read before anything else.
            sensor.isReady = true
            rests += sensor.streamIDs.map { SampleRest(stream: $0, phase: .began) }
        case .wake(let onset):
            sensor.wakeUp = WakeUp(onsetNanoseconds: onset)
            // No sample was taken between the rest's beginning and what ended it, whatever a driver stamps.
            sensor.lastTimeNanoseconds = [sensor.lastTimeNanoseconds, onset].compactMap { $0 }.max()
            // The first samples may come before the worker's answer.
            reader?.forgetStamps(floor: sensor.lastTimeNanoseconds)
            let isLast = sensor.rest?.phase == .givenUp
            // First the samples, then the event, which has done its work.
            work(for: sensor, watch) { () throws(SensorFailure) in
                try buffer.changes.controls.write("1", to: "enable")
                if isLast { return watch.arming.restore() }
                if !watch.arming.plan.staysArmed { try watch.arming.disarm() }
            } then: {
                .woken($0)
            }
        case .resume: reader?.wake(at: now, floor: sensor.lastTimeNanoseconds)
        case .check:
            let (mailbox, number, opening) = (mailbox, sensor.number, watch.gate)
            onWorker {
                let values = Result { () throws(SensorFailure) in
                    let axes = try watch.values.read().axes[0]
                    return SIMD3(axes.x, axes.y, axes.z)
                }
                mailbox.post(.rested(sensor: number, opening: opening, .checked(values)))
            }
        case .fail(let failure): advance(sensor, .failed(failure), at: now)
        case .note(let text): addNotice(sensor, text)
        }
    }

    /// Runs what may block on a worker thread, which posts whether it was done.
    private func work(
        for sensor: LiveSensor, _ watch: ChipWatch, _ attempt: @escaping @Sendable () throws(SensorFailure) -> Void,
        then input: @escaping @Sendable (SensorFailure?) -> SleepWatch.Input
    ) {
        let (mailbox, number, opening) = (mailbox, sensor.number, watch.gate)
        onWorker {
            var failure: SensorFailure?
            do throws(SensorFailure) {
                try watch.gate.run(attempt)
            } catch {
                failure = error
            }
            mailbox.post(.rested(sensor: number, opening: opening, input(failure)))
        }
    }
}

extension LiveSensor {
    /// The event of the open device's chip; `nil` when none is used.
    var openWatch: ChipWatch? {
        guard case .open(.buffer(let buffer)) = held else { return nil }
        return buffer.watch
    }
}
