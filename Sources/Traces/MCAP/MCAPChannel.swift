import Binnacle

/// A topic of an MCAP file: the messages of one sensor and type, and what an index has to know about them.
struct MCAPChannel {
    /// The sensor's name, which is the frame of the messages.
    let sensor: String
    let message: RosMessage
    let topic: String
    /// A message record without a sample: nothing in it is measured.
    let blank: [UInt8]
    /// The number of messages in the file.
    var messageCount: UInt64 = 0
    /// The stamps and places of the messages of the chunk.
    var index: [(timeNanoseconds: UInt64, offset: UInt64)] = []
    /// The kinds of the samples of the chunk's last stamp, and the number of its messages.
    var lastKinds: [SampleKind] = []
    var lastCount = 0

    /// Which of the last stamp's messages a sample of a kind belongs to.
    func turn(of kind: SampleKind) -> Int { lastKinds.count { $0 == kind } }

    mutating func endStamp() {
        lastKinds.removeAll(keepingCapacity: true)
        lastCount = 0
    }

    /// The place of the sequence number in a message record, and of the log time, which the time of publication follows.
    static let (sequence, logTime) = (11, 15)
    /// The place of the message itself, behind its encapsulation, where its stamp is.
    static let stamp = MCAPRecord.prefixCount + 22 + RosMessage.encapsulation.count

    /// The place of the message's first vector.
    let body: Int

    init(sensor: String, message: RosMessage, topic: String, id: UInt16) {
        self.sensor = sensor
        self.message = message
        self.topic = topic
        body = Self.stamp + RosMessage.headerCount(frame: sensor)
        var record = MCAPRecord(.message)
        record.add(id)
        record.add(zeros: 4 + 8 + 8)
        for byte in RosMessage.encapsulation { record.add(byte) }
        record.add(zeros: 8)
        record.add(sensor + "\0")
        record.add(zeros: body + message.bodyCount - record.bytes.count)
        var bytes = record.finished
        for place in message.covariances { bytes.store((-1.0).bitPattern, at: body + place) }
        if message == .imu { bytes.store(1.0.bitPattern, at: body + RosMessage.orientationW) }
        blank = bytes
    }

    /// Makes the channels of streams, and the channel of each stream.
    static func all(of contents: [(sensor: String, kind: SampleKind)]) -> (channels: [MCAPChannel], places: [Int]) {
        var sensors: [String] = []
        for content in contents where !sensors.contains(content.sensor) { sensors.append(content.sensor) }
        let names = SensorName.unique(sensors.map { (topicPart($0), "sensor") })
        var channels: [MCAPChannel] = []
        var places: [Int] = []
        for content in contents {
            let message = RosMessage(of: content.kind)
            if let place = channels.firstIndex(where: { $0.sensor == content.sensor && $0.message == message }) {
                places.append(place)
                continue
            }
            let name = zip(sensors, names).first { $0.0 == content.sensor }?.1 ?? ""
            places.append(channels.count)
            channels.append(
                MCAPChannel(
                    sensor: content.sensor, message: message, topic: "/\(name)/\(message.topicSuffix)",
                    id: UInt16(channels.count)))
        }
        return (channels, places)
    }

    /// A name as ROS 2 allows it in a topic: letters, digits and single underscores, neither a digit nor an underscore first.
    private static func topicPart(_ name: String) -> String {
        let words = name.unicodeScalars.split { scalar in
            !scalar.isASCII || !(scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
        }
        let part = words.map { String($0) }.joined(separator: "_")
        return part.first?.isNumber == true ? "sensor_\(part)" : part
    }
}
