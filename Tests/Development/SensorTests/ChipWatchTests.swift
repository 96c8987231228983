import Foundation
import TestSupport
import Testing

/// A chip that watches while the program sleeps: the ioctl that gives its events is played by `MockEvents`.
@Suite(.fewAtATime) struct ChipWatchTests {
    private static let channels = ScanChannel.axes("accel", "le:s16/16>>0")
    /// 1 g on z, in units of 1/1000 g.
    private static let rest: [Int64] = [0, 0, 1000]

    /// An accelerometer with a buffer, single values and an event of each axis, as a BMA400 has it.
    private static func chip(_ name: String = "bma400", event: String = "x|y|z_mag_rising", value: String = "20")
        -> MockDevice
    {
        var device = MockDevice.buffered("accel", 0, name: name, channels: channels)
        for (axis, value) in zip(["x", "y", "z"], rest) { device.attributes["in_accel_\(axis)_raw"] = String(value) }
        device.attributes["events/in_accel_\(event)_en"] = "0"
        device.attributes["events/in_accel_\(event)_value"] = value
        return device
    }

    /// The chip's queue of events, as `MockEvents` looks for it.
    private final class Queue {
        private let descriptor: Int32

        init(of device: MockDevice, in station: MockStation) throws {
            let path = station.nodePath(of: device) + ".events"
            #expect(mkfifo(path, 0o600) == 0)
            descriptor = open(path, O_RDWR | O_NONBLOCK)
            #expect(descriptor >= 0)
        }

        deinit { close(descriptor) }

        /// Reports an event by the numbers of linux/iio/types.h: a channel of 3 is the accelerometer, a direction of 1 rising.
        func fire(
            type: UInt64 = 1, direction: UInt64 = 1, modifier: UInt64 = 0, channel: UInt64 = 3, at time: Int64
        ) {
            var record = (type << 56 | direction << 48 | modifier << 40 | channel << 32, time)
            #expect(withUnsafeBytes(of: &record) { write(descriptor, $0.baseAddress, $0.count) } == 16)
        }
    }

    /// A station with a device, its queue, and the program that watches it.
    private struct Watched {
        let station: MockStation
        let device: MockDevice
        let queue: Queue
        let program: MockProgram
        private let socket: String
        /// The last stamp that was written.
        private let last = Last()

        private final class Last { var stamp: Int64 = 0 }

        init(
            _ device: MockDevice = chip(), watch: String = "chip", key: String = "", sensorKey: String = "",
            more: String = "", isHeld: Bool = false, wakeUp: String? = nil
        ) throws {
            station = try MockStation()
            self.device = device
            try station.add(device)
            queue = try Queue(of: device, in: station)
            if let wakeUp {
                try FileManager.default.createDirectory(
                    atPath: station.path("../power", of: device), withIntermediateDirectories: true)
                try Data((wakeUp + "\n").utf8).write(
                    to: URL(fileURLWithPath: station.path("../power/wakeup", of: device)))
                try Self.setPower("suspend_stats/success", to: "0", in: station)
            }
            if isHeld { try Data().write(to: URL(fileURLWithPath: station.nodePath(of: device) + ".held")) }
            socket = "\(station.folder)/socket"
            let configuration = try station.configuration(
                """
                [socket]
                path = "\(socket)"
                [sensor.chassis]
                source = "iio"
                match = { name = "\(device.attributes["name"] ?? "")" }
                \(sensorKey)
                [motion.moved]
                accelerometer = "chassis"
                \(key)
                watch = "\(watch)"
                quiet_s = 0.2
                gravity_s = 0.1
                [handler.out]
                stdout = true
                on = ["motion.began", "motion.ended", "samples.lost", "gap", "sensor.inactive", "free_fall", "tap", "step", "stationary", "departed"]
                \(more)
                """)
            program = try station.start(["run", "--config", configuration])
        }

