extension Router: SensorDelegate {
    /// Makes events of the failure and of what it leaves, and tells the router's delegate.
    public func sensor(_ sensor: Sensor, didDeactivateBecause reason: any Error) {
        let left = activeSensors
        collect(
            .sensorInactive, sensor,
            [
                Figure(.reason, .text("\(reason)")),
                Figure(.active, .integer(Int64(left.count))),
            ])
        if left.isEmpty {
            collect(.sensorsNoneLeft, nil, [])
            delegate?.routerDidLoseAllSensors(self)
        } else if left.count == 1 {
            collect(.sensorsOneLeft, left[0], [])
            delegate?.router(self, didFallToOneSensor: left[0])
        }
    }

    /// Makes an event of it.
    public func sensorDidActivate(_ sensor: Sensor) {
        collect(.sensorActive, sensor, [Figure(.active, .integer(Int64(activeSensors.count)))])
    }

    /// Makes an event of the gap.
    public func sensor(_ sensor: Sensor, didResumeAfter gap: SampleGap, at position: SamplePosition) {
        collect(
            Event(
                kind: .gap, sensor: sensor.name, timeNanoseconds: position.timeNanoseconds,
                figures: [
                    Figure(.channel, .text(gap.kind.rawValue)),
                    Figure(.gap, .number(gap.durationSeconds, decimals: 3)),
                ]),
            at: position)
    }

    /// A sensor that fails has no sample to point at: its event stands behind everything known so far.
    private func collect(_ kind: EventKind, _ sensor: Sensor?, _ figures: [Figure]) {
        let time = sensors.compactMap(\.lastTimeNanoseconds).max() ?? 0
        collect(
            Event(kind: kind, sensor: sensor?.name, timeNanoseconds: time, figures: figures),
            at: SamplePosition(timeNanoseconds: time, streamIndex: .max, sampleIndex: .max))
    }
}
