/// The order of the questions about clients: few at a time, for each account and in all, and the others wait.
///
/// The bus allows a connection 128 unanswered calls, and polkit may be slow: an account with many connections must delay no other.
package struct QuestionQueue {
    private var waiting: [(client: String, account: UInt32)] = []
    /// The unanswered questions of each account.
    private var asked: [UInt32: Int] = [:]
    /// The number of the last question about each account, while others wait.
    private var turns: [UInt32: Int] = [:]
    private var turn = 0

    /// The maximum number of unanswered questions about the clients of one account, and in all.
    package static let mostOfAccount = 4
    package static let most = 32

    package init() {}

    package mutating func add(_ client: String, of account: UInt32) { waiting.append((client, account)) }

    /// Removes and returns the client to ask about: of the accounts with the fewest questions, the one whose turn was
    /// longest ago, and of its clients the one that waits longest.
    package mutating func next() -> (client: String, account: UInt32)? {
        guard asked.values.reduce(0, +) < Self.most else { return nil }
        let index = waiting.indices.min { rank(waiting[$0].account) < rank(waiting[$1].account) }
        guard let index, rank(waiting[index].account).asked < Self.mostOfAccount else { return nil }
        let next = waiting.remove(at: index)
        asked[next.account, default: 0] += 1
        turn += 1
        turns[next.account] = turn
        if waiting.isEmpty { turns = [:] }
        return next
    }

    /// Counts a question as answered.
    package mutating func finish(_ account: UInt32) {
        asked[account] = asked[account].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    private func rank(_ account: UInt32) -> (asked: Int, turn: Int) { (asked[account] ?? 0, turns[account] ?? 0) }
}