        /// Sets what the kernel says of suspends.
        static func setPower(_ name: String, to value: String, in station: MockStation) throws {
            let url = URL(fileURLWithPath: "\(station.root)/sys/power/\(name)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data((value + "\n").utf8).write(to: url)
        }

        /// What `power/wakeup` of the chip's device says.
        func wakeUp() throws -> String { try station.attribute("../power/wakeup", of: device) }

        func isOn(_ attribute: String) throws -> Bool { try station.attribute(attribute, of: device) == "1" }

        /// Writes samples a hundredth of a second apart: the first ones end now, and later ones follow them and begin now.
        func feed(
            _ values: [[Int64]], isOn: Bool = true, after seconds: Int64 = 0,
            orUntil isOver: () throws -> Bool = { false }
        ) async throws {
            try await program.waitUntil("the buffer is on") { try self.isOn("buffer0/enable") == isOn || isOver() }
            guard try !isOver() else { return }
            let encoder = ScanEncoder(channels)
            let now = monotonicNow()
            let length = Int64(values.count) * 10_000_000
            let start = last.stamp == 0 ? now - length : max(now, last.stamp) + seconds * 1_000_000_000
            let scans = values.enumerated().map { encoder.scan($1 + [start + Int64($0 + 1) * 10_000_000]) }
            last.stamp = start + length
            try await station.write(Array(scans.joined()), to: device, isRead: isOn, orUntil: isOver)
        }

        /// Waits while samples of a device that moves come: a silent one is read by single values after a second.
        func waitMoving(_ what: String, until isDone: () throws -> Bool) async throws {
            let deadline = monotonicNow() + 60_000_000_000
            while try !isDone() {
                try #require(monotonicNow() < deadline, "waited in vain for \(what)")
                try await feed([[300, 0, 1000], rest, [300, 0, 1000], rest])
            }
        }

        /// Feeds samples of rest, until the chip is armed and the buffer off.
        ///
        /// The program falls asleep before the last of them if the stamps of the others are far apart, as on a busy machine; what
        /// is written after that is not read.
        func fallAsleep(_ event: String = "in_accel_x|y|z_mag_rising", count: Int = 100) async throws {
            let isArmed = { try isOn("events/\(event)_en") && !isOn("buffer0/enable") }
            try await program.waitUntil("the buffer is on") { try isOn("buffer0/enable") }
            for _ in 0..<(count / 100) {
                try await feed(Array(repeating: rest, count: 100), orUntil: isArmed)
                guard try !isArmed() else { break }
            }
            try await program.waitUntil("the chip is armed", isCase: isArmed)
        }

        /// Whether the program knows that its worker thread has armed the chip.
        func isAsleep() throws -> Bool {
            try Binary.run("status", "--socket", socket).output.contains("sleeping until its chip reports movement")
        }

        func events(_ kind: String) throws -> [[String: Any]] {
            try program.output.text().split(separator: "\n").compactMap { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return object?["kind"] as? String == kind ? object : nil
            }
        }
    }

    /// The event switches the samples on, and the motion begins at its stamp; what was set before is there at the end.
    @Test func theChipsEventBeginsTheMotion() async throws {
        let watched = try Watched()
        try await watched.fallAsleep()
        // 0.05 g in steps of 8 mg.
        #expect(try watched.station.attribute("events/in_accel_x|y|z_mag_rising_value", of: watched.device) == "6")
        let stamp = monotonicNow()
        watched.queue.fire(at: stamp)
        try await watched.program.waitUntil("the buffer is on and the chip is not armed") {
            try watched.isOn("buffer0/enable") && !watched.isOn("events/in_accel_x|y|z_mag_rising_en")
        }
        try await watched.feed([[300, 0, 1000], [0, 0, 1000]])
        try await watched.program.waitUntil("motion began") { try !watched.events("motion.began").isEmpty }
        let began = try #require(try watched.events("motion.began").first)
        #expect(began["onset_ns"] as? Int64 == stamp)
        #expect(try watched.events("samples.lost").first?["cause"] as? String == "wake")
        // Rest ends the motion, and the next rest is watched as well.
        try await watched.fallAsleep()
        #expect(try watched.events("motion.ended").count == 1)
        #expect(try watched.events("gap").isEmpty)
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        #expect(try watched.station.attribute("events/in_accel_x|y|z_mag_rising_value", of: watched.device) == "20")
        #expect(try !watched.isOn("events/in_accel_x|y|z_mag_rising_en"))
        #expect(try !watched.isOn("buffer0/enable"))
    }

