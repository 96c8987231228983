extension Router: SensorDelegate {
    /// Makes an event of it; what it leaves is told when everything that failed with it is known.
    public func sensor(_ sensor: Sensor, didDeactivateBecause reason: any Error) {
        collect(
            .sensorInactive, sensor: sensor,
            [Figure(.reason, .text("\(reason)")), Figure(.active, .integer(Int64(activeSensors.count)))])
    }

    /// Makes an event of it.
    public func sensorDidActivate(_ sensor: Sensor) {
        collect(.sensorActive, sensor: sensor, [Figure(.active, .integer(Int64(activeSensors.count)))])
    }

    /// Makes an event of the loss.
    public func sensor(_ sensor: Sensor, didLose loss: SampleLoss, of kind: SampleKind, at position: SamplePosition?) {
        var figures = [Figure(.channel, .text(kind.rawValue)), Figure(.cause, .text(loss.cause.rawValue))]
        if let count = loss.count { figures.append(Figure(.count, .integer(Int64(count)))) }
        if let seconds = loss.durationSeconds { figures.append(Figure(.gap, .number(seconds, decimals: 3))) }
        figures.append(Figure(.reason, .text(loss.detail)))
        guard let position else { return collect(.samplesLost, sensor: sensor, figures) }
        collect(.samplesLost, sensor, at: position, figures)
    }

    /// Makes an event of the gap.
    public func sensor(_ sensor: Sensor, didResumeAfter gap: SampleGap, at position: SamplePosition) {
        collect(
            .gap, sensor, at: position,
            [
                Figure(.channel, .text(gap.kind.rawValue)),
                Figure(.gap, .number(gap.durationSeconds, decimals: 3)),
            ])
    }

    private func collect(_ kind: EventKind, _ sensor: Sensor, at position: SamplePosition, _ figures: [Figure]) {
        var event = Event(
            kind: kind, sensor: sensor.name, timeNanoseconds: position.timeNanoseconds, figures: figures)
        event.isSimulated = sensor.isSimulated
        collect(event, at: position)
    }
}
