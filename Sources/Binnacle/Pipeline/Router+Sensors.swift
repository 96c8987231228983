/// The sensors in the pipeline: what becomes of each, and when only one is left.
extension Router {
    package var activeSensors: [Sensor] { sensors.filter(\.isActive) }

    /// Becomes the delegate of a sensor.
    package func watch(_ sensor: Sensor) {
        guard !sensors.contains(where: { $0 === sensor }) else { return }
        sensors.append(sensor)
        sensor.delegate = self
        lastActiveCount = activeSensors.count
    }

    /// Becomes the delegate of these sensors, and of no others any more.
    ///
    /// Those that go are not told of: nothing happened to them.
    package func watch(only wanted: [Sensor]) {
        for sensor in sensors where !wanted.contains(where: { $0 === sensor }) { sensor.delegate = nil }
        sensors.removeAll { sensor in !wanted.contains { $0 === sensor } }
        for sensor in wanted { watch(sensor) }
        lastActiveCount = activeSensors.count
        awaitsLastSensor = false
    }

    /// Reports when failures have left one active sensor that delivers, or none.
    func reviewSensors() {
        var count = 0
        for sensor in sensors where sensor.isActive { count += 1 }
        defer { lastActiveCount = count }
        guard let last = lastActiveCount, count < last || awaitsLastSensor else { return }
        let active = activeSensors
        awaitsLastSensor = false
        if let sensor = active.first {
            guard active.count == 1 else { return }
            // At the start, the search for the other one may end without a device.
            guard sensor.lastTimeNanoseconds != nil else {
                awaitsLastSensor = true
                return
            }
            collect(.sensorsOneLeft, sensor: sensor, [])
            delegate?.router(self, didFallToOneSensor: sensor)
        } else {
            collect(.sensorsNoneLeft, [])
            delegate?.routerDidLoseAllSensors(self)
        }
    }

    /// Takes an event of a sensor or of the sensors as a whole, that belongs to no sample.
    func collect(_ kind: EventKind, sensor: Sensor? = nil, _ figures: [Figure]) {
        var event = Event(kind: kind, sensor: sensor?.name, timeNanoseconds: 0, figures: figures)
        event.isSimulated = sensor?.isSimulated ?? sensors.contains(where: \.isSimulated)
        report(event)
    }
}

// The protocol documents what each method reports, and when.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: SensorDelegate {
    package func sensor(_ sensor: Sensor, didDeactivateBecause reason: any Error) {
        reportLosses(of: sensor)
        collect(.sensorInactive, sensor: sensor, [Figure(.reason, .text("\(reason)")), activeCount])
    }

    package func sensorDidActivate(_ sensor: Sensor) {
        collect(.sensorActive, sensor: sensor, [activeCount])
    }

    package func sensor(_ sensor: Sensor, didLose loss: SampleLoss, of kind: SampleKind, at position: SamplePosition?) {
        guard loss.cause.mayRecur else {
            reportLosses(of: sensor)
            return collect(.samplesLost, sensor, at: position, loss.finding(of: kind))
        }
        let known = recurringLosses.firstIndex { $0.last.stream == loss.stream && $0.last.cause == loss.cause }
        let index = known ?? recurringLosses.endIndex
        if known == nil { recurringLosses.append(RecurringLoss(sensor: sensor, kind: kind, last: loss)) }
        guard let due = recurringLosses[index].add(loss) else { return }
        collect(.samplesLost, sensor, at: position, due.finding(of: kind))
    }

    /// Reports the recurring losses that are due at a stamp; without one, all that were not reported, of one sensor or of all.
    package func reportLosses(of sensor: Sensor? = nil, dueAt timeNanoseconds: Int64? = nil) {
        for index in recurringLosses.indices where sensor == nil || sensor === recurringLosses[index].sensor {
            guard let due = recurringLosses[index].removeDue(at: timeNanoseconds) else { continue }
            let kind = recurringLosses[index].kind
            collect(.samplesLost, recurringLosses[index].sensor, at: nil, due.finding(of: kind))
        }
        recurringLosses.removeAll { $0.isOver }
    }

    package func sensor(_ sensor: Sensor, didResumeAfter gap: SampleGap, at position: SamplePosition) {
        collect(.gap, sensor, at: position, gap)
    }

    private var activeCount: Figure { Figure(.active, .integer(Int64(activeSensors.count))) }

    private func collect(
        _ kind: EventKind, _ sensor: Sensor, at position: SamplePosition?, _ result: some FigureSource
    ) {
        var event = Event(
            kind: kind, sensor: sensor.name, timeNanoseconds: position?.timeNanoseconds ?? 0, of: result)
        event.isSimulated = sensor.isSimulated
        if let position { collect(event, at: position) } else { report(event) }
    }
}

/// What a ``Router`` tells about its sensors as a whole; every method has an empty default.
package protocol RouterDelegate: AnyObject {
    /// Tells the delegate that one active sensor is left; called when the number of active sensors falls to one.
    func router(_ router: Router, didFallToOneSensor sensor: Sensor)
    /// Tells the delegate that no active sensor is left; called when the number of active sensors falls to none.
    func routerDidLoseAllSensors(_ router: Router)
}

// A method that a conforming type leaves out does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension RouterDelegate {
    package func router(_ router: Router, didFallToOneSensor sensor: Sensor) {}
    package func routerDidLoseAllSensors(_ router: Router) {}
}
