import Foundation
import TestSupport
import Testing

/// `binnacle run` without any hardware: simulated sensors, recordings, handlers, and how it ends.
@Suite struct RunTests {
    private static let shaken = """
        [sensor.box]
        source = "simulated"
        model = "shake"
        rate_hz = 200
        [motion.moved]
        accelerometer = "box"

        """

    @Test func aSimulatedSensorIsLabelledInEveryEvent() throws {
        let run = try DaemonRun(nil, ["--simulate", "drop", "--json"]).start()
        try run.waitForEvent("free_fall")
        #expect(run.stop() == 0)
        let events = try run.events()
        #expect(try !run.errors.text().contains("there is no handler"))
        #expect(events.allSatisfy { $0["simulated"] as? Bool == true })
        #expect(events.allSatisfy { ($0["wall_time"] as? String)?.hasSuffix("Z") == true })
        #expect(events.map { $0["seq"] as? Int } == (1...events.count).map { $0 })
    }

    @Test func aRecordingPlaysInRealTimeAndEndsTheRun() throws {
        let trace = try TemporaryFile("time_s,ax,ay,az\n0,0,0,9.8\n0.01,0,0,90\n0.07,0,0,9.8\n", suffix: ".csv")
        let run = try DaemonRun(nil, ["--trace", trace.path, "--json"]).start()
        run.process.waitUntilExit()
        #expect(run.process.terminationStatus == 0)
        let kinds = try run.events().compactMap { $0["kind"] as? String }
        #expect(kinds.first == "shock")
        #expect(kinds.contains("sensor.inactive"))
        let areLabelled = try run.events().map { $0["simulated"] != nil }
        #expect(!areLabelled.contains(true))
    }

    @Test func aDamagedRecordingEndsTheRunAndSaysWhy() throws {
        let rows = "0,0,0,9.8\n0.01,0,0,9.8\n" + String(repeating: "?,?,?,?\n", count: 1500)
        let trace = try TemporaryFile("time_s,ax,ay,az\n" + rows, suffix: ".csv")
        let run = try DaemonRun(nil, ["--trace", trace.path, "--json"]).start()
        try waitUntil("the end") { !run.process.isRunning }
        #expect(run.stop(SIGKILL) == 65)
        #expect(try run.errors.text().contains("have no usable sample"))
    }

    @Test func aLoopingRecordingGoesOn() throws {
        let trace = try TemporaryFile("time_s,ax,ay,az\n0,0,0,9.8\n0.5,0,0,90\n1.0,0,0,9.8\n", suffix: ".csv")
        let run = try DaemonRun(nil, ["--trace", trace.path, "--loop", "--json"]).start()
        try run.waitForEvent("shock", count: 3)
        #expect(run.stop() == 0)
        let times = try run.events().compactMap { $0["time_ns"] as? Int }
        #expect(times == times.sorted())
    }

    @Test func withoutConfigurationAndHardwareItSaysWhatCanBeDone() throws {
        let tree = try FifoTree()
        let result = try Binary.run("run", "--root", tree.root)
        #expect(result.status == 69)
        #expect(result.errors.contains("no accelerometer on this machine"))
        #expect(result.errors.contains("binnacle run --simulate MODEL"))
        #expect(result.errors.contains("binnacle run --trace FILE"))
    }

    /// It would start the program some times, and then no more, so that a sensor that is plugged in later was never seen.
    @Test func withoutConfigurationAndHardwareAServiceWaits() throws {
        let manager = try ServiceManagerDouble()
        let tree = try FifoTree()
        let run = try DaemonRun(nil, ["--root", tree.root], environment: ["NOTIFY_SOCKET": manager.path]).start()
        _ = try manager.receive(until: "READY=1")
        try run.waitForMessage("sensor.inactive")
        // There is still none.
        run.reload()
        try run.waitForMessage("there is no configuration file to read again")
        #expect(run.stop() == 0)
    }

    @Test func withoutConfigurationTheSensorsThatAreThereAreWatched() throws {
        let tree = try FifoTree()
        let node = try tree.addDevice(0, name: "accel_3d", scale: "0.01")
        let run = try DaemonRun(nil, ["--root", tree.root, "--json"]).start()
        for number in 0..<3 { try node?.write(FifoNode.scan(0, 0, number == 2 ? 9000 : 981, Clock.now())) }
        try run.waitForEvent("shock")
        #expect(run.stop() == 0)
        #expect(try run.events().last?["sensor"] as? String == "accelerometer")
    }

