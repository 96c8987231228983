/// The messages that a broker has not answered yet, in the order of sending.
///
/// A broker answers in that order, or nearly: a message that was overtaken long ago gets no answer, also while others do.
struct MQTTUnanswered {
    /// The message IDs, each with when a later message was answered, on CLOCK_MONOTONIC.
    private var messages: [(id: Int32, overtakenTime: Int64?)] = []

    mutating func add(_ id: Int32) { messages.append((id, nil)) }

    /// Removes a message, which overtakes those before it if it was answered.
    mutating func remove(_ id: Int32, at answerTime: Int64?) {
        guard let place = messages.firstIndex(where: { $0.id == id }) else { return }
        for index in 0..<place where messages[index].overtakenTime == nil { messages[index].overtakenTime = answerTime }
        messages.remove(at: place)
    }

    /// The first message that was overtaken before a time.
    func firstOvertaken(before time: Int64) -> Int32? {
        messages.first { $0.overtakenTime.map { $0 < time } ?? false }?.id
    }
}
