import Foundation
import TestSupport
import Testing

/// Reading the configuration again while samples flow.
@Suite struct ReloadTests {
    private static let box = """
        [sensor.box]
        source = "iio"
        match = { name = "accel_box" }
        [motion.moved]
        accelerometer = "box"
        detect = ["motion"]
        measure = "magnitude"

        """

    /// One sensor and a detector that say the same in every version, and a handler that shows each of its samples.
    private static let constant =
        box + """
            threshold_g = 0.1
            quiet_s = 60
            update_interval_s = 0.000000001
            [handler.out]
            on = ["motion.moving", "samples.lost", "gap", "events.dropped"]
            stdout = true

            """

    private static let simulated = """
        [sensor.box]
        source = "simulated"
        model = "shake"
        [motion.moved]
        accelerometer = "box"

        """

    /// What changes: another sensor with other settings, decorators that come and go, handlers that are exchanged.
    private static func version(_ number: Int) -> String {
        let rate = number % 2 == 0 ? 100 : 50
        let decorators = number % 3 == 0 ? "" : "decorate = [{ count = { every = \(number % 3) } }]\n"
        let other = """
            [sensor.lid]
            source = "iio"
            match = { name = "accel_lid" }
            rate_hz = \(rate)
            [motion.lifted]
            accelerometer = "lid"

            """
        let handler = """
            [handler.note\(number % 4)]
            on = ["sensor.inactive", "shake"]
            log = true
            \(decorators)
            [handler.run]
            on = ["shake"]
            command = ["/bin/true", "\(number % 2)"]

            """
        return constant + (number % 5 == 0 ? "" : other) + handler
    }

    /// Writes scans as a device does, until it is told to stop.
    final class Feeder: @unchecked Sendable {
        // The lock guards what both threads touch; the node is used by the feeder's own thread alone.
        private let lock = NSLock()
        private var stamps: [Int64] = []
        private var isStopped = false
        private let node: FifoNode
        private let done = DispatchSemaphore(value: 0)

        init(_ node: FifoNode, hertz: Int) {
            self.node = node
            Thread.detachNewThread { self.feed(hertz) }
        }

        private func feed(_ hertz: Int) {
            var time = Clock.now()
            while lock.withLock({ !isStopped }) {
                var bytes: [UInt8] = []
                var batch: [Int64] = []
                while time <= Clock.now() {
                    bytes += FifoNode.scan(0, 0, 1500, time)
                    batch.append(time)
                    time += Int64(1_000_000_000 / hertz)
                }
                if (try? node.write(bytes)) == nil { break }
                lock.withLock { stamps += batch }
                usleep(2000)
            }
            done.signal()
        }

        func stop() -> [Int64] {
            lock.withLock { isStopped = true }
            done.wait()
            return stamps
        }
    }

    @Test func twoHundredReloadsUnderLoadLoseNothing() throws {
        let tree = try FifoTree()
        let box = try #require(try tree.addDevice(0, name: "accel_box"))
        _ = try tree.addDevice(1, name: "accel_lid")
        let run = try DaemonRun(Self.version(0), ["--root", tree.root]).start()
        let feeder = Feeder(box, hertz: 1000)
        try run.waitForEvent("motion.moving")
        var descriptors = 0
        var memory: [Int] = []
        for number in 1...200 {
            let isBroken = number % 10 == 7
            try run.configure(isBroken ? Self.version(number) + "[motion.moved" : Self.version(number))
            run.reload()
            let broken = (number + 3) / 10
            try run.waitForMessage("configuration stays in force", count: broken)
            try run.waitForMessage("configuration reloaded", count: number - broken)
            // By then everything that is made once has been made. A device may be open or not at any moment.
            if (30...40).contains(number) { descriptors = max(descriptors, run.descriptorCount) }
            if number >= 40, number % 40 == 0 { memory.append(try run.memory()) }
        }
        let written = feeder.stop()
        let last = try #require(written.last)
        try run.output.wait { $0.contains("\"time_ns\":\(last),") }
        // Version 200 is a version 40: what went with the others has been closed.
        try waitUntil("\(descriptors) descriptors, not \(run.descriptorCount)") { run.descriptorCount <= descriptors }
        // A leak grows with each reload; what a busy machine lets wait does so once.
        #expect(Binary.isSanitized || zip(memory.dropFirst(), memory).contains { $0 - $1 < 512 }, "\(memory)")
        #expect(run.stop() == 0)

        // The silence after the last sample is a loss of its own on a busy machine.
        let events = try run.events()
        let end = try #require(events.firstIndex { $0["time_ns"] as? Int64 == last })
        #expect(events[...end].allSatisfy { $0["kind"] as? String == "motion.moving" })
        let seen = events[...end].compactMap { $0["time_ns"] as? Int }.map(Int64.init)
        let first = try #require(seen.first)
        #expect(seen == written.filter { $0 >= first })
    }

