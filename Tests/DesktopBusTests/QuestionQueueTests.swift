import Foundation
import Testing

import DesktopBus

struct QuestionQueueTests {
    @Test("The table of SECURITY.md has the limits")
    func table() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../SECURITY.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for words in [
            "\(QuestionQueue.mostOfAccount) of an account, \(QuestionQueue.most) in all",
            "\(BusClient.mostCalls) of a program, \(BusClient.mostCallsOfAccount) of an account",
            "\(BusService.mostClientsOfAccount) of an account, \(BusService.mostClients) in all",
        ] {
            #expect(text.contains(words), "SECURITY.md does not have \(words)")
        }
    }

    @Test("Accounts with the fewest questions come first, and within one the client that waits longest")
    func order() {
        var queue = QuestionQueue()
        for number in 0..<10 { queue.add("a\(number)", of: 1) }
        queue.add("b0", of: 2)
        #expect(queue.next()?.client == "a0")
        #expect(queue.next()?.client == "b0")
        for number in 1..<QuestionQueue.mostOfAccount { #expect(queue.next()?.client == "a\(number)") }
        #expect(queue.next() == nil)
        queue.add("b1", of: 2)
        #expect(queue.next()?.client == "b1")
        queue.finish(1)
        #expect(queue.next()?.client == "a\(QuestionQueue.mostOfAccount)")
        #expect(queue.next() == nil)
    }

    @Test("Many accounts have few questions in all, and the next is that of the account without one")
    func all() {
        var queue = QuestionQueue()
        for account in UInt32(1)...100 {
            for number in 0..<10 { queue.add("\(account)/\(number)", of: account) }
        }
        var asked: [UInt32] = []
        while let (_, account) = queue.next() { asked.append(account) }
        #expect(asked == Array(1...UInt32(QuestionQueue.most)))
        queue.add("new", of: 1000)
        // Whose questions are answered has its next turn after all the others.
        for account in UInt32(1)...70 {
            queue.finish(account)
            #expect(queue.next()?.account == (account < 69 ? account + 32 : account == 69 ? 1000 : 1))
        }
    }
}
