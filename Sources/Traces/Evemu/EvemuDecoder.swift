import Binnacle

/// Decodes an evemu recording of an accelerometer, optionally with a gyroscope: events change axes, and SYN_REPORT ends a frame,
/// which gives a sample of each sensor, with the stamp of the SYN_REPORT.
///
/// The kernel reports changes only. An axis keeps its value until it changes again, even if the frame of the change was
/// discarded. Types and codes are those of linux/input-event-codes.h.
final class EvemuDecoder: RowDecoder {
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]
    let endsEveryLine = true

    /// The lines of the header that describe ABS_X, ABS_Y and ABS_Z, for messages.
    private let axisLines: [Int]
    /// The factors of the accelerometer's axes to m/s², then those of the gyroscope's to rad/s, indexed by the axis' code:
    /// ABS_X to ABS_RZ are 0 to 5.
    private let factors: [Double]
    /// The last values of the axes, in the same order and units; meaningful where `isKnown`.
    private var values: [Float] = [0, 0, 0, 0, 0, 0]
    private var isKnown = [false, false, false, false, false, false]
    /// Whether an axis changed in this frame.
    private var hasChange = false
    /// Whether an event of this frame was lost or is damaged, so that its values may belong to different times.
    private var isDiscarding = false
    /// Whether axes without a known value were reported, which is done once for a file.
    private var hasComplained = false

    // The types EV_SYN and EV_ABS, and the codes SYN_REPORT and SYN_DROPPED of EV_SYN.
    private static let synchronisation = 0
    private static let absolute = 3
    private static let report = 0
    private static let dropped = 3

    private struct Event {
        let timeNanoseconds: Int64
        let type: Int
        let code: Int
        let value: Int32
    }

    init(_ head: EvemuHead, hints: TraceHints) {
        let kinds: [SampleKind] = head.unitsPerDegree == nil ? [.accelerometer] : [.accelerometer, .gyroscope]
        contents = kinds.map { TraceFile.Content(sensor: head.sensor, kind: $0) }
        notices = head.notices
        axisLines = head.lines
        let degrees = head.unitsPerDegree ?? []
        // Turn rates are not negated: the hint is about the sign convention of accelerations.
        let sign: Double = hints.hasGravitySign(head.sensor, isRecorded: false) ? -1 : 1
        factors =
            head.unitsPerG.map { sign * Double(Units.standardGravity) / Double($0) }
            + degrees.map { Double.pi / 180 / Double($0) }
    }

    func decode(_ line: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw? {
        row.removeAll()
        var column = 1
        guard let event = event(line, &column) else {
            // An event of the frame is missing.
            isDiscarding = true
            return RowFlaw(kind: .damaged, column: column, message: "no event ('E: SECONDS TYPE CODE VALUE')")
        }
        switch (event.type, event.code) {
        case (Self.absolute, factors.indices):
            values[event.code] = Float(Double(event.value) * factors[event.code])
            isKnown[event.code] = true
            hasChange = true
            return nil
        case (Self.synchronisation, Self.dropped):
            isDiscarding = true
            return RowFlaw(kind: .dropped, column: column, message: "SYN_DROPPED: the kernel lost events here")
        case (Self.synchronisation, Self.report):
            defer {
                hasChange = false
                isDiscarding = false
            }
            return hasChange && !isDiscarding ? finishFrame(event.timeNanoseconds, row) : nil
        default:
            return nil
        }
    }

    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64? {
        var column = 1
        return event(line, &column)?.timeNanoseconds
    }

    func whyNoSample(rowCount: Int) -> (line: Int?, message: String) {
        guard rowCount > 0 else { return (nil, "describes a device and has no event") }
        let unknown = (0..<3).filter { !isKnown[$0] }
        guard let first = unknown.first else { return (nil, "none of its \(rowCount) lines makes a usable sample") }
        let names = unknown.map { EvemuHead.axisNames[$0] }.joined(separator: " and ")
        return (
            axisLines[first],
            "no event says what \(names) was, because only changes are recorded: turn the device about while it is "
                + "recorded"
        )
    }

    /// Fills the row with the current values.
    ///
    /// The gyroscope has no sample until all of its axes are known. This is not reported, because the accelerometer is usable
    /// without it.
    private func finishFrame(_ timeNanoseconds: Int64, _ row: TraceRow) -> RowFlaw? {
        guard isKnown[0], isKnown[1], isKnown[2] else {
            guard !hasComplained else { return nil }
            hasComplained = true
            return RowFlaw(
                kind: .unknownAxis, column: 1,
                message: "no sample until each of ABS_X, ABS_Y, ABS_Z has changed once: their values are not known")
        }
        for axis in factors.indices where values[axis].magnitude > TraceRow.largest {
            return RowFlaw(
                kind: .beyondSensors, column: 1, message: "\(EvemuHead.axisNames[axis]) is beyond any sensor")
        }
        row.timeNanoseconds = timeNanoseconds
        for axis in 0..<3 { row.set(0, axis, values[axis]) }
        if factors.count > 3, isKnown[3], isKnown[4], isKnown[5] {
            for axis in 0..<3 { row.set(1, axis, values[3 + axis]) }
        }
        return nil
    }

    /// Parses a line; afterwards `column` is the position of the invalid field, or the position after the last one.
    private func event(_ line: UnsafeBufferPointer<UInt8>, _ column: inout Int) -> Event? {
        guard var fields = EvemuScanner(line), fields.consumeTag() == UInt8(ascii: "E") else { return nil }
        column = fields.column
        guard let time = fields.consumeSeconds() else { return nil }
        column = fields.column
        guard let type = fields.consumeHexadecimal() else { return nil }
        column = fields.column
        guard let code = fields.consumeHexadecimal() else { return nil }
        column = fields.column
        guard let value = fields.consumeInteger() else { return nil }
        column = fields.column
        guard fields.isAtEnd else { return nil }
        return Event(timeNanoseconds: time, type: type, code: code, value: value)
    }
}