    /// Samples that come before the worker thread has answered are the first after the rest: none is missing before them.
    @Test func samplesThatComeAtOnceAreNoOverrun() async throws {
        let watched = try Watched(sensorKey: "latency_s = 0")
        try await watched.fallAsleep()
        // Samples that come before it does would be ones of before the rest.
        try await watched.program.waitUntil("it is asleep") { try watched.isAsleep() }
        // One turn of the program finds both the event and samples.
        let process = watched.program.processIdentifier
        #expect(kill(process, SIGSTOP) == 0)
        try await watched.program.waitUntil("the program stands still") {
            try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8).contains("State:\tT")
        }
        watched.queue.fire(at: monotonicNow())
        try await watched.feed(Array(repeating: [300, 0, 1000], count: 20), isOn: false, after: 3)
        #expect(kill(process, SIGCONT) == 0)
        try await watched.program.waitUntil("motion began") { try !watched.events("motion.began").isEmpty }
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        let lost = try watched.events("samples.lost")
        // A busy machine may interrupt it so late that the samples have stalled meanwhile.
        #expect(lost.map { $0["cause"] as? String }.filter { $0 != "stall" } == ["wake"], "\(lost)")
    }

    /// A driver may stamp the first samples with a time before the event: the motion begins at the event all the same.
    @Test func stampsFromBeforeTheEventAreNoOnset() async throws {
        let watched = try Watched()
        try await watched.fallAsleep()
        try await watched.program.waitUntil("it is asleep") { try watched.isAsleep() }
        let stamp = monotonicNow() + 1_000_000_000
        watched.queue.fire(at: stamp)
        try await watched.program.waitUntil("the buffer is on") { try watched.isOn("buffer0/enable") }
        try await watched.feed([[300, 0, 1000], [0, 0, 1000]])
        try await watched.program.waitUntil("motion began") { try !watched.events("motion.began").isEmpty }
        #expect(try watched.events("motion.began").first?["onset_ns"] as? Int64 == stamp)
    }

    /// A free fall that the chip has seen is an event as well, once.
    @Test func aFreeFallOfTheChipIsAnEvent() async throws {
        var device = Self.chip()
        device.attributes["events/in_accel_x&y&z_mag_falling_en"] = "0"
        device.attributes["events/in_accel_x&y&z_mag_falling_value"] = "40"
        let watched = try Watched(device)
        try await watched.fallAsleep()
        try await watched.program.waitUntil("free fall is armed") {
            try watched.isOn("events/in_accel_x&y&z_mag_falling_en")
        }
        // 0.35 g in steps of 8 mg.
        #expect(try watched.station.attribute("events/in_accel_x&y&z_mag_falling_value", of: watched.device) == "44")
        let stamp = monotonicNow()
        watched.queue.fire(at: stamp)
        watched.queue.fire(direction: 2, at: stamp + 1)
        try await watched.feed(Array(repeating: [0, 0, 10], count: 30) + [[0, 0, 1000]])
        try await watched.program.waitUntil("a free fall") { try !watched.events("free_fall").isEmpty }
        try await watched.fallAsleep()
        let falls = try watched.events("free_fall")
        #expect(falls.count == 1)
        #expect(falls.first?["onset_ns"] as? Int64 == stamp + 1)
        #expect(falls.first?["source"] as? String == "chip")
        #expect(try watched.events("motion.began").first?["source"] as? String == "chip")
    }

    /// The driver of adxl345 has its thresholds in g, although their attribute of a scale is another unit, and takes a free fall of
    /// a second and more for inactivity.
    @Test func thresholdsOfAnADXL345AreInG() async throws {
        var device = Self.chip("adxl345", event: "mag_adaptive_rising", value: "0.375000000")
        device.attributes["events/in_accel_mag_adaptive_rising_scale"] = "0.612915"
        device.attributes["events/in_accel_x&y&z_mag_falling_en"] = "0"
        device.attributes["events/in_accel_mag_falling_value"] = "0.187500000"
        device.attributes["events/in_accel_mag_falling_scale"] = "0.612915"
        device.attributes["events/in_accel_mag_falling_period"] = "55.000000000"
        let watched = try Watched(device, key: "threshold_g = 0.15")
        try await watched.fallAsleep("in_accel_mag_adaptive_rising")
        func value(_ name: String) throws -> String {
            try watched.station.attribute("events/in_accel_mag_\(name)", of: device)
        }
        // In steps of a sixteenth of g: 0.15 g and, for a fall, 0.35 g.
        #expect(try value("adaptive_rising_value") == "0.125")
        #expect(try value("falling_value") == "0.375" && value("falling_period") == "0.1")
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        #expect(try value("adaptive_rising_value") == "0.375000000" && value("falling_period") == "55.000000000")
    }

