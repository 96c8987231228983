import Binnacle
import Glibc
import LinuxSystem
import PlainText
import Synchronization
import TestSupport
import Testing

import DesktopBus

/// The service on a private bus, with programs that claim sensors.
struct BusServiceTests {
    /// What the service told the rest of the daemon.
    private final class Notes: Sendable {
        let wanted = Mutex([DesktopSensors]())
        let messages = Mutex([String]())

        var last: DesktopSensors? { wanted.withLock { $0.last } }
        func says(_ text: String) -> Bool { messages.withLock { $0.contains { $0.contains(text) } } }
    }

    private struct Rig {
        let bus: PrivateBus
        let service: DesktopBus
        let notes = Notes()

        init(
            _ settings: DBusSettings = .ofGroup, present: [DesktopSensor] = DesktopSensor.allCases,
            status: String = "{\"state\":\"ok\"}", limits: [String: Int] = [:]
        ) throws {
            bus = try PrivateBus(limits: limits)
            var surroundings = DesktopBus.Surroundings()
            surroundings.address = bus.address
            surroundings.version = "1.2.3"
            let notes = notes
            surroundings.wantedChanged = { sensors in notes.wanted.withLock { $0.append(sensors) } }
            surroundings.say = { text, _ in notes.messages.withLock { $0.append(text) } }
            surroundings.status = { $0(status) }
            service = try DesktopBus(settings, surroundings: surroundings)
            service.publish(.with(present: present))
            service.begin()
        }

        /// A program, once the service has its names.
        func program() throws -> BusProgram {
            try waitUntil("the names; \(service.statistics)") { service.statistics.names.count == 2 }
            let program = try BusProgram(bus)
            // Then the bus knows what it listens to.
            try program.call("Ping", of: "org.freedesktop.DBus.Peer")
            try wait(program, for: "an answer") { program.heard("Ping").count == 1 }
            program.forget()
            return program
        }

        func end() {
            service.finish()
            #expect(service.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
        }
    }

