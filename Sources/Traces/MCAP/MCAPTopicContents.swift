import Binnacle
import PlainText

/// What the first messages of a topic say about it: its sensor, what it measures, and in which units.
struct MCAPTopicContents {
    let topic: MCAPTopic
    /// The sensor's name: the one that a recording of ours states, or the frame's, or else the topic's.
    let sensor: String
    /// What is measured, each with the factor that makes the values m/s², µT or rad/s.
    private(set) var streams: [(kind: SampleKind, factor: Double)] = []
    /// What the messages could hold, and do not.
    private(set) var absent: [SampleKind] = []
    private(set) var notices: [String] = []
    /// Whether there is no message.
    let isEmpty: Bool
    /// Whether the messages have no stamp, so that the times at which they were logged are used.
    private var hasLogTimeAlone = false

    /// As many as are examined of other formats.
    static let examinedCount = 200

    /// The first messages of a topic.
    struct Examination {
        var count = 0
        /// The frames of the messages, in the order in which they come.
        var frames: [String] = []
        var hasStamp = false
        /// The columns of x, y and z.
        var axes: [SampleKind: [[Double]]] = [:]

        /// As many as a message names.
        private static let mostFrames = 8

        mutating func add(_ fields: RosFields, of message: RosMessage) {
            let frame = fields.frame.trimmingBlanks()
            if !frames.contains(frame), frames.count < Self.mostFrames { frames.append(frame) }
            count += 1
            hasStamp = hasStamp || fields.timeNanoseconds != 0
            for kind in message.kinds where fields.isMeasured(kind) {
                for axis in 0..<3 { axes[kind, default: [[], [], []]][axis].append(fields.value(kind, axis)) }
            }
        }
    }

    init(_ topic: MCAPTopic, sensor: String, _ first: Examination, hints: TraceHints) {
        self.topic = topic
        self.sensor = sensor
        isEmpty = first.count == 0
        let name = "topic \(topic.name.printable)"
        if first.count > 0, !first.hasStamp, topic.sensor == nil {
            hasLogTimeAlone = true
            notices.append("\(name): its messages have no stamp: the times at which they were logged are used")
        }
        if first.frames.count > 1 {
            notices.append(
                "\(name): its messages are of several frames, \(CSVLayout.list(first.frames)): if these are several "
                    + "devices, write a topic for each, because they are taken as one sensor")
        }
        for kind in topic.message.kinds {
            let axes = first.axes[kind] ?? [[], [], []]
            let isKnown = topic.kinds.isEmpty ? axes.joined().contains(where: \.isFinite) : topic.kinds.contains(kind)
            guard isKnown else {
                absent.append(kind)
                if !axes[0].isEmpty { notices.append("\(name): its \(kind.rawValue) has no number: left out") }
                continue
            }
            let isNegative = kind == .accelerometer && hints.hasGravitySign(sensor, isRecorded: topic.sensor != nil)
            let factor = factor(of: kind, VectorStatistics(axes[0], axes[1], axes[2]), name)
            streams.append((kind, isNegative ? -factor : factor))
        }
    }

    func time(of message: MCAPMessage, _ fields: RosFields) -> Int64? {
        hasLogTimeAlone ? Int64(exactly: message.logNanoseconds) : fields.timeNanoseconds
    }

    /// The factor of ROS's unit, or that of another one which alone fits the values: drivers write g, gauss or °/s as well.
    private mutating func factor(of kind: SampleKind, _ values: VectorStatistics, _ name: String) -> Double {
        let stated = RosMessage.factor(of: kind)
        let quantity = Quantity.of(kind)
        let median = values.medianMagnitude * stated
        guard topic.sensor == nil, values.isEnough,
            !quantity.possible.contains(median) || quantity.lacksGravity(values, in: .measured(kind, stated))
        else { return stated }
        if case .unit(let index) = quantity.judge(values), quantity.units[index].unit.factor != stated {
            notices.append(
                "\(name): the values of its \(kind.rawValue) are not in ROS's unit: taken as \(quantity.units[index].name)"
            )
            return quantity.units[index].unit.factor
        }
        notices.append(
            "\(name): the median length is \(VectorStatistics.text(median)) \(quantity.usual.name), where \(quantity.reference)"
        )
        return stated
    }
}

extension MCAPFile {
    /// A reader for each topic, because messages are logged some time after their stamps: they are merged by these.
    func readers(hints: TraceHints) throws(TraceError) -> [any TraceReader] {
        try examined(hints).enumerated().map { index, topic in
            RowReader(
                MCAPMessages(self, of: [topic.topic.id], tellsTorn: index == 0),
                decoder: MCAPDecoder(topic, path: file.path), place: .message, isCancelled: isCancelled)
        }
    }

    /// The topics that have samples.
    private func examined(_ hints: TraceHints) throws(TraceError) -> [MCAPTopicContents] {
        var first = topics.map { _ in MCAPTopicContents.Examination() }
        let messages = MCAPMessages(self, of: topics.map(\.id))
        do throws(TraceError) {
            while first.contains(where: { $0.count < MCAPTopicContents.examinedCount }), let line = try messages.next()
            {
                guard let message = MCAPMessage(UnsafeRawBufferPointer(line.bytes)),
                    let place = topics.firstIndex(where: { $0.id == message.topic }),
                    first[place].count < MCAPTopicContents.examinedCount,
                    let fields = RosFields(message.data, of: topics[place])
                else { continue }
                first[place].add(fields, of: topics[place].message)
            }
        } catch {
            // The readers tell it behind the samples before it.
            guard first.contains(where: { $0.count > 0 }) else { throw error }
        }
        let frames = zip(topics, first).map { topic, first in
            guard let frame = first.frames.first, !frame.isEmpty else {
                return String(topic.name.drop { $0 == "/" }.prefix { $0 != "/" })
            }
            return frame
        }
        let contents = topics.indices.map { index in
            // Two topics of a type and a frame are, for instance, the raw and the filtered values of a device.
            let isShared = topics.indices.contains { other in
                other != index && topics[other].message == topics[index].message && frames[other] == frames[index]
            }
            let name = isShared ? String(topics[index].name.drop { $0 == "/" }) : frames[index]
            return MCAPTopicContents(
                topics[index],
                sensor: topics[index].sensor.flatMap { $0.isEmpty ? nil : $0 }
                    ?? SensorName.sanitised(name, fallback: "sensor"),
                first[index], hints: hints)
        }.filter { !$0.streams.isEmpty && !$0.isEmpty }
        guard contents.isEmpty else { return contents }
        let names = topics.prefix(12).map(\.name.printable).joined(separator: ", ")
        let place = isComplete ? "" : " before its end, which is missing"
        throw TraceError(.data, path: file.path, "has no message of its topics (\(names)) with a number in it\(place)")
    }
}
