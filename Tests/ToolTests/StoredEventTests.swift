import Foundation
import TestSupport
import Testing

/// A daemon that keeps its events, as those who ask it see it.
@Suite struct StoredEventTests {
    private let folder: TemporaryFolder
    private var socket: String { folder.path + "/binnacle.sock" }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A box that is shaken again and again: 200 Hz, about ten events a second.
    private func configuration(
        _ further: String = "", shake: String = "0.0045", socket: String = "binnacle.sock"
    ) -> String {
        """
        [store]
        path = "\(folder.path)/events.db"
        [socket]
        path = "\(folder.path)/\(socket)"
        [sensor.box]
        source = "simulated"
        model = "still"
        rate_hz = 500
        [motion.moved]
        accelerometer = "box"
        detect = ["shake"]
        gravity_s = 0.01
        shake_g = \(shake)
        shake_refractory_s = 0.001

        """ + further
    }

    private func append(to name: String) -> String {
        "[handler.append]\non = [\"shake\"]\ncommand = [\"/usr/bin/tee\", \"-a\", \"\(folder.path)/\(name)\"]\n"
    }

    private func ask(_ words: String..., socket name: String = "binnacle.sock") throws -> Binary.Result {
        try Binary.run(words + ["--socket", folder.path + "/" + name])
    }

    /// Asks until the answer is what is wanted.
    @discardableResult
    private func wait(
        _ words: [String], socket name: String = "binnacle.sock", until isWanted: (Binary.Result) throws -> Bool
    ) throws -> Binary.Result {
        var last = Binary.Result(status: -1, output: "", errors: "")
        try waitUntil("an answer; the last one: \(last)") {
            last = try Binary.run(words + ["--socket", folder.path + "/" + name])
            return try isWanted(last)
        }
        return last
    }

    /// Waits until a number of shakes are kept.
    private func waitForShakes(_ count: Int) throws {
        try wait(["events", "--kind", "shake", "--json"]) { try numbers($0.output).count >= count }
    }