    @Test func aBrokenFileChangesNothingAndSaysWhy() throws {
        let good = "[sensor.box]\nsource = \"simulated\"\nmodel = \"shake\"\n[motion.moved]\naccelerometer = \"box\"\n"
        let run = try DaemonRun(good, ["--json"]).start()
        try run.waitForEvent("shake")
        try run.configure(good + "[handler.x]\non = [\"shaken\"]\nlog = true\n")
        run.reload()
        try run.waitForMessage("the previous configuration stays in force")
        #expect(try run.errors.text().contains("binnacle.toml:7:7: `on` cannot be `shaken` (did you mean"))
        let count = try run.events().count
        try run.waitForEvent("shake", count: count + 1)
        try run.configure("[sensor.box]\nsource = \"simulated\"\n")
        run.reload()
        try run.waitForMessage("no detector")
        try run.configure(
            "[sensor.box]\nsource = \"trace\"\nfile = \"nowhere.csv\"\n[motion.moved]\naccelerometer = \"box\"\n")
        run.reload()
        try run.waitForMessage("nowhere.csv: no such file")
        #expect(run.stop() == 0)
    }

    /// A handler that appends to a file in a folder, or none.
    private static func appending(to file: String?, in folder: TemporaryFolder) -> String {
        let lines = file.map { "[handler.lines]\non = [\"shake\", \"motion.*\"]\nfile = \"\(folder.path)/\($0)\"\n" }
        return simulated + """
            [handler.out]
            on = ["handler.*", "events.dropped"]
            stdout = true
            [socket]
            path = "\(folder.path)/socket"

            """ + (lines ?? "")
    }

    /// What an exchanged or removed handler still has is a problem, for as long as it tries.
    private static let leftBehind = "wrong: handler 'lines', which a reload has exchanged or removed, still has "

    /// A failure belongs to the handler that had it.
    @Test func aHandlerThatIsExchangedTakesItsFailureAlong() throws {
        let folder = try TemporaryFolder()
        let run = try DaemonRun(Self.appending(to: "absent/a", in: folder)).start()
        try run.waitForEvent("handler.failed")
        #expect(try Binary.run("status", "--socket", folder.path + "/socket").output.contains("FAILS"))
        try run.configure(Self.appending(to: "b", in: folder))
        run.reload()
        try run.waitForEvent("handler.recovered")
        #expect(try String(contentsOfFile: folder.path + "/b", encoding: .utf8).isEmpty == false, "a success says so")
        var status = ""
        // A status may be as old as the last turn of the daemon.
        try waitUntil("what is left behind; the last status: \(status)") {
            let result = try Binary.run("status", "--socket", folder.path + "/socket")
            status = result.output
            return result.status == 1 && status.contains(Self.leftBehind) && !status.contains("FAILS")
        }
        try FileManager.default.createDirectory(atPath: folder.path + "/absent", withIntermediateDirectories: false)
        try waitUntil("a status without the failure; the last one: \(status)") {
            let result = try Binary.run("status", "--socket", folder.path + "/socket")
            status = result.output
            return result.status == 0 && !status.contains("FAILS")
        }
        #expect(run.stop() == 0)
    }

    @Test func aReloadIsNoRecovery() throws {
        let folder = try TemporaryFolder()
        let run = try DaemonRun(Self.appending(to: "absent/a", in: folder)).start()
        try run.waitForEvent("handler.failed")
        try run.configure(Self.appending(to: "absent/b", in: folder))
        run.reload()
        try run.waitForMessage("configuration reloaded")
        let exchanged = try Binary.run("status", "--socket", folder.path + "/socket")
        #expect(exchanged.status == 1 && exchanged.output.contains("FAILS"), "\(exchanged.output)")
        try run.waitForEvent("handler.failed", count: 2)
        try run.configure(Self.appending(to: nil, in: folder))
        run.reload()
        try run.waitForMessage("configuration reloaded", count: 2)
        var removed = ""
        try waitUntil("what is left behind; the last status: \(removed)") {
            let result = try Binary.run("status", "--socket", folder.path + "/socket")
            removed = result.output
            return result.status == 1 && removed.contains(Self.leftBehind)
        }
        let json = try Binary.run("status", "--json", "--socket", folder.path + "/socket").output
        #expect(json.contains(#""retired_handlers":[{"name":"lines","#), "\(json)")
        #expect(try run.events().allSatisfy { $0["kind"] as? String == "handler.failed" })
        // The removed ones write what they have, and say that this is a success.
        try FileManager.default.createDirectory(atPath: folder.path + "/absent", withIntermediateDirectories: false)
        try run.waitForEvent("handler.recovered", count: 2)
        try waitUntil("a status without a problem") {
            try Binary.run("status", "--socket", folder.path + "/socket").status == 0
        }
        #expect(run.stop() == 0)
    }