    private static let tap = """
        [tap.knock]
        accelerometer = "chassis"
        watch = "chip"
        """

    /// Taps of the chip are events, while it is read and while it sleeps; its samples are not looked at.
    @Test func tapsOfTheChipAreEvents() async throws {
        var device = Self.chip()
        for word in ["singletap", "doubletap"] { device.attributes["events/in_accel_gesture_\(word)_en"] = "0" }
        let watched = try Watched(device, more: Self.tap)
        try await watched.program.waitUntil("taps are armed") {
            try watched.isOn("events/in_accel_gesture_singletap_en")
                && watched.isOn("events/in_accel_gesture_doubletap_en") && watched.isOn("buffer0/enable")
        }
        // What the detector would take for a tap.
        let rests = Array(repeating: Self.rest, count: 120)
        try await watched.feed(rests + [[0, 0, 2500]] + rests)
        let first = monotonicNow()
        watched.queue.fire(type: 7, direction: 5, at: first)
        try await watched.waitMoving("two taps") { try watched.events("tap").count == 1 }
        try await watched.fallAsleep(count: 220)
        let second = monotonicNow()
        watched.queue.fire(type: 7, direction: 4, at: second)
        try await watched.program.waitUntil("a tap") { try watched.events("tap").count == 2 }
        #expect(try !watched.isOn("buffer0/enable") && watched.isOn("events/in_accel_gesture_singletap_en"))
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        let taps = try watched.events("tap")
        #expect(taps.map { $0["count"] as? Int } == [2, 1])
        #expect(taps.map { $0["onset_ns"] as? Int64 } == [first, second])
        #expect(taps.allSatisfy { $0["source"] as? String == "chip" && $0["peak_g"] == nil })
        #expect(try !watched.isOn("events/in_accel_gesture_singletap_en"))
    }

    private static let steps = """
        [steps.walked]
        accelerometer = "chassis"
        watch = "chip"
        """

    /// Steps that the chip has counted since the device was opened are events, with what the chip has counted and not with the
    /// number of its reports; at rest as well.
    @Test func stepsOfTheChipAreEvents() async throws {
        var device = Self.chip()
        device.attributes["events/in_steps_change_en"] = "0"
        device.attributes["in_steps_input"] = "1000"
        let watched = try Watched(device, more: Self.steps)
        try await watched.program.waitUntil("steps are armed") {
            try watched.isOn("events/in_steps_change_en") && watched.isOn("buffer0/enable")
        }
        func step(to count: Int) throws -> Int64 {
            try watched.station.setAttribute("in_steps_input", of: device, to: String(count))
            let stamp = monotonicNow()
            watched.queue.fire(type: 5, direction: 3, channel: 20, at: stamp)
            return stamp
        }
        try await watched.feed(Array(repeating: Self.rest, count: 100))
        _ = try step(to: 1003)
        try await watched.waitMoving("three steps") { try watched.events("step").count == 1 }
        try await watched.fallAsleep(count: 220)
        let second = try step(to: 1004)
        try await watched.program.waitUntil("a step") { try watched.events("step").count == 2 }
        #expect(try !watched.isOn("buffer0/enable"))
        // The chip was reset.
        _ = try step(to: 2)
        try await watched.program.waitUntil("two steps") { try watched.events("step").count == 3 }
        try watched.station.setAttribute("in_steps_input", of: device, to: "1e30")
        watched.queue.fire(type: 5, direction: 3, channel: 20, at: monotonicNow())
        try await watched.program.waitForMessage("steps cannot be read", "is no number of steps")
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        let steps = try watched.events("step")
        #expect(steps.map { $0["count"] as? Int } == [3, 1, 2])
        #expect(steps.map { $0["total"] as? Int } == [3, 4, 6])
        // Not before the samples that were looked at.
        #expect(try #require(steps[1]["time_ns"] as? Int64) >= second)
        #expect(steps.allSatisfy { $0["source"] as? String == "chip" && $0["cadence_per_min"] == nil })
        #expect(try !watched.isOn("events/in_steps_change_en"))
    }