    private func numbers(_ text: String) throws -> [Int] {
        try text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["seq"] as? Int)
        }
    }

    // MARK: - Status

    @Test func statusSaysHowTheDaemonIs() throws {
        #expect(try ask("status").status == 69)
        let run = try DaemonRun(configuration(append(to: "a"))).start()
        let text = try wait(["status"]) { result in
            result.status == 0 && result.output.contains("finished") && result.output.contains(" Hz, last sample 0.")
        }.output
        for part in [
            ": ok, running for", "configuration: \(run.folder)/binnacle.toml", "sensor box: active (simulated)",
            "accelerometer: ", " Hz, last sample 0.", "detector moved: running", "handler append (command): ",
            "store \(folder.path)/events.db: ", "/binnacle.sock: 1 connection, 0 refused",
        ] {
            #expect(text.contains(part), "\(part) is missing in:\n\(text)")
        }
        func object(_ result: Binary.Result) throws -> [String: Any]? {
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        }
        func handler(_ object: [String: Any]?) -> [String: Any]? { (object?["handlers"] as? [[String: Any]])?.first }
        // The store commits that an event is done with after the command has finished.
        let answer = try wait(["status", "--json"]) { result in
            guard result.status == 0 else { return false }
            return handler(try object(result))?["cursor"] as? Int ?? 0 > 0
        }
        let object = try #require(try object(answer))
        #expect(object["state"] as? String == "ok")
        #expect(object["pid"] as? Int == Int(run.process.processIdentifier))
        let sensors = try #require(object["sensors"] as? [[String: Any]])
        let stream = try #require((sensors.first?["streams"] as? [[String: Any]])?.first)
        // How near to 500 depends on who else wants the processor.
        #expect(try #require(stream["rate_hz"] as? Double) > 0)
        #expect(try #require(handler(object)?["cursor"] as? Int) > 0)
        #expect(run.stop() == 0)
        #expect(try ask("status").status == 69)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func rootReadsTheLogOfAnotherAccountWithItsRights() throws {
        let run = try DaemonRun(configuration()).start()
        try waitForShakes(10)
        kill(run.process.processIdentifier, SIGKILL)
        run.process.waitUntilExit()
        let store = folder.path + "/events.db"
        for name in [store, store + "-wal"] { try #require(chown(name, 1, 1) == 0) }
        chmod(folder.path, 0o711)
        let result = try Binary.run("events", "--json", "--store", store)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try numbers(result.output).count >= 10)
        // Only root can search this folder.
        chmod(folder.path, 0o700)
        let refused = try Binary.run("events", "--json", "--store", store)
        #expect(refused.status != 0 && refused.output.isEmpty, "\(refused.errors)")
    }

    @Test func rowsThatAreNoEventsAreCountedWhereTheFileIsRead() throws {
        let run = try DaemonRun(configuration()).start()
        try waitForShakes(10)
        #expect(run.stop() == 0)
        let store = folder.path + "/events.db"
        let whole = try Binary.run("events", "--json", "--store", store)
        #expect(whole.status == 0 && whole.errors.isEmpty, "\(whole.errors)")
        let child = Child([
            "sqlite3", store,
            "UPDATE events SET body = 'x' WHERE seq = 2; UPDATE events SET body = hex(zeroblob(9000000)) WHERE seq = 3;"
                + "UPDATE events SET kind = 'later', body = replace(body, '\"shake\"', '\"later\"') WHERE seq = 4",
        ])
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        let rest = try Binary.run("events", "--json", "--store", store)
        #expect(rest.status == 0 && rest.errors.contains("no events that this version knows: 3\n"), "\(rest.errors)")
        let left = whole.lines.indices.filter { !(1...3).contains($0) }.map { whole.lines[$0] }
        #expect(rest.lines == left)
        // What is missing is said of the events that are shown.
        let removal = Child(["sqlite3", store, "DELETE FROM events WHERE seq IN (5, 7)"])
        try removal.run()
        removal.waitUntilExit()
        let holed = try Binary.run("events", "--store", store)
        for number in [5, 7] { #expect(holed.errors.contains("missed 1 event (\(number)): "), "\(holed.errors)") }
        let last = try Binary.run("events", "-n", "2", "--store", store)
        #expect(last.status == 0 && !last.errors.contains("missed"), "\(last.errors)")
    }

    @Test func statusTellsAMonitorWhatIsWrong() throws {
        let failing = """
            [handler.fail]
            on = ["shake"]
            command = ["/bin/false"]
            """
        let run = try DaemonRun(configuration(failing)).start()
        let result = try wait(["status"]) { $0.output.contains("wrong: handler 'fail': /bin/false: exit status 1") }
        #expect(result.status == 1)
        try run.configure("[sensor.box\n")
        run.reload()
        try wait(["status"]) { $0.output.contains("refused since: ") }
        #expect(run.stop() == 0)
    }

    /// A monitor must not hang with what it watches.
    @Test func aDaemonThatDoesNotTurnIsNotWaitedForLong() throws {
        let run = try DaemonRun(configuration()).start()
        try wait(["status"]) { $0.status == 0 }
        try run.process.freeze()
        let result = try ask("status")
        let change = try ask("reset", "none")
        kill(run.process.processIdentifier, SIGCONT)
        #expect(result.status == 69 && change.status == 69)
        #expect(result.errors.contains("does not answer within 5 s"), "\(result.errors)")
        #expect(change.errors.contains("it may do that later"), "\(change.errors)")
        #expect(run.stop() == 0)
    }

    // MARK: - Restart and reload

    @Test func numbersGoOnAfterARestart() throws {
        for round in 1...3 {
            let run = try DaemonRun(configuration(append(to: "a"))).start()
            try wait(["status"]) { $0.status == 0 && $0.output.contains("5 finished") }
            #expect(run.stop() == 0, "round \(round)")
        }
        let result = try Binary.run("events", "--json", "--store", folder.path + "/events.db")
        #expect(result.status == 0, "\(result.errors)")
        let kept = try numbers(result.output)
        #expect(kept == Array(1...kept.count), "no hole and nothing twice, over three runs")
    }

    /// Its handlers would do everything a second time.
    @Test func aSecondDaemonWithTheSameStoreEnds() throws {
        let first = try DaemonRun(configuration(append(to: "a"))).start()
        try waitForShakes(1)
        let second = try DaemonRun(configuration(append(to: "b"), socket: "other")).start()
        second.process.waitUntilExit()
        #expect(second.process.terminationStatus == 75)
        let words = try second.errors.text()
        #expect(words.contains("another daemon has this event store"), "\(words)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/b"), "it has handled nothing")
        // A kill gives the store up.
        first.process.end()
        let third = try DaemonRun(configuration(append(to: "a"))).start()
        try wait(["status"]) { $0.status == 0 }
        #expect(third.stop() == 0)
    }

    /// One who may read the store can lock the daemons' byte for reading, and keep it.
    @Test func aReadersLockKeepsNoDaemonFromTheStore() throws {
        let before = try DaemonRun(configuration(append(to: "a"))).start()
        try waitForShakes(1)
        #expect(before.stop() == 0)
        let path = folder.path + "/events.db"
        let reader = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        try lockStoreByte(of: reader, F_RDLCK)
        let first = try DaemonRun(configuration(append(to: "a"))).start()
        try waitForShakes(1)
        #expect(try FileManager.default.attributesOfItem(atPath: path + "-lock")[.posixPermissions] as? Int == 0o600)
        // While the reader has its lock, and after it has released it.
        for type in [F_RDLCK, F_UNLCK] {
            try lockStoreByte(of: reader, type)
            let second = try DaemonRun(configuration(append(to: "b"), socket: "other")).start()
            second.process.waitUntilExit()
            #expect(second.process.terminationStatus == 75)
            let words = try second.errors.text()
            #expect(words.contains("another daemon has this event store, by its lock on"), "\(words)")
            #expect(words.contains("/events.db-lock; give"), "\(words)")
        }
        #expect(first.stop() == 0)
        let next = try DaemonRun(configuration(append(to: "a"))).start()
        try wait(["status"]) { $0.status == 0 }
        #expect(next.stop() == 0)
    }

    /// What leaves the daemon carries the key by which a repetition is known.
    @Test func eventsCarryTheIdentityOfTheirNumbers() throws {
        let file = """
            [handler.file]
            on = ["shake"]
            file = "\(folder.path)/file"
            [handler.words]
            on = ["shake"]
            command = ["/bin/sh", "-c", "echo $BINNACLE_IDENTITY $1 $BINNACLE_SEQ >>\(folder.path)/words", "-", "{identity}"]
            [handler.out]
            on = ["shake"]
            stdout = true

            """
        let run = try DaemonRun(configuration(append(to: "a") + file)).start()
        func lines(_ name: String) -> [String] {
            ((try? String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)) ?? "").split(separator: "\n").map(
                String.init)
        }
        try waitUntil("the handlers") { ["a", "file", "words"].allSatisfy { lines($0).count >= 2 } }
        try run.waitForEvent("shake", count: 2)
        let socket = try ask("events", "--kind", "shake", "--json").output.split(separator: "\n").map(String.init)
        func identity(_ line: String) throws -> String {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["identity"] as? String)
        }
        let known = try identity(try #require(socket.first))
        #expect(known.count == 32)
        for name in ["a", "file"] { #expect(try identity(lines(name)[0]) == known) }
        #expect(lines("words")[0].hasPrefix("\(known) \(known) "))
        #expect(try run.events().first?["identity"] as? String == known)
        #expect(run.stop() == 0)
        // It stays with the store.
        let next = try DaemonRun(configuration()).start()
        try waitForShakes(socket.count + 1)
        let last = try ask("events", "--kind", "shake", "--json").output.split(separator: "\n").map(String.init).last
        #expect(try identity(try #require(last)) == known)
        #expect(next.stop() == 0)
    }

    /// A lease on the empty file has the daemon wait in open(), as a disk does that does not answer.
    @Test func aDiskThatDoesNotAnswerHoldsUpNothing() throws {
        let path = folder.path + "/events.db"
        let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o640)
        try #require(file >= 0)
        defer { close(file) }
        let (setLease, setSignal) = (Int32(1024), Int32(10))
        // The kernel reports the waiting daemon by a signal, which by default would end this process.
        try #require(fcntl(file, setSignal, SIGURG) == 0)
        try #require(fcntl(file, setLease, Int32(F_WRLCK)) == 0)
        let run = try DaemonRun(configuration("[handler.out]\non = [\"shake\"]\nstdout = true\n")).start()
        try run.waitForMessage("not open after 5 s")
        try run.waitForEvent("shake", count: 2)
        #expect(try run.events().compactMap { $0["seq"] as? Int }.first == 1, "the held events come first")
        try wait(["status"]) { $0.status >= 0 && $0.output.contains("sensor box: active") }
        try #require(fcntl(file, setLease, Int32(F_UNLCK)) == 0)
        try waitForShakes(2)
        #expect(run.stop() == 0)
        let numbers = try run.events().compactMap { $0["seq"] as? Int }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    }

    /// The old handler has its events still when the new one is there, and finishes what it has begun.
    @Test func whatWaitsForAHandlerIsToldAtTheEnd() throws {
        let slow = "[handler.slow]\non = [\"shake\"]\ncommand = [\"/usr/bin/sleep\", \"100\"]\n"
        let run = try DaemonRun(configuration(slow)).start()
        try waitForShakes(3)
        #expect(run.stop() == 0)
        #expect(try run.errors.text().contains("handler 'slow': events in the store that wait for its next start: "))
    }

    @Test func whatWaitsForARemovedHandlerIsSaid() throws {
        let slow = "[handler.slow]\non = [\"shake\"]\ncommand = [\"/usr/bin/sleep\", \"100\"]\n"
        let run = try DaemonRun(configuration(slow)).start()
        try waitForShakes(3)
        try run.configure(configuration())
        run.reload()
        let words = "handler 'slow': events in the store that no handler of this name takes any more: "
        try run.waitForMessage(words + "up to ")
        #expect(run.stop() == 0)
        #expect(try run.errors.text().components(separatedBy: words).count == 3)
        #expect(try !run.errors.text().contains("its next start"))
    }

    @Test func aReloadThatExchangesAHandlerLosesNothing() throws {
        func append(to name: String) -> String {
            "[handler.append]\non = [\"shake\"]\nqueue = 3\n"
                + "command = [\"/bin/sh\", \"-c\", \"sleep 0.05; cat >>\(folder.path)/\(name)\"]\n"
        }
        let run = try DaemonRun(configuration(append(to: "0"))).start()
        try wait(["status"]) { $0.status == 0 }
        for round in 1...10 {
            try waitForShakes(2 * round)
            try run.configure(configuration(append(to: String(round))))
            run.reload()
            try run.waitForMessage("configuration reloaded", count: round)
        }
        try run.configure(configuration(append(to: "11"), shake: "9"))
        run.reload()
        try run.waitForMessage("configuration reloaded", count: 11)
        let shakes = try numbers(try ask("events", "--kind", "shake", "--json").output)
        #expect(shakes.count > 10)
        func handled() throws -> [Int] {
            try (0...11).flatMap { round in
                try numbers((try? String(contentsOfFile: "\(folder.path)/\(round)", encoding: .utf8)) ?? "")
            }
        }
        // As long as it goes on: how many shakes there were, and how long a command takes, is the machine's affair.
        var done = try handled()
        var patience = 600
        while done.count < shakes.count, patience > 0 {
            usleep(50_000)
            let now = try handled()
            patience = now.count > done.count ? 600 : patience - 1
            done = now
        }
        #expect(done == shakes, "each once, in order, from one handler to the next: \(Set(shakes).subtracting(done))")
        #expect(run.stop() == 0)
    }

    /// A subscriber that is far behind when the daemon ends gets the rest from the next one.
    @Test func aSubscriberWhoIsBehindLosesNothingByARestart() throws {
        let flood = configuration(shake: "0.0035").replacingOccurrences(of: "rate_hz = 500", with: "rate_hz = 8000")
        let first = try DaemonRun(flood).start()
        try wait(["status"]) { result in
            let words = result.output.split(whereSeparator: \.isWhitespace)
            return words.firstIndex(of: "event").flatMap { Int(words[$0 + 1]) }.map { $0 > 3000 } ?? false
        }
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let words = try TemporaryFile()
        let subscriber = Binary.process(["on", "any", "--after", "0", "--json", "--socket", socket])
        subscriber.standardOutput = FileHandle(fileDescriptor: ends[1])
        subscriber.standardError = try words.writer()
        try subscriber.run()
        close(ends[1])
        defer { subscriber.end() }
        // It has begun, and its own output is what it waits for.
        try wait(["status"]) { $0.output.contains("subscriber: process \(subscriber.processIdentifier)") }
        #expect(first.stop() == 0)
        let second = try DaemonRun(configuration(shake: "9")).start()
        try wait(["status"]) { $0.status == 0 }
        let last = try #require(try numbers(try ask("events", "--json").output).last)
        var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            var ready = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            try #require(poll(&ready, 1, 60_000) == 1, "nothing more comes")
            // Foundation would wait for as much as it was asked for.
            let count = read(ends[0], &piece, piece.count)
            let said = try words.text()
            try #require(count > 0, "it has ended: \(said)")
            text += piece[..<count]
            let lines = text.suffix(4096).split(separator: UInt8(ascii: "\n"))
            guard text.last == UInt8(ascii: "\n"), let line = lines.last else { continue }
            if try numbers(String(decoding: line, as: UTF8.self)) == [last] { break }
        }
        #expect(try numbers(String(decoding: text, as: UTF8.self)) == Array(1...last))
        #expect(!(try words.text()).contains("missed"))
        #expect(second.stop() == 0)
    }

    @Test func aReloadMovesTheSocket() throws {
        let run = try DaemonRun(configuration()).start()
        try waitForShakes(1)
        try run.configure(configuration(socket: "other"))
        let before = try numbers(try ask("events", "--json").output)
        #expect(!before.isEmpty)
        run.reload()
        try run.waitForMessage("configuration reloaded")
        try wait(["status"], socket: "other") { $0.status == 0 }
        try wait(["status"]) { $0.status == 69 }
        let after = try numbers(try ask("events", "--json", socket: "other").output)
        #expect(after.starts(with: before) && after == Array(1...after.count), "what was before is still there")
        #expect(run.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/other"))
    }

    @Test func aSocketThatCannotBeUsedLeavesTheOldOne() throws {
        let run = try DaemonRun(configuration()).start()
        try wait(["status"]) { $0.status == 0 }
        for wrong in ["no-such-folder/a/b", "binnacle.sock\"\ngroup = \"no-such-group"] {
            try run.configure(configuration(socket: wrong))
            run.reload()
            let status = try wait(["status"]) { $0.status == 1 }
            #expect(status.output.contains("the socket: "), "\(status.output)")
            #expect(try ask("events", "--kind", "shake").status == 0)
        }
        try run.waitForMessage("the socket \(socket) stays open as it was", count: 2)
        // What the section had before is in force, and nothing is opened for it.
        try run.configure(configuration())
        run.reload()
        try wait(["status"]) { $0.status == 0 }
        #expect(run.stop() == 0)
    }

    /// As when its folder is made again at a login; a reload does not wait for the next look.
    @Test func aSocketThatWasRemovedIsMadeAgain() throws {
        let run = try DaemonRun(configuration()).start()
        try wait(["status"]) { $0.status == 0 }
        try FileManager.default.removeItem(atPath: socket)
        run.reload()
        try run.waitForMessage("was gone; the socket is open again")
        try wait(["status"]) { $0.status == 0 }
        // A file that is no socket is left alone, and said once.
        try FileManager.default.removeItem(atPath: socket)
        try "precious".write(toFile: socket, atomically: true, encoding: .utf8)
        run.reload()
        try run.waitForMessage("is no socket and is left alone")
        #expect(try String(contentsOfFile: socket, encoding: .utf8) == "precious")
        #expect(run.stop() == 0)
        #expect(try String(contentsOfFile: socket, encoding: .utf8) == "precious")
    }

    @Test func aSocketThatAnotherDaemonHasIsOpenedWhenThatHasEnded() throws {
        let text = """
            [sensor.box]
            source = "simulated"
            model = "still"
            [motion.moved]
            accelerometer = "box"
            [socket]
            path = "\(socket)"
            """
        let first = try DaemonRun(text).start()
        try wait(["status"]) { $0.status == 0 }
        let second = try DaemonRun(text).start()
        try second.waitForMessage("another process answers on this socket")
        #expect(first.stop() == 0)
        try second.waitForMessage("the socket \(socket) is open")
        try wait(["status"]) { $0.status == 0 }
        #expect(second.stop() == 0)
    }

    @Test func aConfigurationThatIsRefusedIsAProblem() throws {
        let run = try DaemonRun(configuration()).start()
        try wait(["status"]) { $0.status == 0 }
        try run.configure(configuration("[[["))
        run.reload()
        try wait(["status"]) { $0.status == 1 && $0.output.contains("wrong: the configuration is refused") }
        try run.configure(configuration())
        run.reload()
        try wait(["status"]) { $0.status == 0 }
        #expect(run.stop() == 0)
    }

    /// The second of two reloads comes while the first one's socket is opened.
    @Test func reloadsOneAfterAnotherEndWithTheLastSocketAlone() throws {
        let run = try DaemonRun(configuration()).start()
        try wait(["status"]) { $0.status == 0 }
        // Threads that the first reload starts stay.
        try run.configure(configuration(socket: "first"))
        run.reload()
        try wait(["status"], socket: "first") { $0.status == 0 }
        let count = try waitForStill(run)
        for number in 1...30 {
            try run.configure(configuration(socket: "s\(number % 3)"))
            run.reload()
            if number % 4 == 0 { usleep(20_000) }
        }
        try run.configure(configuration(socket: "last"))
        run.reload()
        try wait(["status"], socket: "last") { $0.status == 0 }
        try waitUntil("the other sockets are gone") {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return names.filter { !$0.hasPrefix("events.db") } == ["last"]
        }
        try waitUntil("their threads and descriptors are gone") {
            run.descriptorCount <= count.descriptors && run.threadCount <= count.threads
        }
        #expect(!(try run.errors.text().contains("the socket: ")))
        #expect(run.stop() == 0)
    }

    /// The numbers of descriptors and threads without a connection.
    private func waitForStill(_ run: DaemonRun) throws -> (descriptors: Int, threads: Int) {
        var last = (descriptors: 0, threads: 0)
        try waitUntil("the numbers of descriptors and threads stay") {
            let before = last
            last = (run.descriptorCount, run.threadCount)
            usleep(100_000)
            return before == last && before == (run.descriptorCount, run.threadCount)
        }
        return last
    }

    // MARK: - Libraries

    /// What a configuration does not ask for is not in memory.
    @Test func librariesAreLoadedOnlyWhenAskedFor() throws {
        func libraries(_ configuration: String, _ message: String?) throws -> String {
            let run = try DaemonRun(configuration).start()
            if let message { try run.waitForMessage(message) } else { try wait(["status"]) { $0.status == 0 } }
            defer { run.stop() }
            // Foundation's way of reading a whole file takes a first piece of this one for all of it.
            let file = try #require(FileHandle(forReadingAtPath: "/proc/\(run.process.processIdentifier)/maps"))
            return String(decoding: try #require(try file.readToEnd()), as: UTF8.self)
        }
        let bare = """
            [sensor.box]
            source = "simulated"
            model = "shake"
            [motion.moved]
            accelerometer = "box"
            [handler.note]
            on = ["shake", "handler.failed"]
            log = true

            """
        let none = try libraries(bare, "shake")
        #expect(!none.contains("libsqlite3") && !none.contains("libmosquitto") && !none.contains("libssl"))
        let kept = try libraries(configuration(), nil)
        #expect(kept.contains("libsqlite3") && !kept.contains("libmosquitto"))
        // No broker answers there.
        let told = try libraries(
            bare + "[handler.fleet]\non = [\"shake\"]\nmqtt = \"mqtt://localhost:1\"\n", "handler.failed")
        #expect(told.contains("libmosquitto") && !told.contains("libsqlite3"))
    }
}
