import Binnacle
import Foundation
import LinuxSystem
import Store
import TestSupport
import Testing

/// A file whose bytes are not what was written: it is set aside as it is, and everything goes on.
@Suite struct DamageTests {
    static let pageSize = 4096
    static let eventCount: UInt64 = 300
    static let deliveryCount: UInt64 = 60

    /// A store with events and with deliveries that wait, and its log when it was not closed.
    private static func make(_ path: String, isClosed: Bool = true) throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        run.append(1...eventCount)
        run.submit(1...deliveryCount)
        run.submit(1...deliveryCount, for: "broker")
        try run.settle()
        if isClosed { run.end() }
        // Another process copies: closing any descriptor of the file would give up this process's locks on it.
        let names = isClosed ? ["events.db"] : ["events.db", "events.db-wal"]
        for name in names {
            let child = Child(["cp", folder.path + "/" + name, path + name.dropFirst("events.db".count)])
            try child.run()
            child.waitUntilExit()
            #expect(child.terminationStatus == 0)
        }
    }

    private static let closed = Result { try bytes { path in try make(path) } }
    private static let open = Result { try bytes { path in try make(path, isClosed: false) } }

    private static func bytes(_ make: (String) throws -> Void) throws -> [String: Data] {
        let folder = try StoreFolder()
        try make(folder.file)
        return try contents(folder)
    }

    private static func contents(_ folder: StoreFolder) throws -> [String: Data] {
        try Dictionary(
            uniqueKeysWithValues: folder.names.map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + $0)))
            })
    }

    /// Runs a store on files, and looks whether everything goes on.
    ///
    /// - Returns: Whether the file was set aside, and how much of what was in it is still there.
    @discardableResult
    private func run(_ files: [String: Data], _ comment: String) throws -> (
        wasSetAside: Bool, events: Int, deliveries: Int
    ) {
        let folder = try StoreFolder()
        for (name, data) in files { try data.write(to: URL(fileURLWithPath: folder.path + "/" + name)) }
        let run = try StoreRun(folder.file)
        run.attach()
        run.attach("broker", limit: 7)
        // The router numbers behind what the store says.
        let new = run.store.lastSequence + 1...run.store.lastSequence + 100
        // Where the file is used at all, and holds a line of an event or its notes.
        if run.store.statistics.failure == nil, files.values.contains(where: { $0.count > 4096 }) {
            #expect(new.lowerBound > Self.eventCount, "\(comment): numbers fell")
        }
        for number in new {
            run.append(number...number)
            run.submit(number...number)
        }
        // Whatever is damaged is met at the latest when all of it is read.
        var query = EventQuery()
        while case let page = try run.page(query), page.failure == nil, !page.isLast { query.after = page.through }
        try run.settle()
        #expect(run.published.numbers == Array(new), "\(comment)")
        let delivered = run.delivered().numbers
        #expect(delivered.filter { $0 >= new.lowerBound } == Array(new), "\(comment)")
        let old = delivered.filter { $0 < new.lowerBound }
        let reports = run.reports
        if run.store.statistics.failure == nil, reports.count < 3 {
            #expect(old == old.sorted() && Set(old).count == old.count, "\(comment): \(old)")
        }
        if !run.of(.storeFailed).isEmpty, run.store.statistics.failure == nil {
            try run.wait("the recovery; \(comment)") { !run.of(.storeRecovered).isEmpty }
        }
        let failure = run.store.statistics.failure
        let events = failure == nil ? try run.history().count : 0
        run.end()
        let after = try Self.contents(folder)
        let aside = after.filter { $0.key.contains(".damaged-") }
        #expect(!aside.isEmpty || run.of(.storeFailed).isEmpty || failure != nil, "\(comment): \(reports.map(\.json))")
        if let (name, data) = aside.first(where: { !$0.key.hasSuffix("-wal") }), reports.count < 4,
            run.of(.storeFailed).first?.timeNanoseconds == 0, isUntouched(reports)
        {
            #expect(data == files["events.db"], "\(comment): \(name) is not what it was")
        }
        if failure == nil {
            let next = try StoreRun(folder.file)
            let numbers = try next.history().numbers
            if next.of(.storeFailed).isEmpty {
                #expect(numbers.suffix(100) == Array(new), "\(comment): \(reports.map(\.json))")
            } else {
                // A damaged page that was not read before is met here: the file is set aside with all that is in it.
                #expect(try Self.contents(folder).keys.contains { $0.contains(".damaged-") }, "\(comment)")
            }
            next.end()
        }
        return (!aside.isEmpty, events, old.count)
    }

    /// Whether the damage was found before anything was written.
    private func isUntouched(_ reports: [Event]) -> Bool {
        reports.first?.text(.reason)?.contains("header") == true
    }

    @Test func damageAtRandomPlaces() throws {
        let template = try Self.closed.get()
        let size = try #require(template["events.db"]?.count)
        var generator = SeededGenerator(seed: 20)
        for round in 0..<TestForm.count(5, long: 20) {
            var files = template
            let place = Int.random(in: 0..<size, using: &generator)
            let length = min(Int.random(in: 1...64, using: &generator), size - place)
            for index in place..<place + length { files["events.db"]?[index] = .random(in: 0...255, using: &generator) }
            try run(files, "round \(round), \(length) bytes at \(place)")
        }
    }

    @Test func theHeaderOfEachPage() throws {
        let template = try Self.closed.get()
        let size = try #require(template["events.db"]?.count)
        var setAsideCount = 0
        let pages = stride(from: 1, to: size / Self.pageSize, by: TestForm.count(4, long: 1))
        for page in pages {
            var files = template
            for index in 0..<12 { files["events.db"]?[page * Self.pageSize + index] = UInt8(0xA5 ^ index) }
            if try run(files, "page \(page + 1)").wasSetAside { setAsideCount += 1 }
        }
        // Pages that are free, or that map pages, are not looked at.
        #expect(setAsideCount > Array(pages).count / 2)
    }

    @Test(arguments: [0, 8, 16, 18, 21, 24, 28, 40, 44, 56, 60, 68, 100, 105])
    func theHeaderOfTheFile(_ place: Int) throws {
        var files = try Self.closed.get()
        for index in place..<place + 4 { files["events.db"]?[index] ^= 0x5A }
        try run(files, "at \(place)")
    }

    @Test func aFirstPageThatIsGone() throws {
        for value in [UInt8(0), 0xFF] {
            var files = try Self.closed.get()
            files["events.db"]?.replaceSubrange(0..<Self.pageSize, with: Data(repeating: value, count: Self.pageSize))
            #expect(try run(files, "all \(value)").wasSetAside)
        }
    }

    /// Whatever is in the place of the first page: what lies behind it, or the log, tells whose it was.
    @Test func aFirstPageOfSomethingElse() throws {
        var generator = SeededGenerator(seed: 9)
        for template in [try Self.closed.get(), try Self.open.get()] {
            var files = template
            let random = (0..<Self.pageSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
            files["events.db"]?.replaceSubrange(0..<Self.pageSize, with: Data(random))
            #expect(try run(files, "random, \(files.count) files").wasSetAside)
        }
    }

    @Test(arguments: [1, 50, 99, 100, 2048, 4095, 4096, 4097, 6144, 40960, 50000])
    func cutOff(_ size: Int) throws {
        var files = try Self.closed.get()
        files["events.db"] = files["events.db"]?.prefix(size)
        let result = try run(files, "\(size) bytes")
        #expect(result.wasSetAside || size < 16)
    }

    @Test func cutToNothing() throws {
        var files = try Self.closed.get()
        files["events.db"] = Data()
        try #expect(run(files, "without a log").wasSetAside == false)
        files = try Self.open.get()
        files["events.db"] = Data()
        try #expect(run(files, "with a log").wasSetAside)
        files["events.db"] = nil
        try #expect(run(files, "gone, with a log").wasSetAside)
    }

    @Test func theLog() throws {
        let template = try Self.open.get()
        let size = try #require(template["events.db-wal"]?.count)
        #expect(size > 100_000, "nothing of it was merged")
        try #expect(run(template, "undamaged") == (false, 400, Int(Self.deliveryCount)))
        var generator = SeededGenerator(seed: 4)
        for round in 0..<TestForm.count(12, long: 20) {
            var files = template
            let place = round < 8 ? round * 4 : Int.random(in: 0..<size, using: &generator)
            for index in place..<min(size, place + 4) { files["events.db-wal"]?[index] ^= 0x5A }
            try run(files, "round \(round), the log at \(place)")
            files["events.db-wal"] = template["events.db-wal"]?.prefix(place)
            try run(files, "round \(round), the log cut off at \(place)")
        }
        var files = template
        files["events.db-wal"] = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
        try run(files, "a log of random bytes")
        files = try Self.closed.get()
        files["events.db-journal"] = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
        try run(files, "a journal of random bytes")
    }

    @Test func aDamageThatComesAgainAndAgainIsGivenUp() throws {
        let folder = try StoreFolder()
        let run = try StoreRun(folder.file)
        for round in UInt64(0)..<6 {
            run.append(round * 10 + 1...round * 10 + 10)
            run.submit(round * 10 + 1...round * 10 + 10)
            try run.settle()
            // While it is open; by another process, so that the store keeps its locks.
            for name in folder.names where name.hasPrefix("events.db") && !name.contains("damaged") {
                let child = Child([
                    "dd", "if=/dev/urandom", "of=\(folder.path)/\(name)", "bs=4096", "count=8", "conv=notrunc",
                ])
                try child.run()
                child.waitUntilExit()
            }
            _ = try run.page()
        }
        run.attach()
        try run.settle()
        #expect(run.published.numbers == Array(1...60))
        #expect(run.of(.storeFailed).count <= 5, "\(run.of(.storeFailed).map(\.json))")
        #expect(folder.names.filter { $0.contains("damaged") && !$0.hasSuffix("-wal") }.count <= 3)
    }
}