    /// A walk that the chip reports is a departure, and its rest is one; while samples come these decide it as well, and a device
    /// that is left lying is stationary when its samples are switched off.
    @Test func activitiesOfTheChipAreEvents() async throws {
        var device = Self.chip()
        let switches = ["events/in_activity_change_en", "events/in_steps_change_en"]
        for name in switches { device.attributes[name] = "0" }
        let watched = try Watched(
            device,
            more: """
                [stationary.parked]
                accelerometer = "chassis"
                watch = "chip"
                dwell_s = 10
                """)
        let rests = Array(repeating: Self.rest, count: 100)
        func report(_ activity: UInt64, _ kind: String, _ count: Int) async throws -> Int64 {
            let stamp = monotonicNow()
            watched.queue.fire(type: 5, direction: 3, modifier: activity, channel: 19, at: stamp)
            try await watched.waitMoving("\(kind) number \(count)") { try watched.events(kind).count == count }
            return stamp
        }
        try await watched.program.waitUntil("activities are armed") {
            try switches.allSatisfy(watched.isOn) && watched.isOn("buffer0/enable")
        }
        // Walking, before the dwell time of the rest is over; then that, and the samples are off.
        try await watched.feed(rests)
        let walk = try await report(29, "departed", 1)
        try await watched.fallAsleep(count: 1100)
        try await watched.program.waitUntil("rest") { try watched.events("stationary").count == 1 }
        // Running switches the samples on.
        try await watched.program.waitUntil("it sleeps") { try watched.isAsleep() }
        let run = try await report(27, "departed", 2)
        try await watched.program.waitUntil("the buffer is on") { try watched.isOn("buffer0/enable") }
        // Rest; once more, and an activity that is none of these.
        let rest = try await report(30, "stationary", 2)
        for activity in [30, 1] as [UInt64] { _ = try await report(activity, "stationary", 2) }
        _ = try await report(28, "departed", 3)
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        let events = try watched.events("departed")
        #expect(events.map { $0["onset_ns"] as? Int64 }.prefix(2) == [walk, run])
        #expect(events.allSatisfy { $0["source"] as? String == "chip" })
        let ends = try watched.events("stationary")
        #expect(ends.map { $0["source"] as? String } == [nil, "chip"] && ends[1]["onset_ns"] as? Int64 == rest)
        #expect(try !switches.contains(where: watched.isOn))
    }

    /// A chip that counts no steps leaves them to the detector.
    @Test func aChipWithoutStepsIsTold() async throws {
        let watched = try Watched(more: Self.steps)
        try await watched.program.waitForMessage(
            "counts steps in its samples: its chip counts no steps", "(mag rising)")
    }

    /// A chip without taps leaves them to the detector, which needs the samples at rest as well.
    @Test func aChipWithoutTapsIsTold() async throws {
        let watched = try Watched(more: Self.tap)
        try await watched.program.waitForMessage(
            "does not sleep at rest, and looks for taps in its samples", "(mag rising)")
    }

    /// A chip that is to wake the machine stays armed, and `power/wakeup` is as before at the end.
    @Test func aChipThatWakesTheMachineStaysArmed() async throws {
        let watched = try Watched(key: "wake = true", wakeUp: "disabled")
        try await watched.program.waitUntil("the chip is armed while samples come") {
            try watched.isOn("events/in_accel_x|y|z_mag_rising_en") && watched.wakeUp() == "enabled"
                && watched.isOn("buffer0/enable")
        }
        try await watched.fallAsleep()
        #expect(try watched.wakeUp() == "enabled")
        // A suspend that no clock shows.
        try Watched.setPower("pm_wakeup_irq", to: "4711", in: watched.station)
        try Watched.setPower("suspend_stats/success", to: "1", in: watched.station)
        watched.queue.fire(at: monotonicNow())
        try await watched.program.waitUntil("the buffer is on") { try watched.isOn("buffer0/enable") }
        try await watched.feed([[300, 0, 1000], [0, 0, 1000]])
        try await watched.program.waitUntil("motion began") { try !watched.events("motion.began").isEmpty }
        #expect(try watched.isOn("events/in_accel_x|y|z_mag_rising_en"))
        try await watched.program.waitForMessage("interrupt 4711", "woke the machine")
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        #expect(try watched.wakeUp() == "disabled")
        #expect(try !watched.isOn("events/in_accel_x|y|z_mag_rising_en"))
    }

