/// Lets so many messages pass in a time, and counts the others.
struct MessageLimit {
    private let most: Int
    private let periodNanoseconds: Int64
    private var beginNanoseconds: Int64 = .min
    private var count = 0

    /// Creates a limit.
    init(most: Int = 10, periodNanoseconds: Int64 = 10_000_000_000) {
        self.most = most
        self.periodNanoseconds = periodNanoseconds
    }

    /// What is to be said of a message.
    ///
    /// - Returns: The text, with the number of those that were left out before it; `nil` when it is left out.
    mutating func pass(_ text: @autoclosure () -> String, now: Int64) -> String? {
        var suffix = ""
        if beginNanoseconds == .min || now - beginNanoseconds >= periodNanoseconds {
            if count > most { suffix = " (\(count - most) more like this before it)" }
            beginNanoseconds = now
            count = 0
        }
        count += 1
        return count <= most ? text() + suffix : nil
    }
}
