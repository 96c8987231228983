extension Router: SensorDelegate {
    /// Makes an event of it; what it leaves is told when everything that failed with it is known.
    public func sensor(_ sensor: Sensor, didDeactivateBecause reason: any Error) {
        collect(
            .sensorInactive, sensor: sensor.name,
            [Figure(.reason, .text("\(reason)")), Figure(.active, .integer(Int64(activeSensors.count)))])
    }

    /// Makes an event of it.
    public func sensorDidActivate(_ sensor: Sensor) {
        collect(.sensorActive, sensor: sensor.name, [Figure(.active, .integer(Int64(activeSensors.count)))])
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
}