    @Test("GetAll has every property with its type, also without a claim")
    func allProperties() throws {
        let rig = try Rig(present: [])
        let program = try rig.program()
        for interface in [BusInterface.proxy, .compass] {
            try program.call("GetAll", of: "org.freedesktop.DBus.Properties", at: interface.path) {
                message throws(BusFailure) in try message.append(interface.name)
            }
        }
        try wait(program, for: "both answers") { program.heard("GetAll").count == 2 }
        #expect(
            program.heard("GetAll") == [
                "GetAll: HasAccelerometer=false AccelerometerOrientation=undefined AccelerometerTilt=undefined "
                    + "HasAmbientLight=false LightLevelUnit=lux LightLevel=0.0 HasProximity=false ProximityNear=false",
                "GetAll: HasCompass=false CompassHeading=-1.0",
            ])
        rig.end()
    }

    @Test("A claim is answered after the first values, which come before the answer, the orientation first and alone")
    func claimWaitsForValues() throws {
        let rig = try Rig()
        let program = try rig.program()
        try program.claim(.accelerometer)
        try wait(program, for: "the wish") { rig.notes.last == DesktopSensors(.accelerometer) }
        rig.service.publish(.with(.leftUp, .tiltedUp))
        try wait(program, for: "the answer") { program.heard("ClaimAccelerometer").count == 1 }
        #expect(
            program.heard.filter { !$0.hasPrefix("Has") }.suffix(3) == [
                "AccelerometerOrientation=left-up", "AccelerometerTilt=tilted-up", "ClaimAccelerometer: ok",
            ])
        // The sensor runs: the next claim, of another program, is answered with the values at once.
        let other = try rig.program()
        try other.claim(.accelerometer)
        try wait(other, for: "the answer") { other.heard("Claim").count == 1 }
        #expect(
            other.heard == [
                "AccelerometerOrientation=left-up", "AccelerometerTilt=tilted-up", "ClaimAccelerometer: ok",
            ])
        rig.end()
    }

    @Test("A claim is answered although no value comes, and without a sensor at once")
    func claimOfSilentSensor() throws {
        let rig = try Rig(present: [.accelerometer])
        let program = try rig.program()
        try program.claim(.accelerometer)
        try program.claim(.compass)
        try program.claim(.light)
        try program.claim(.proximity)
        try wait(program, for: "the answers") { program.heard("Claim").count == 4 }
        #expect(program.heard("Claim").last == "ClaimAccelerometer: ok")
        #expect(program.heard("Claim").allSatisfy { $0.hasSuffix(": ok") })
        rig.end()
    }

    @Test("Values go to those who have claimed alone, and everybody hears which sensors there are")
    func unicast() throws {
        let rig = try Rig(present: [])
        let (claimer, watcher) = (try rig.program(), try rig.program())
        try claimer.claim(.light)
        try wait(claimer, watcher, for: "the answer") { claimer.heard("ClaimLight").count == 1 }
        var readings = DesktopValues.with(present: [.light])
        rig.service.publish(readings)
        readings.fresh = DesktopSensors(.light)
        readings.lightLevel = 42.5
        rig.service.publish(readings)
        try wait(claimer, watcher, for: "the level") { claimer.heard("LightLevel=42.5").count == 1 }
        try wait(claimer, watcher, for: "that there is light") { watcher.heard("HasAmbientLight=true").count == 1 }
        try watcher.call("Ping", of: "org.freedesktop.DBus.Peer")
        try wait(claimer, watcher, for: "the answer, behind all signals") { watcher.heard("Ping").count == 1 }
        #expect(watcher.heard == ["HasAmbientLight=true LightLevelUnit=lux", "Ping: ok"])
        // Nothing after the release.
        try claimer.release(.light)
        try wait(claimer, watcher, for: "the release") { claimer.heard("ReleaseLight: ok").count == 1 }
        readings.lightLevel = 100
        rig.service.publish(readings)
        try claimer.call("Ping", of: "org.freedesktop.DBus.Peer")
        try wait(claimer, watcher, for: "the answer") { claimer.heard("Ping").count == 1 }
        #expect(claimer.heard("LightLevel=100").isEmpty)
        rig.end()
    }

    @Test("A claim outlives its sensor ten times: each return is told without another claim")
    func unplugged() throws {
        let rig = try Rig()
        let program = try rig.program()
        rig.service.publish(.with(.normal, .vertical))
        try program.claim(.accelerometer)
        try wait(program, for: "the answer") { program.heard("ClaimAccelerometer: ok").count == 1 }
        for turn in 1...10 {
            program.forget()
            var gone = DesktopValues.with(.normal, .vertical)
            gone.present = []
            gone.fresh = []
            rig.service.publish(gone)
            try wait(program, for: "its end \(turn)") { program.heard("HasAccelerometer=false").count == 1 }
            rig.service.publish(.with(turn.isMultiple(of: 2) ? .normal : .bottomUp, .vertical))
            if turn.isMultiple(of: 2) { rig.service.publish(.with(.rightUp, .vertical)) }
            try wait(program, for: "its return \(turn)") {
                program.heard("HasAccelerometer=true").count == 1
                    && program.heard("AccelerometerOrientation").count >= (turn.isMultiple(of: 2) ? 1 : 1)
            }
            rig.service.publish(.with(.normal, .vertical))
            try wait(program, for: "the next value \(turn)") {
                program.heard("AccelerometerOrientation=normal").count >= 1
            }
        }
        #expect(rig.notes.last == DesktopSensors(.accelerometer))
        rig.end()
    }

    @Test("A program that is killed releases what it has claimed, and nobody else does")
    func killed() throws {
        let rig = try Rig()
        rig.service.publish(.with(.normal, .vertical))
        let other = try rig.program()
        try other.claim(.compass)
        // A connection that ends is what the bus shows of a killed program.
        let program = try rig.program()
        try program.claim(.accelerometer)
        try wait(program, other, for: "the wishes") {
            rig.notes.last == [DesktopSensors(.accelerometer), DesktopSensors(.compass)]
        }
        program.connection.close()
        try wait(other, for: "the end of the wish") { rig.notes.last == DesktopSensors(.compass) }
        #expect(rig.service.statistics.claims[.accelerometer] == 0)
        rig.end()
    }

    @Test("Who may not is told so, for releases as well, and no sensor is switched on")
    func deniedByPolkit() throws {
        let rig = try Rig(DBusSettings())
        let polkit = try BusProgram(rig.bus, listens: false)
        try polkit.becomePolkit(allowing: ["known"])
        try wait(polkit, for: "the name") { polkit.heard("RequestName: 1").count == 1 }
        let program = try rig.program()
        try program.claim(.accelerometer)
        try program.release(.accelerometer)
        try wait(program, polkit, for: "the refusals") {
            program.heard.count(where: { $0.contains("Accelerometer: ") }) == 2
        }
        for answer in program.heard where answer.contains("Accelerometer: ") {
            #expect(answer.contains("org.freedesktop.DBus.Error.AccessDenied: Not Authorized: "))
        }
        #expect(polkit.heard.contains("asked for net.hadess.SensorProxy.claim-sensor"))
        // It is asked again, and may have another answer.
        polkit.allowed = ["net.hadess.SensorProxy.claim-sensor"]
        rig.service.publish(.with(.normal, .vertical))
        try program.claim(.accelerometer)
        try wait(program, polkit, for: "the answer") { program.heard("ClaimAccelerometer: ok").count == 1 }
        #expect(rig.notes.last == DesktopSensors(.accelerometer))
        rig.end()
    }

    @Test("Programs that may not claim take no place of those that may")
    func manyRefused() throws {
        let rig = try Rig(DBusSettings())
        let polkit = try BusProgram(rig.bus, listens: false)
        try polkit.becomePolkit(allowing: ["known"])
        try wait(polkit, for: "the name") { polkit.heard("RequestName: 1").count == 1 }
        let refused = try (0...BusService.mostClients).map { _ in try BusProgram(rig.bus, listens: false) }
        for program in refused {
            try program.claim(.light)
            try wait(program, polkit, for: "the refusal") { program.heard("ClaimLight").count == 1 }
        }
        polkit.allowed = ["net.hadess.SensorProxy.claim-sensor"]
        let program = try rig.program()
        rig.service.publish(.with(.normal, .vertical))
        try program.claim(.accelerometer)
        try wait(program, polkit, for: "the answer") { program.heard("ClaimAccelerometer").count == 1 }
        #expect(program.heard("ClaimAccelerometer") == ["ClaimAccelerometer: ok"])
        withExtendedLifetime(refused) {}
        rig.end()
    }

    /// The limit of the bus as systems have it: unanswered calls of one connection.
    private static let systemLimits = ["max_replies_per_connection": 128]

    @Test("With a slow polkit the programs of an account wait, and few questions are asked at a time")
    func manyWait() throws {
        let rig = try Rig(DBusSettings(), limits: Self.systemLimits)
        let polkit = try BusProgram(rig.bus, listens: false)
        try polkit.becomePolkit(allowing: nil)
        try wait(polkit, for: "the name") { polkit.heard("RequestName: 1").count == 1 }
        let programs = try (0..<300).map { _ in try rig.program() }
        for program in programs { try program.claim(.light) }
        try wait(polkit, for: "the questions") { polkit.heard("asked").count == QuestionQueue.mostOfAccount }
        // That no more come cannot be waited for.
        usleep(200_000)
        try polkit.process()
        #expect(polkit.heard("asked").count == QuestionQueue.mostOfAccount)
        polkit.allowed = ["known"]
        polkit.answerHeld()
        for program in programs {
            try wait(program, polkit, for: "the refusal") { program.heard("ClaimLight").count == 1 }
            #expect(program.heard("ClaimLight")[0].contains("polkit does not allow it"), "\(program.heard)")
        }
        rig.end()
    }

    @Test("Claims of two accounts that may not do not keep a third one's from an answer", .enabled(if: getuid() == 0))
    func otherAccountsWait() throws {
        let rig = try Rig(DBusSettings(), limits: Self.systemLimits)
        let polkit = try BusProgram(rig.bus, listens: false)
        try polkit.becomePolkit(allowing: nil)
        try wait(polkit, for: "the name") { polkit.heard("RequestName: 1").count == 1 }
        _ = try rig.program()
        let programs = try [1, 2].flatMap { account in
            try (0..<220).map { _ in
                try asAccount(account) {
                    let program = try BusProgram(rig.bus, listens: false)
                    try program.call("Ping", of: "org.freedesktop.DBus.Peer")
                    try wait(program, for: "an answer") { program.heard("Ping").count == 1 }
                    return program
                }
            }
        }
        for program in programs {
            for _ in 0..<3 { try program.claim(.light) }
        }
        try wait(polkit, for: "the questions") { polkit.heard("asked").count == 2 * QuestionQueue.mostOfAccount }
        let own = try (0..<8).map { _ in try rig.program() }
        for program in own { try program.claim(.light) }
        try wait(polkit, for: "the further questions") {
            polkit.heard("asked").count == 3 * QuestionQueue.mostOfAccount
        }
        // Now polkit answers, one question after the other.
        polkit.allowed = ["net.hadess.SensorProxy.claim-sensor"]
        polkit.answerHeld()
        for program in own {
            try wait(program, polkit, for: "the answer") { program.heard("ClaimLight").count == 1 }
            #expect(program.heard("ClaimLight") == ["ClaimLight: ok"])
        }
        withExtendedLifetime(programs) {}
        rig.end()
    }

    /// Does something as another account, on this thread alone: the bus asks the kernel who connects.
    private func asAccount<Result>(_ account: Int, _ body: () throws -> Result) throws -> Result {
        // The call by itself is for one thread; libc's setresuid() changes all of them. Swift has no variadic syscall(), which
        // takes integers as any function does.
        typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
        let call = unsafeBitCast(try #require(dlsym(nil, "syscall")), to: Call.self)
        #if arch(x86_64)
            let setresuid = 117
        #else
            let setresuid = 147
        #endif
        try #require(call(setresuid, -1, account, 0) == 0)
        defer { precondition(call(setresuid, -1, 0, 0) == 0) }
        return try body()
    }

    @Test("An account has a limited number of programs with claims, and one that ends makes place")
    func manyOfAnAccount() throws {
        let rig = try Rig()
        rig.service.publish(.with(.normal, .vertical))
        let programs = try (0..<BusService.mostClientsOfAccount).map { _ in try rig.program() }
        for program in programs {
            try program.claim(.accelerometer)
            try wait(program, for: "the answer") { program.heard("ClaimAccelerometer: ok").count == 1 }
        }
        let next = try rig.program()
        try next.claim(.accelerometer)
        try wait(next, for: "the refusal") { next.heard("ClaimAccelerometer").count == 1 }
        #expect(next.heard("ClaimAccelerometer")[0].contains("LimitsExceeded"), "\(next.heard)")
        programs[0].connection.close()
        try waitUntil("its end") {
            rig.service.statistics.claims[.accelerometer] == BusService.mostClientsOfAccount - 1
        }
        try next.claim(.accelerometer)
        try wait(next, for: "the answer") { next.heard("ClaimAccelerometer: ok").count == 1 }
        rig.end()
    }

    @Test(
        "The claims of a login, all at once, are answered, whichever action polkit knows",
        arguments: ["net.hadess.SensorProxy", "org.binnacle.Binnacle1"])
    func burst(action: String) throws {
        let rig = try Rig(DBusSettings(), limits: Self.systemLimits)
        let polkit = try BusProgram(rig.bus, listens: false)
        try polkit.becomePolkit(allowing: [action + ".claim-sensor"])
        try wait(polkit, for: "the name") { polkit.heard("RequestName: 1").count == 1 }
        rig.service.publish(.with(.normal, .vertical))
        let programs = try (0..<13).map { _ in try rig.program() }
        for program in programs {
            try program.claim(.accelerometer)
            try program.claim(.light)
        }
        for program in programs {
            try wait(program, polkit, for: "the answers") { program.heard("Claim").count == 2 }
            #expect(program.heard("Claim").allSatisfy { $0.hasSuffix(": ok") }, "\(program.heard)")
        }
        rig.end()
    }

    @Test("Where polkit does not answer about the action of iio-sensor-proxy, it is asked about our own")
    func ownAction() throws {
        let rig = try Rig(DBusSettings())
        let polkit = try BusProgram(rig.bus, listens: false)
        try polkit.becomePolkit(allowing: ["org.binnacle.Binnacle1.claim-sensor"])
        try wait(polkit, for: "the name") { polkit.heard("RequestName: 1").count == 1 }
        let program = try rig.program()
        rig.service.publish(.with(.normal, .vertical))
        try program.claim(.accelerometer)
        try wait(program, polkit, for: "the answer") { program.heard("ClaimAccelerometer: ok").count == 1 }
        rig.end()
    }

    @Test("Without polkit every claim is denied, and the log says what to do")
    func noPolkit() throws {
        let rig = try Rig(DBusSettings())
        let program = try rig.program()
        try program.claim(.light)
        try wait(program, for: "the refusal") { program.heard("ClaimLight").count == 1 }
        #expect(program.heard("ClaimLight").first?.contains("AccessDenied") == true)
        try waitUntil("the message") { rig.notes.says("set claims = \"group\" in [dbus]") }
        rig.end()
    }

    @Test("Calls that wait for polkit are limited, and the service answers others meanwhile")
    func silentPolkit() throws {
        let rig = try Rig(DBusSettings())
        let polkit = try BusProgram(rig.bus, listens: false)
        try polkit.becomePolkit(allowing: nil)
        try wait(polkit, for: "the name") { polkit.heard("RequestName: 1").count == 1 }
        let program = try rig.program()
        for _ in 0..<(BusClient.mostCalls + 10) { try program.claim(.light) }
        try wait(program, polkit, for: "the refusals") {
            program.heard("ClaimLight: org.freedesktop.DBus.Error.LimitsExceeded").count == 10
        }
        try program.call("Ping", of: "org.freedesktop.DBus.Peer")
        try wait(program, polkit, for: "an answer") { program.heard("Ping: ok").count == 1 }
        #expect(polkit.heard("asked").count == 1)
        rig.end()
    }

    @Test("It takes the name from a service that allows it, and gives it to nobody")
    func takesOver() throws {
        let bus = try PrivateBus()
        let original = try BusProgram(bus)
        // As iio-sensor-proxy: replacement is allowed.
        try original.request(BusInterface.proxyName, flags: 1 | 4)
        try wait(original, for: "the name") { original.heard("RequestName: 1").count == 1 }
        var surroundings = DesktopBus.Surroundings()
        surroundings.address = bus.address
        let service = try DesktopBus(.ofGroup, surroundings: surroundings)
        service.begin()
        try wait(original, for: "the name of the service") { service.statistics.names.contains(BusInterface.proxyName) }
        // Started again, it gets the answer "exists" and ends.
        try original.request(BusInterface.proxyName, flags: 2 | 4)
        try wait(original, for: "the refusal") { original.heard("RequestName: 3").count == 1 }
        #expect(service.statistics.names.contains(BusInterface.proxyName))
        service.finish()
        #expect(service.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
    }

    @Test("It waits for a name that another program keeps, says so, and has it once that one ends")
    func waitsForName() throws {
        let bus = try PrivateBus()
        let original = try BusProgram(bus)
        try original.request(BusInterface.proxyName, flags: 4)
        try wait(original, for: "the name") { original.heard("RequestName: 1").count == 1 }
        let notes = Notes()
        var surroundings = DesktopBus.Surroundings()
        surroundings.address = bus.address
        surroundings.say = { text, _ in notes.messages.withLock { $0.append(text) } }
        let service = try DesktopBus(.ofGroup, surroundings: surroundings)
        service.begin()
        try waitUntil("the message") { notes.says("another program has the name net.hadess.SensorProxy") }
        #expect(service.statistics.failure != nil)
        original.connection.close()
        try waitUntil("the name") { service.statistics.names.count == 2 }
        #expect(service.statistics.failure == nil)
        service.finish()
        #expect(service.waitForEnd(until: SystemClock.monotonic() + 60_000_000_000))
    }

    @Test("Other settings change neither the name nor the claims")
    func changed() throws {
        let rig = try Rig()
        rig.service.publish(.with(.normal, .vertical))
        let program = try rig.program()
        try program.claim(.accelerometer)
        try wait(program, for: "the answer") { program.heard("ClaimAccelerometer: ok").count == 1 }
        var settings = DBusSettings.ofGroup
        settings.broadcastsEvents = false
        rig.service.change(settings)
        rig.service.publish(.with(.leftUp, .vertical))
        try wait(program, for: "the next value") { program.heard("AccelerometerOrientation=left-up").count == 1 }
        #expect(rig.notes.wanted.withLock { $0.count } == 1)
        #expect(rig.service.statistics.names.count == 2)
        rig.end()
    }

    @Test("Events are signals of their kinds, with typed figures")
    func events() throws {
        let rig = try Rig()
        let program = try rig.program()
        let event = Event(
            kind: .motionEnded, detector: "moved", sensor: "lid", sequence: 7, timeNanoseconds: 123,
            figures: [
                Figure(.peak, .number(1.25, decimals: 3)), Figure(.count, .integer(3)), Figure(.reason, .text("why")),
            ])
        rig.service.publish(event)
        rig.service.publish(Event(kind: .freeFall, timeNanoseconds: 1))
        try wait(program, for: "the signals") { program.heard("FreeFall").count == 1 }
        #expect(program.heard("MotionEnded") == ["MotionEnded: 7 moved lid 123 peak_g=1.25 count=3! reason=why"])
        try program.call("GetStatus", of: BusInterface.ownName, at: BusInterface.own.path, of: BusInterface.ownName)
        try wait(program, for: "the status") { program.heard("GetStatus: {\"state\":\"ok\"}").count == 1 }
        rig.end()
    }

    @Test("The status has types, also within lists, and leaves out what is not known")
    func status() throws {
        let text = #"{"state":"ok","seq":7,"rate":99.5,"healthy":true,"none":null,"list":[1,{"a":"b"}],"empty":{}}"#
        let value = try BusValue(JSONReader.value(of: text.utf8))
        #expect(
            value
                == .dictionary([
                    .init(name: "state", value: .text("ok")), .init(name: "seq", value: .integer(7)),
                    .init(name: "rate", value: .number(99.5)), .init(name: "healthy", value: .boolean(true)),
                    .init(
                        name: "list", value: .list([.integer(1), .dictionary([.init(name: "a", value: .text("b"))])])),
                    .init(name: "empty", value: .dictionary([])),
                ]))
        let rig = try Rig(status: text)
        _ = try rig.program()
        let answer = try rig.bus.call(
            BusInterface.ownName, BusInterface.own.path, BusInterface.ownName + ".Status")
        #expect(
            answer.contains(
                "{'state': <'ok'>, 'seq': <int64 7>, 'rate': <99.5>, 'healthy': <true>, "
                    + "'list': <[<int64 1>, <{'a': <'b'>}>]>, 'empty': <@a{sv} {}>}"), "\(answer)")
        rig.end()
    }

    @Test("Introspection has the kinds with the names of their values, and gdbus reads it")
    func introspection() throws {
        let rig = try Rig()
        _ = try rig.program()
        let text = try rig.bus.call(
            BusInterface.ownName, BusInterface.own.path, "org.freedesktop.DBus.Introspectable.Introspect")
        for kind in EventKind.allCases where !EventKind.repeated.contains(kind) {
            #expect(text.contains("<signal name=\"\(kind.busName)\">"), "\(kind)")
        }
        #expect(text.contains("<arg type=\"a{sv}\" name=\"figures\"/>"), "\(text)")
        #expect(Set(EventKind.allCases.map(\.busName)).count == EventKind.allCases.count)
        let version = try rig.bus.call(
            BusInterface.ownName, BusInterface.own.path, "org.freedesktop.DBus.Properties.Get", BusInterface.ownName,
            "Version")
        #expect(version.contains("'1.2.3'"))
        rig.end()
    }

    @Test("A flood of claims and releases is answered, and switches nothing on and off")
    func flood() throws {
        let rig = try Rig()
        rig.service.publish(.with(.normal, .vertical))
        let program = try rig.program()
        let count = TestForm.count(2000, long: 60_000)
        var answers = (heardCount: 0, okCount: 0)
        func okCount() -> Int {
            answers.okCount += program.heard[answers.heardCount...].count(where: { $0.hasSuffix(": ok") })
            answers.heardCount = program.heard.count
            return answers.okCount
        }
        let begin = ContinuousClock.now
        for turn in 0..<count {
            try program.claim(.accelerometer)
            try program.release(.accelerometer)
            // As many as a program may have in flight.
            if turn.isMultiple(of: 16) {
                try wait(program, for: "the answers") { okCount() >= 2 * turn }
            }
        }
        try wait(program, for: "all answers") { okCount() == 2 * count }
        // A sensor stays wanted for a second after its release; a busy machine may make that pause longer.
        let pauses = Int((ContinuousClock.now - begin) / .seconds(1))
        let wantedCount = rig.notes.wanted.withLock { $0.count(where: { $0.contains(.accelerometer) }) }
        #expect((1...1 + pauses).contains(wantedCount))
        rig.end()
    }

    @Test("Malformed calls are refused, and a vanished program is forgotten while it waits")
    func hostile() throws {
        let rig = try Rig()
        let program = try rig.program()
        try program.call("ClaimEverything")
        try program.call("ClaimLight") { message throws(BusFailure) in try message.append("an argument") }
        try program.call("ClaimCompass")
        try wait(program, for: "the refusals") { program.heard.count(where: { $0.hasPrefix("Claim") }) == 3 }
        #expect(program.heard("ClaimEverything").first?.contains("UnknownMethod") == true)
        #expect(program.heard("ClaimLight").first?.contains("InvalidArgs") == true)
        // A sensor has one interface.
        #expect(program.heard("ClaimCompass").first?.contains("UnknownMethod") == true)
        for _ in 0..<50 {
            let passing = try BusProgram(rig.bus, listens: false)
            try passing.claim(.accelerometer)
            try passing.process()
            passing.connection.close()
        }
        let last = try rig.program()
        try last.claim(.proximity)
        try wait(last, for: "an answer") { last.heard("ClaimProximity: ok").count == 1 }
        try waitUntil("their end; \(rig.service.statistics)") { rig.service.statistics.claims[.accelerometer] == 0 }
        rig.end()
    }

    @Test("It connects again when the bus was started anew")
    func reconnects() throws {
        let rig = try Rig()
        _ = try rig.program()
        rig.bus.stop()
        try waitUntil("the loss") { rig.service.statistics.names.isEmpty }
        #expect(rig.service.statistics.failure != nil)
        try rig.bus.start()
        let program = try rig.program()
        rig.service.publish(.with(.rightUp, .vertical))
        try program.claim(.accelerometer)
        try wait(program, for: "the answer") { program.heard("ClaimAccelerometer: ok").count == 1 }
        #expect(program.heard.contains("AccelerometerOrientation=right-up"))
        rig.end()
    }
}

extension DBusSettings {
    /// Claims for the test's own account.
    fileprivate static var ofGroup: DBusSettings {
        var settings = DBusSettings()
        settings.claims = .group
        settings.group = "root"
        return settings
    }
}

extension DesktopValues {
    /// Readings of sensors that have not delivered.
    fileprivate static func with(present: [DesktopSensor]) -> DesktopValues {
        var readings = DesktopValues()
        for sensor in present { readings.present.set(sensor, true) }
        return readings
    }

    /// Readings of all sensors, of which the accelerometer has delivered.
    fileprivate static func with(_ orientation: ScreenOrientation, _ tilt: ScreenTilt) -> DesktopValues {
        var readings = with(present: DesktopSensor.allCases)
        readings.fresh = DesktopSensors(.accelerometer)
        (readings.orientation, readings.tilt) = (orientation, tilt)
        return readings
    }
}
