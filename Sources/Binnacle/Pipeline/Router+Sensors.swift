// What each method is told, and when, stands with the protocol.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: SensorDelegate {
    package func sensor(_ sensor: Sensor, didDeactivateBecause reason: any Error) {
        collect(.sensorInactive, sensor: sensor, [Figure(.reason, .text("\(reason)")), activeCount])
    }

    package func sensorDidActivate(_ sensor: Sensor) {
        collect(.sensorActive, sensor: sensor, [activeCount])
    }

    package func sensor(_ sensor: Sensor, didLose loss: SampleLoss, of kind: SampleKind, at position: SamplePosition?) {
        collect(.samplesLost, sensor, at: position, StreamLoss(loss: loss, kind: kind))
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