    /// A chip that is not believed any more neither watches nor wakes the machine.
    @Test func aWatchThatGivesUpDisarmsTheChip() async throws {
        let watched = try Watched(key: "wake = true", wakeUp: "disabled")
        try await watched.program.waitUntil("the chip is armed") { try watched.wakeUp() == "enabled" }
        try await watched.program.waitUntil("the buffer is on") { try watched.isOn("buffer0/enable") }
        // Without its threshold it cannot be armed again.
        try FileManager.default.removeItem(
            atPath: watched.station.path("events/in_accel_x|y|z_mag_rising_value", of: watched.device))
        try await watched.feed(Array(repeating: Self.rest, count: 100))
        try await watched.program.waitForMessage("does not sleep at rest")
        try await watched.program.waitUntil("the chip is as before") {
            try !watched.isOn("events/in_accel_x|y|z_mag_rising_en") && watched.wakeUp() == "disabled"
        }
        #expect(try watched.isOn("buffer0/enable"))
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
    }

    @Test func aChipThatCannotWakeTheMachineIsTold() async throws {
        let watched = try Watched(key: "wake = true")
        try await watched.program.waitForMessage("it cannot wake the machine, because its driver has no power/wakeup")
    }

    /// While nothing moves, samples may gather for longer, in a buffer that has room for them.
    @Test func samplesOfRestMayGatherForLonger() async throws {
        let watched = try Watched(watch: "samples", sensorKey: "rest_latency_s = 10")
        try await watched.feed(Array(repeating: Self.rest, count: 220))
        let length = Int(try watched.station.attribute("buffer0/length", of: watched.device)) ?? 0
        #expect(length > 1000)
        // A push is read at the end of the longer time.
        // Back and forth: after a second without samples on a busy machine a filter begins with what it finds.
        try await watched.feed((0..<100).map { $0 / 5 % 2 == 0 ? [300, 0, 1000] : Self.rest })
        try await watched.program.waitUntil("motion began") { try !watched.events("motion.began").isEmpty }
    }

    /// What another program had switched on is on again at the end.
    @Test func whatWasOnBeforeIsOnAgain() async throws {
        var device = Self.chip()
        device.attributes["events/in_accel_x|y|z_mag_rising_en"] = "1"
        let watched = try Watched(device)
        try await watched.fallAsleep()
        watched.program.interrupt()
        #expect(try await watched.program.status() == 0)
        #expect(try watched.isOn("events/in_accel_x|y|z_mag_rising_en"))
    }

    /// Other types of events than the armed one wake nothing.
    @Test func anotherEventIsNone() async throws {
        let watched = try Watched()
        try await watched.fallAsleep()
        watched.queue.fire(type: 7, at: monotonicNow())
        watched.queue.fire(type: 200, at: monotonicNow())
        let stamp = monotonicNow()
        watched.queue.fire(at: stamp)
        try await watched.feed([[300, 0, 1000]])
        try await watched.program.waitUntil("motion began") { try !watched.events("motion.began").isEmpty }
        #expect(try watched.events("motion.began").first?["onset_ns"] as? Int64 == stamp)
    }

    /// At rest nothing wakes the program.
    @Test func nothingWakesASleeper() async throws {
        let watched = try Watched()
        try await watched.fallAsleep()
        // What falling asleep itself costs is over when two looks see the same number.
        try await watched.program.waitUntil("a second without a wake-up") {
            let before = watched.program.wakeUpCount
            try await Task.sleep(for: .seconds(1))
            return watched.program.wakeUpCount == before
        }
    }

    /// A poll of the events never ends when the device goes: udev says it.
    @Test func aSleepingDeviceIsMissedWhenItGoes() async throws {
        let watched = try Watched()
        try await watched.fallAsleep()
        try watched.station.unplug(watched.device)
        try await watched.program.waitUntil("the sensor is inactive") { try !watched.events("sensor.inactive").isEmpty }
    }

    /// One program at a time has a device's events.
    @Test func aHeldDescriptorIsTold() async throws {
        let watched = try Watched(isHeld: true)
        try await watched.program.waitForMessage("chassis: does not sleep at rest", "another program has its events")
        try await watched.feed(Array(repeating: Self.rest, count: 100))
        #expect(try watched.isOn("buffer0/enable"))
    }