    /// A program that fails is no success, and a line in the log is one.
    @Test func theFirstSuccessOfAnyActionEndsTheFailureBeforeIt() throws {
        let folder = try TemporaryFolder()
        func text(_ action: String) -> String {
            Self.appending(to: nil, in: folder) + "[handler.lines]\non = [\"shake\"]\n\(action)\n"
        }
        func status() throws -> String { try Binary.run("status", "--socket", folder.path + "/socket").output }
        let run = try DaemonRun(text("file = \"\(folder.path)/absent/a\"")).start()
        try run.waitForEvent("handler.failed")
        try run.configure(text("command = [\"/bin/false\"]"))
        run.reload()
        try run.waitForMessage("command.failed")
        #expect(try status().contains("/bin/false: exit status 1"))
        #expect(try run.events().allSatisfy { $0["kind"] as? String == "handler.failed" })
        try run.configure(text("log = true"))
        run.reload()
        try run.waitForEvent("handler.recovered")
        var last = ""
        try waitUntil("a status without the failure; the last one: \(last)") {
            last = try status()
            return !last.contains("FAILS")
        }
        #expect(run.stop() == 0)
    }

    /// A pipe would keep the reading thread, and every later reload behind it.
    @Test func aConfigurationThatBecameAPipeKeepsNobody() throws {
        let run = try DaemonRun(Self.simulated, ["--json"]).start()
        try run.waitForEvent("shake")
        let path = run.folder + "/binnacle.toml"
        try FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        run.reload()
        try run.waitForMessage("this is a pipe or a device")
        try FileManager.default.removeItem(atPath: path)
        try run.configure(Self.simulated)
        run.reload()
        try run.waitForMessage("1 of 1 sensors keep running")
        #expect(run.stop() == 0)
    }

    /// The service manager has been told that the daemon stops: it must not hear that it is ready after that.
    @Test func aReloadThatTheEndOvertakesComesToNothing() throws {
        let manager = try ServiceManagerDouble()
        let marker = try TemporaryFile()
        let hanging = """
            [handler.hang]
            on = ["shake"]
            command = ["/bin/sh", "-c", "trap '' TERM; echo + >>\(marker.path); while :; do sleep 1; done"]

            """
        let run = try DaemonRun(Self.simulated + hanging, environment: ["NOTIFY_SOCKET": manager.path]).start()
        try marker.wait { !$0.isEmpty }
        _ = try manager.receive(until: "READY=1")
        manager.drain()
        // Reading it takes longer than the signal, and less than the half second for which the command is waited for.
        let many = (0..<1000).map { "[handler.x\($0)]\non = [\"shock\"]\nlog = true\n" }.joined()
        try run.configure(Self.simulated + hanging + many)
        run.reload()
        _ = try manager.receive(until: "RELOADING=1")
        #expect(run.stop() == 0)
        let told = manager.receive(forMilliseconds: 0)
        let end = try #require(told.firstIndex(of: "STOPPING=1"))
        #expect(!told[end...].contains("READY=1"), "\(told)")
    }

    /// `systemctl reload` succeeds, and `systemctl status` says why nothing has changed, until a reload has.
    @Test func aRefusedReloadIsInTheServicesStatus() throws {
        let manager = try ServiceManagerDouble()
        let run = try DaemonRun(Self.simulated, environment: ["NOTIFY_SOCKET": manager.path]).start()
        _ = try manager.receive(until: "STATUS=1 of 1 sensors active")
        try run.configure(Self.simulated + "x = = 1\n")
        run.reload()
        try waitUntil("the refusal") {
            manager.receive(forMilliseconds: 10).contains {
                $0.hasPrefix("STATUS=1 of 1 sensors active; the configuration is refused: ")
                    && $0.contains("syntax error")
            }
        }
        try run.configure(Self.simulated)
        run.reload()
        _ = try manager.receive(until: "STATUS=1 of 1 sensors active")
        #expect(run.stop() == 0)
    }

