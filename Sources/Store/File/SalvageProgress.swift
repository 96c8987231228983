/// How far the copying of a damaged file is: written into the new file together with what was copied.
struct SalvageProgress: Equatable {
    /// Whether the events are copied from the last one on, because those behind ``reached`` cannot be read.
    var isBackwards = false
    /// The number up to which the events are copied.
    var reached: Int64 = .min
    /// The number from which on they are copied.
    var reachedBackwards: Int64 = .max
    /// How many events were copied.
    var eventCount = 0
    /// How many deliveries were copied.
    var deliveryCount = 0
    /// How many rows were there and could not be believed.
    var unreadableCount = 0

    /// Begins.
    init() {}

    /// Reads what ``text`` says; nothing that a file may say is too strange.
    init(_ text: String) {
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 6, numbers[3...].allSatisfy({ (0...Int64(StoreFile.highestSequence)).contains($0) })
        else { return }
        isBackwards = numbers[0] != 0
        (reached, reachedBackwards) = (numbers[1], numbers[2])
        (eventCount, deliveryCount, unreadableCount) = (Int(numbers[3]), Int(numbers[4]), Int(numbers[5]))
    }

    /// All of it, for a file.
    var text: String {
        "\(isBackwards ? 1 : 0) \(reached) \(reachedBackwards) \(eventCount) \(deliveryCount) \(unreadableCount)"
    }
}