    /// The search for devices ends while the daemon waits for its store, and nothing else wakes it.
    @Test func devicesAreReadAlsoWhenTheyAreFoundBeforeTheStoreIsOpen() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", scale: "0.01"))
        for _ in 0..<5 {
            let run = try DaemonRun(
                """
                [store]
                path = "events.db"
                [sensor.chassis]
                source = "iio"
                match = { name = "accel_3d" }
                [motion.moved]
                accelerometer = "chassis"
                detect = ["shock"]
                [handler.out]
                on = ["shock"]
                stdout = true
                """, ["--root", tree.root]
            ).start()
            for number in 0..<3 { try node.write(FifoNode.scan(0, 0, number == 2 ? 9000 : 981, Clock.now())) }
            try run.waitForEvent("shock")
            #expect(run.stop() == 0)
        }
    }

    @Test(
        arguments: [
            (["--config", "/nonexistent/a.toml", "--simulate", "walk"], "/nonexistent/a.toml: there is no such file"),
            (["--simulate", "fly"], "--simulate fly: no such model"),
            (["--loop"], "--loop is for --trace"),
            (["--config", "/nonexistent/b.toml"], "/nonexistent/b.toml: there is no such file"),
            (["a.toml", "b.toml"], "run takes one configuration"),
        ] as [([String], String)])
    func aWrongCommandLineIsRefused(_ arguments: [String], _ message: String) throws {
        let result = try Binary.run(["run"] + arguments)
        #expect(result.status == (message.contains("nonexistent") ? 78 : 64))
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test func aConfigurationWithoutADetectorIsRefused() throws {
        let run = try DaemonRun("[sensor.box]\nsource = \"simulated\"\n").start()
        run.process.waitUntilExit()
        #expect(run.process.terminationStatus == 78)
        #expect(try run.errors.text().contains("no detector"))
    }

    // MARK: - Handlers

    @Test func aCommandGetsTheEventAndItsEndIsAnEvent() throws {
        let told = try TemporaryFile()
        let run = try DaemonRun(
            Self.shaken + """
                [handler.tell]
                on = ["shake"]
                command = ["/bin/sh", "-c", "cat >>\(told.path); echo $0 $BINNACLE_KIND $BINNACLE_SIMULATED >>\(told.path)", "{user_g}"]
                [handler.out]
                on = ["shake", "command.finished", "command.failed"]
                stdout = true
                """
        ).start()
        try run.waitForEvent("command.finished")
        #expect(run.stop() == 0)
        let lines = try told.text().split(separator: "\n")
        let input = Data(try #require(lines.first).utf8)
        let event = try #require(try JSONSerialization.jsonObject(with: input) as? [String: Any])
        #expect(event["kind"] as? String == "shake")
        #expect(event["simulated"] as? Bool == true)
        let user = try #require(event["user_g"] as? Double)
        let words = lines[1].split(separator: " ")
        #expect(words.map(String.init) == ["\(user)", "shake", "1"])
        let events = try run.events()
        let index = events.firstIndex { event in event["kind"] as? String == "command.finished" }
        let report = events[try #require(index)]
        #expect(report["handler"] as? String == "tell")
        #expect(report["status"] as? Int == 0)
        #expect(report["for_seq"] as? Int == event["seq"] as? Int)
        #expect(report["simulated"] as? Bool == true)
    }

    @Test func theLogNamesHandlerKindAndTime() throws {
        let run = try DaemonRun(Self.shaken + "[handler.note]\non = [\"shake\"]\nlog = true\n").start()
        try run.waitForMessage("shake")
        #expect(run.stop() == 0)
        let lines = try run.errors.text().split(separator: "\n")
        let line = try #require(lines.first { $0.contains("shake") })
        #expect(line.hasPrefix("note: 20"), "\(line)")
        #expect(line.contains("(simulated)"))
    }

    @Test func outputThatNobodyReadsAnyMoreIsSaidOnceAndEndsNothing() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let run = try DaemonRun(
            Self.shaken + """
                [handler.out]
                on = ["shake"]
                stdout = true
                [handler.note]
                on = ["shake", "handler.failed"]
                log = true
                """)
        run.process.standardOutput = FileHandle(fileDescriptor: ends[1])
        close(ends[0])
        try run.start()
        close(ends[1])
        try run.waitForMessage("handler.failed")
        let count = try run.errors.text().components(separatedBy: "shake").count
        try run.waitForMessage("shake", count: count + 3)
        #expect(run.stop() == 0)
        #expect(try run.errors.text().components(separatedBy: "handler.failed").count == 2)
        #expect(try run.errors.text().contains("Broken pipe"))
    }

    @Test(arguments: ["/dev/null", "/dev/full"])
    func outputMayBeAnyFile(_ path: String) throws {
        let handlers = "[handler.out]\non = [\"shake\"]\nstdout = true\n[handler.note]\non = [\"shake\"]\nlog = true\n"
        let run = try DaemonRun(Self.shaken + handlers, ["--json"])
        run.process.standardOutput = FileHandle(forWritingAtPath: path)
        try run.start()
        // With the second event, the output has been written to.
        try run.waitForMessage("shake", count: 2)
        #expect(run.process.isRunning)
        #expect(run.stop() == (path == "/dev/full" ? 74 : 0))
    }

    /// Otherwise a device, or what wakes a thread, would be standard output.
    @Test func closedDescriptorsAreNoPlacesForOthers() throws {
        let shell = Child([
            "/bin/sh", "-c", "exec \"$0\" run --simulate still --json <&- >&- 2>&-", Binary.path,
        ])
        try shell.run()
        defer { shell.end() }
        let folder = "/proc/\(shell.processIdentifier)/fd/"
        func target(_ number: Int) -> String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "\(number)")
        }
        try waitUntil("the event loop") { target(5)?.contains("event") == true }
        #expect((0...2).map(target) == ["/dev/null", "/dev/null", "/dev/null"])
    }

    // MARK: - The service manager

    /// At boot it may have no room for another word.
    @Test func aBusyServiceManagerHearsLaterWhatItWasTold() throws {
        let manager = try ServiceManagerDouble()
        let count = try manager.fill()
        #expect(count > 0)
        let run = try DaemonRun(
            Self.shaken + "[handler.out]\non = [\"shake\"]\nstdout = true\n",
            environment: ["NOTIFY_SOCKET": manager.path]
        ).start()
        // By then it has said that it is ready, in vain.
        try run.waitForEvent("shake")
        let told = try manager.receive(until: "READY=1")
        #expect(told.count { $0 == ServiceManagerDouble.filler } == count)
        #expect(run.stop() == 0)
    }

    @Test func theStateTellsOfASensorThatIsBack() throws {
        let manager = try ServiceManagerDouble()
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_box", values: nil))
        let run = try DaemonRun(
            """
            [sensor.box]
            source = "iio"
            match = { name = "accel_box" }
            [motion.moved]
            accelerometer = "box"
            """, ["--root", tree.root], environment: ["NOTIFY_SOCKET": manager.path])
        try run.start()
        try node.write(FifoNode.scan(0, 0, 981, Clock.now()))
        _ = try manager.receive(until: "STATUS=1 of 1 sensors active")
        node.close()
        _ = try manager.receive(until: "STATUS=0 of 1 sensors active")
        try node.reopen()
        try node.write(FifoNode.scan(0, 0, 981, Clock.now()))
        _ = try manager.receive(until: "STATUS=1 of 1 sensors active")
        #expect(run.stop() == 0)
    }

    // MARK: - The end

    /// A shell's Ctrl-C reaches the group, and a parent passes it on: that is one request, and it is followed.
    @Test(arguments: [(SIGTERM, SIGTERM), (SIGINT, SIGTERM), (SIGINT, SIGINT)] as [(Int32, Int32)])
    func twoTerminationsInOneSecondAreOne(first: Int32, second: Int32) throws {
        let marker = try TemporaryFile()
        let run = try DaemonRun(
            Self.shaken + """
                [handler.slow]
                on = ["shake"]
                command = ["/bin/sh", "-c", "trap '' TERM; echo begun >>\(marker.path); sleep 100"]
                """
        ).start()
        try marker.wait { $0.contains("\n") }
        // The command keeps the daemon from ending before the second signal.
        kill(run.process.processIdentifier, first)
        // A second request would have killed it.
        #expect(run.stop(second) == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aHangingCommandDoesNotKeepItFromEnding(_ signal: Int32) throws {
        let marker = try TemporaryFile()
        let run = try DaemonRun(
            Self.shaken + """
                [handler.hang]
                on = ["shake"]
                command = ["/bin/sh", "-c", "trap '' TERM; echo $$ >>\(marker.path); while :; do sleep 1; done"]
                timeout_s = 100
                """
        ).start()
        try marker.wait { $0.contains("\n") }
        #expect(run.stop(signal) == 0)
        let line = try marker.text().split(separator: "\n")[0]
        let process = try #require(Int32(line))
        // Killed with its group, and reaped or handed on: nothing of it runs.
        #expect(Child.isGone(process))
    }

    @Test func itTellsAServiceManagerWhatItDoes() throws {
        let manager = try ServiceManagerDouble()
        let run = try DaemonRun(
            Self.shaken, environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"])
        try run.start()
        let told = try manager.receive(until: "READY=1")
        #expect(told.contains("WATCHDOG=1"))
        // Life signs come as long as the loop turns, also when nothing happens.
        _ = try manager.receive(until: "WATCHDOG=1")
        run.reload()
        let reloaded = try manager.receive(until: "READY=1")
        #expect(reloaded.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
        // A process whose loop stands still gives none.
        try run.process.freeze()
        manager.drain()
        #expect(manager.receive(forMilliseconds: 600).isEmpty)
        kill(run.process.processIdentifier, SIGCONT)
        _ = try manager.receive(until: "WATCHDOG=1")
        #expect(run.stop() == 0)
        #expect(manager.receive(forMilliseconds: 0).contains("STOPPING=1"))
    }
}

/// The monotonic clock.
enum Clock {
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