    @Test func withoutAConfigurationAReloadIsAnsweredAllTheSame() throws {
        let manager = try ServiceManagerDouble()
        let run = try DaemonRun(nil, ["--simulate", "still"], environment: ["NOTIFY_SOCKET": manager.path]).start()
        _ = try manager.receive(until: "READY=1")
        run.reload()
        try run.waitForMessage("there is no configuration file to read again")
        let told = try manager.receive(until: "READY=1")
        #expect(told.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
        #expect(run.stop() == 0)
    }

    private static let moved = box + "quiet_s = 0.1"

    /// Writes scans 10 ms apart, from the present on.
    private struct ScanPlayer {
        let node: FifoNode
        private var time = Clock.now()

        init(node: FifoNode) { self.node = node }

        mutating func write(_ count: Int, _ z: Int16) throws {
            for _ in 0..<count {
                try node.write(FifoNode.scan(0, 0, z, time))
                time += 10_000_000
            }
        }
    }

    @Test func aMotionUnderWayGoesOnAcrossAReload() throws {
        let tree = try FifoTree()
        let box = try #require(try tree.addDevice(0, name: "accel_box"))
        let run = try DaemonRun(Self.moved, ["--root", tree.root, "--json"]).start()
        var player = ScanPlayer(node: box)
        try player.write(20, 1500)
        try run.waitForEvent("motion.began")
        // The same sections on other lines, and one more of them.
        try run.configure("# moved\n\n" + Self.moved + "\n[handler.note]\non = [\"shock\"]\nlog = true\n")
        run.reload()
        try run.waitForMessage("1 of 1 sensors keep running")
        try player.write(40, 981)
        try run.waitForEvent("motion.ended")
        #expect(run.stop() == 0)
        let events = try run.events()
        #expect(events.compactMap { $0["kind"] as? String } == ["motion.began", "motion.ended"])
    }

    /// The decorator holds the begin of a motion while its handler is exchanged.
    @Test func aDecoratorGoesOnWhenTheActionChanges() throws {
        let tree = try FifoTree()
        let box = try #require(try tree.addDevice(0, name: "accel_box"))
        let folder = try TemporaryFolder()
        func text(_ file: String) -> String {
            """
            \(Self.moved)
            [handler.alarm]
            on = ["motion.began", "motion.ended"]
            file = "\(folder.path)/\(file)"
            decorate = [{ min_duration = { for_s = 0.3 } }]
            """
        }
        let run = try DaemonRun(text("before"), ["--root", tree.root, "--json"]).start()
        var player = ScanPlayer(node: box)
        try player.write(20, 1500)
        try run.waitForEvent("motion.began")
        try run.configure(text("after"))
        run.reload()
        try run.waitForMessage("1 of 1 sensors keep running")
        try player.write(20, 1500)
        try player.write(40, 981)
        func lines(_ file: String) -> [Substring] {
            ((try? String(contentsOfFile: folder.path + "/" + file, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        try waitUntil("the end of the motion") { lines("after").contains { $0.contains("motion.ended") } }
        #expect(lines("after").count == 2 && lines("after")[0].contains("motion.began") && lines("before").isEmpty)
        #expect(run.stop() == 0)
    }

    @Test func aSensorThatIsTakenOutFreesItsDevice() throws {
        let tree = try FifoTree()
        let box = try #require(try tree.addDevice(0, name: "accel_box"))
        func version(_ name: String) -> String {
            """
            [sensor.\(name)]
            source = "iio"
            match = { name = "accel_box" }
            [motion.moved]
            accelerometer = "\(name)"
            detect = ["shock"]
            shock_window_s = 0

            """
        }
        let run = try DaemonRun(version("a"), ["--root", tree.root, "--json"]).start()
        try box.write(FifoNode.scan(0, 0, 9000, Clock.now()))
        try run.waitForEvent("shock")
        try run.configure(version("b"))
        run.reload()
        try run.waitForMessage("0 of 1 sensors keep running")
        // Until the device is open again what is written waits in the FIFO.
        for _ in 0..<3 { try box.write(FifoNode.scan(0, 0, 981, Clock.now())) }
        try box.write(FifoNode.scan(0, 0, 9000, Clock.now()))
        try run.waitForEvent("shock", count: 2)
        #expect(run.stop() == 0)
        let events = try run.events()
        // That the device is still on its way from one to the other is no failure of the new one.
        #expect(events.map { $0["kind"] as? String } == ["shock", "shock"])
        #expect(events.map { $0["sensor"] as? String } == ["a", "b"])
        #expect(try tree.text(tree.folder(0) + "/buffer0/enable") == "0")
    }
}
