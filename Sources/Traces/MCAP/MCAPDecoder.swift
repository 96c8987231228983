import Binnacle

/// A message of an MCAP file, in its record.
struct MCAPMessage {
    let topic: UInt16
    let logNanoseconds: UInt64
    let data: UnsafeRawBufferPointer

    /// `nil` for a record that is too short.
    init?(_ record: UnsafeRawBufferPointer) {
        let head = MCAPRecord.prefixCount + 22
        guard record.count >= head else { return nil }
        topic = UInt16(littleEndian: record.loadUnaligned(fromByteOffset: MCAPRecord.prefixCount, as: UInt16.self))
        logNanoseconds = UInt64(
            littleEndian: record.loadUnaligned(fromByteOffset: MCAPChannel.logTime, as: UInt64.self))
        data = UnsafeRawBufferPointer(rebasing: record[head...])
    }
}

/// Decodes the messages of a topic: a row is a message, with a sample of each quantity that was measured.
final class MCAPDecoder: RowDecoder {
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]
    let endsEveryLine = true

    private let topic: MCAPTopicContents

    init(_ topic: MCAPTopicContents, path: String) {
        self.topic = topic
        contents = topic.streams.map { TraceFile.Content(sensor: topic.sensor, kind: $0.kind) }
        notices = topic.notices.map { TraceNotice(path: path, line: nil, column: nil, message: $0) }
    }

    func decode(_ line: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw? {
        row.removeAll()
        guard let (fields, time) = message(line) else {
            return RowFlaw(kind: .damaged, column: 1, message: "no message of its topic's type")
        }
        guard let time else { return RowFlaw(kind: .beyondTime, column: 1, message: "its stamp is no time") }
        row.timeNanoseconds = time
        var flaw: RowFlaw?
        for (stream, (kind, factor)) in topic.streams.enumerated() where fields.isMeasured(kind) {
            for axis in 0..<3 {
                let value = Float(fields.value(kind, axis) * factor)
                if value.magnitude <= TraceRow.largest {
                    row.set(stream, axis, value)
                } else {
                    row.reject(stream)
                    flaw =
                        value.isFinite
                        ? RowFlaw(kind: .beyondSensors, column: 1, message: "a value beyond any sensor")
                        : RowFlaw(kind: .notFinite, column: 1, message: "not a finite number")
                }
            }
        }
        if let kind = topic.absent.first(where: { fields.isMeasured($0) && fields.value($0, 0).isFinite }) {
            return RowFlaw(
                kind: .incomplete, column: 1,
                message:
                    "its \(kind.rawValue) begins after \(MCAPTopicContents.examinedCount) messages without: left out"
            )
        }
        return flaw
    }

    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64? { message(line)?.time }

    private func message(_ line: UnsafeBufferPointer<UInt8>) -> (fields: RosFields, time: Int64?)? {
        guard let message = MCAPMessage(UnsafeRawBufferPointer(line)),
            let fields = RosFields(message.data, of: topic.topic)
        else { return nil }
        return (fields, topic.time(of: message, fields))
    }

    func whyNoSample(rowCount: Int) -> (line: Int?, message: String) {
        (nil, "none of its \(rowCount) messages has a usable sample")
    }
}