    struct Refusal: CustomTestStringConvertible {
        let event: String
        let watch: String
        let words: String
        var testDescription: String { "\(watch), \(event)" }
    }

    /// What sees gravity, or cannot come, is not used and told.
    @Test(arguments: [
        Refusal(event: "x_thresh_rising", watch: "chip", words: "has no event of movement (thresh rising)"),
        Refusal(event: "x&y&z_mag_falling", watch: "chip", words: "has no event of movement (mag falling)"),
        Refusal(event: "x|y|z_mag_rising", watch: "chip", words: "not known to leave out gravity"),
        Refusal(event: "x|y|z_roc_rising", watch: "auto", words: "no interrupt in /proc/interrupts"),
        Refusal(event: "x|y|z_unheard_of", watch: "chip", words: "has no event of movement"),
    ])
    func anEventThatIsNoUseIsRefused(_ refusal: Refusal) async throws {
        let watched = try Watched(Self.chip("lonelychip", event: refusal.event), watch: refusal.watch)
        try await watched.program.waitForMessage("chassis: does not sleep at rest", refusal.words)
    }

    /// Another detector of the sensor needs every sample.
    @Test func aDetectorThatNeedsSamplesKeepsThem() async throws {
        let watched = try Watched(more: "[orientation.turned]\naccelerometer = \"chassis\"")
        try await watched.program.waitForMessage("watch has no effect", "[orientation.turned] needs every sample")
    }

    /// A switch that takes 1 and stays at 0 is found.
    @Test func aSwitchThatStaysOffIsTold() async throws {
        let watched = try Watched()
        try await watched.program.waitUntil("the buffer is on") { try watched.isOn("buffer0/enable") }
        let path = watched.station.path("events/in_accel_x|y|z_mag_rising_en", of: watched.device)
        let stubborn = try StubbornAttribute(path: path, value: "0")
        try await watched.feed(Array(repeating: Self.rest, count: 100))
        try await watched.program.waitForMessage("stays off after it was switched on")
        try await watched.program.waitUntil("the buffer is on again") { try watched.isOn("buffer0/enable") }
        #expect(stubborn.wasWritten("1"))
    }

    /// `devices` and `doctor` show what a chip can report, and that no interrupt is behind it.
    @Test func devicesAndDoctorShowEvents() async throws {
        let station = try MockStation()
        var device = Self.chip("lonelychip", event: "x_gesture_singletap", value: "3")
        device.attributes["events/in_accel_x_thresh_either_en"] = "1"
        device.attributes["events/in_accel_x_thresh_either_value"] = "100"
        device.attributes["events/in_accel_x_thresh_either_period"] = "0.5"
        device.attributes["events/in_accel_x&y&z_mag_falling_en"] = "0"
        device.attributes["events/in_accel_mag_falling_value"] = "8"
        device.attributes["events/in_accel_mag_falling_scale"] = "0.5"
        device.attributes["events/in_strange_en"] = "0"
        try station.add(device)
        let text = try await station.run("devices")
        #expect(text.output.contains("event     thresh either on x, at 0.9807 m/s², after 0.5 s, on"), "\(text.output)")
        #expect(text.output.contains("event     mag falling on x&y&z, at 4 m/s², off"), "\(text.output)")
        #expect(
            text.output.contains("event     gesture singletap on x, at 3, whose unit is not known, off"),
            "\(text.output)")
        #expect(text.output.contains("event     in_strange, off"), "\(text.output)")
        #expect(text.output.contains("interrupt none in /proc/interrupts"), "\(text.output)")
        let json = try await station.run("devices", "--json")
        #expect(
            json.output.contains(#""type":"thresh","direction":"either","on":true,"value":100,"value_si":0.98"#),
            "\(json.output)")
        let doctor = try await station.run("doctor")
        #expect(doctor.output.contains("these events never come"), "\(doctor.output)")
        #expect(doctor.output.contains("no event leaves out gravity"), "\(doctor.output)")
    }
}

extension MockProgram {
    /// How often its threads were woken or gave way.
    var wakeUpCount: Int {
        let folder = "/proc/\(processIdentifier)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.reduce(0) { sum, thread in
            let status = (try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") } ?? ""
            return sum + (Int(line.split(separator: "\t").last ?? "") ?? 0)
        }
    }
}
