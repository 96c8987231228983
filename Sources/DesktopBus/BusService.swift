import Binnacle
import CSDBus
import Glibc
import LinuxSystem
import PlainText

/// The work of ``DesktopBus`` on its thread.
package final class BusService {
    var settings: DBusSettings
    let surroundings: DesktopBus.Surroundings
    let gauges: Gauges<BusStatistics>
    private let courier: Courier<BusInbox>
    private let epoll: Epoll
    var readings = DesktopValues()
    var claims = ClaimTable()
    var clients: [String: BusClient] = [:]
    var questions = QuestionQueue()
    /// The unanswered claims, by their numbers.
    var calls: [UInt64: BusMessage] = [:]
    private var callCount: UInt64 = 0
    private(set) var connection: BusConnection?
    /// The descriptor registered with the epoll, and its events.
    private var watched: (descriptor: Int32, reads: Bool, writes: Bool)?
    private var reconnectNanoseconds: Int64 = 0
    private var failureCount = 0
    /// Whether clients may ask for the machine's sensors.
    private var isReady = false
    private var hasRequestedNames = false
    /// When refused names are requested again, on CLOCK_MONOTONIC.
    private var namesDueNanoseconds: Int64?
    private var wanted: DesktopSensors = []
    /// The calls that wait for the daemon's status.
    private var statusCalls: [BusMessage] = []
    private var lastFailure: String?
    /// The group of the settings, looked up once, because the group directory may be slow.
    lazy var group = AccountDatabase.group(settings.group)
    /// The index in ``ClaimAuthority/actions`` of the action that polkit answered about last.
    var action = 0
    /// When a refused claim may be logged again.
    var refusalLogNanoseconds = Int64.min

    /// The tables of the interfaces, which sd-bus references.
    private nonisolated(unsafe) static let tables = [BusInterface.proxy, .compass, .own].map { interface in
        // Read-only after their creation.
        (interface, interface.makeTable(call: BusService.takeCall, get: BusService.getProperty))
    }

    /// The maximum number of clients with claims, in all and of one account: the bus allows a connection 512 matches.
    package static let mostClients = 400
    package static let mostClientsOfAccount = 100
    /// The number of messages unread by the bus from which events are dropped.
    private static let mostQueued = 1024
    /// The pause before a refused name is requested again: the bus may have read its policy before the package was complete.
    private static let nameRetryNanoseconds: Int64 = 10_000_000_000
    /// The number of messages dispatched before the inbox is checked.
    private static let mostMessages = 64

    init(
        _ settings: DBusSettings, courier: Courier<BusInbox>, gauges: Gauges<BusStatistics>,
        surroundings: DesktopBus.Surroundings
    ) throws(SystemError) {
        self.settings = settings
        self.courier = courier
        epoll = try Epoll(waker: courier.waker)
        self.gauges = gauges
        self.surroundings = surroundings
    }

    private var receiver: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Runs until the service is requested to finish.
    func run() {
        while courier.stop == nil {
            let now = SystemClock.monotonic()
            if connection == nil, now >= reconnectNanoseconds { connect(now) }
            handle(courier.exchange(leaving: BusInbox()))
            if let due = namesDueNanoseconds, now >= due {
                hasRequestedNames = false
                requestNames()
            }
            let hasMore = process(now)
            askWaiting()
            answerDue(now)
            reportWanted(now)
            watch()
            // Messages of the bus are processed at each turn.
            epoll.wait(until: hasMore ? 0 : nextTime) { _, _ in }
        }
        disconnect()
    }

    // MARK: - The connection

    private func connect(_ now: Int64) {
        do throws(BusFailure) {
            let connection = try BusConnection(address: surroundings.address)
            for (interface, table) in Self.tables { try connection.add(interface, table, receiver: receiver) }
            for signal in ["NameAcquired", "NameLost"] {
                _ = try connection.match(
                    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='\(signal)'",
                    Self.nameChanged, receiver: receiver)
            }
            self.connection = connection
            hasRequestedNames = false
        } catch {
            lose(error, now)
        }
    }

    private func disconnect() {
        if let watched { epoll.remove(watched.descriptor) }
        watched = nil
        for client in clients.values { forget(client) }
        clients = [:]
        questions = QuestionQueue()
        calls = [:]
        statusCalls = []
        connection = nil
        namesDueNanoseconds = nil
        gauges.change { ($0.names, $0.claims) = ([], [:]) }
    }

    /// Closes the connection, and connects again after 1 s, doubled up to 32 s.
    private func lose(_ failure: BusFailure, _ now: Int64) {
        // First, so that a status without names has the reason.
        fail("\(failure); it is tried again", level: .error)
        disconnect()
        claims.removeAll(at: now)
        reconnectNanoseconds = now + 1_000_000_000 << min(Int64(failureCount), 5)
        failureCount += 1
    }

    /// Records a failure, and logs it if it is new.
    private func fail(_ text: String, level: LogLevel) {
        gauges.change { $0.failure = text }
        guard text != lastFailure else { return }
        lastFailure = text
        surroundings.say("D-Bus: \(text)", level)
    }

    private func process(_ now: Int64) -> Bool {
        guard let connection else { return false }
        do throws(BusFailure) {
            for _ in 0..<Self.mostMessages where !(try connection.process()) { return false }
            return true
        } catch {
            lose(error, now)
            return false
        }
    }

    private func watch() {
        guard let connection else { return }
        let (descriptor, events) = (connection.descriptor, connection.events)
        guard descriptor >= 0 else { return }
        do throws(SystemError) {
            if watched?.descriptor != descriptor {
                try epoll.add(descriptor, token: 0)
                watched = (descriptor, true, false)
            }
            if let watched, (watched.reads, watched.writes) != events {
                try epoll.change(descriptor, token: 0, reads: events.reads, writes: events.writes)
                self.watched = (descriptor, events.reads, events.writes)
            }
        } catch {
            lose(BusFailure(call: error.description, code: 0), SystemClock.monotonic())
        }
    }

    private var nextTime: Int64? {
        let reconnect = connection == nil ? reconnectNanoseconds : nil
        return [connection?.deadline, claims.deadline, reconnect, namesDueNanoseconds].compactMap { $0 }.min()
    }

    // MARK: - Names

    /// Requests the names once the sensors are known, because clients that find the service query it at once.
    private func requestNames() {
        guard let connection, !hasRequestedNames else { return }
        hasRequestedNames = true
        namesDueNanoseconds = nil
        attempt { () throws(BusFailure) in
            try connection.request(name: BusInterface.ownName, answer: Self.ownNameAnswered, receiver: receiver)
            try connection.request(name: BusInterface.proxyName, answer: Self.proxyNameAnswered, receiver: receiver)
        }
    }

    fileprivate func handle(nameAnswer message: BusMessage, _ name: String) {
        if let error = message.error {
            // The policy of the bus decides who may own a name.
            fail(
                """
                the bus does not give it the name \(name): \(error); 'systemctl reload dbus' has the bus read its policy again, \
                which on Debian the package binnacle-sensorproxy has
                """,
                level: .error)
            namesDueNanoseconds = SystemClock.monotonic() + Self.nameRetryNanoseconds
        } else if message.number() == 2 {
            fail(
                "another program has the name \(name) and keeps it: stop that program, or the name is taken when it ends",
                level: .warning)
        }
    }

    fileprivate func handle(nameChange message: BusMessage) {
        guard message.isOfBus, let name = message.text(), [BusInterface.ownName, BusInterface.proxyName].contains(name)
        else { return }
        let isOwned = message.member == "NameAcquired"
        if !isOwned { fail("it has lost the name \(name)", level: .warning) }
        gauges.change { state in
            state.names.removeAll { $0 == name }
            if isOwned { state.names.append(name) }
            if state.names.count == 2 { state.failure = nil }
        }
        if isOwned {
            failureCount = 0
            if name == BusInterface.proxyName { lastFailure = nil }
        }
    }

    // MARK: - The inbox

    private func handle(_ inbox: BusInbox) {
        if let settings = inbox.settings, settings != self.settings {
            self.settings = settings
            group = settings.claims == .group ? AccountDatabase.group(settings.group) : nil
            for client in clients.values { client.allowedUntil = nil }
        }
        if let readings = inbox.readings { publish(readings) }
        if inbox.isReady { isReady = true }
        if isReady { requestNames() }
        if let status = inbox.status {
            let calls = statusCalls
            statusCalls = []
            // The daemon's status is an object.
            let typed = calls.contains { $0.member == "Status" } ? try? JSONReader.value(of: status.utf8) : nil
            let value = typed.flatMap(BusValue.init) ?? .dictionary([])
            for call in calls {
                reply(to: call) { message throws(BusFailure) in
                    try message.append(call.member == "Status" ? value : .text(status))
                }
            }
        }
        if settings.broadcastsEvents { broadcast(inbox.events, dropped: inbox.droppedCount) }
    }

    private func publish(_ new: DesktopValues) {
        let old = readings
        readings = new
        for sensor in DesktopSensor.allCases {
            let changed = { (name: String) in new.value(of: name) != old.value(of: name) }
            if sensor.publicProperties.contains(where: changed) {
                emitChanges(sensor, sensor.publicProperties, to: nil)
            }
            for property in sensor.claimedProperties where changed(property) {
                for client in claims.claimers(of: sensor) { emitChanges(sensor, [property], to: client) }
            }
        }
    }

    /// Sends the current values of some properties to one client, or to all.
    private func emitChanges(_ sensor: DesktopSensor, _ properties: [String], to client: String?) {
        guard let connection else { return }
        let values = properties.compactMap { name in readings.value(of: name).map { (name, $0) } }
        attempt { () throws(BusFailure) in
            try connection.signal(
                "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: sensor.interface.path, to: client
            ) { message throws(BusFailure) in
                try message.append(sensor.interface.name)
                try message.append(dictionary: values)
                try message.append(emptyArrayOf: "s")
            }
        }
    }

    private func broadcast(_ events: [Event], dropped: Int) {
        var (sent, left) = (0, dropped)
        for event in events {
            guard let connection, connection.queuedCount < Self.mostQueued else {
                left += 1
                continue
            }
            attempt { () throws(BusFailure) in
                try connection.signal(
                    event.kind.busName, of: BusInterface.ownName, at: BusInterface.own.path
                ) { message throws(BusFailure) in try message.append(event) }
                sent += 1
            }
        }
        guard sent + left > 0 else { return }
        gauges.change { state in
            state.broadcastCount += sent
            state.droppedCount += left
        }
        // Without a bus there are no clients, and the failure is already logged.
        if left > 0, connection != nil { surroundings.dropped(left) }
    }

    // MARK: - Claims

    /// Sends a claimer the values, which correct its cache, and then the answer.
    func answer(_ call: BusMessage, _ sensor: DesktopSensor, to client: String) {
        for property in sensor.claimedProperties where isKnown(property, sensor) {
            emitChanges(sensor, [property], to: client)
        }
        reply(to: call)
    }

    /// Whether a value is worth sending: programs warn of an undefined orientation.
    private func isKnown(_ property: String, _ sensor: DesktopSensor) -> Bool {
        readings.present.contains(sensor) && readings.value(of: property) != .text("undefined")
    }

    private func answerDue(_ now: Int64) {
        for waiting in claims.removeAnswered(readings, at: now) { answer(waiting) }
    }

    func answer(_ waiting: ClaimTable.Waiting) {
        guard let call = calls.removeValue(forKey: waiting.call) else { return }
        answer(call, waiting.sensor, to: waiting.client)
    }

    /// The number of a claim that is answered later.
    func nextCallNumber() -> UInt64 {
        callCount += 1
        return callCount
    }

    private func reportWanted(_ now: Int64) {
        let now = claims.wanted(at: now)
        guard now != wanted else { return }
        wanted = now
        surroundings.wantedChanged(now)
    }

    // MARK: - Calls

    func reply(to call: BusMessage, _ write: (BusMessage) throws(BusFailure) -> Void = { _ in }) {
        guard let connection else { return }
        attempt { () throws(BusFailure) in try connection.reply(to: call, write) }
    }

    func refuse(_ call: BusMessage, _ name: String, _ text: String) {
        guard let connection else { return }
        attempt { () throws(BusFailure) in try connection.refuse(call, "org.freedesktop.DBus.Error." + name, text) }
    }

    /// A failure to send is ignored: the client may be gone, and ``process(_:)`` detects the loss of the bus.
    func attempt(_ body: () throws(BusFailure) -> Void) {
        do throws(BusFailure) {
            try body()
        } catch {
            surroundings.say("D-Bus: \(error)", .debug)
        }
    }

    fileprivate func handle(call message: BusMessage) {
        let member = message.member
        guard member != "GetStatus", member != "Status" else { return handleStatus(message) }
        guard let name = message.sender else { return }
        handleClaim(message, from: name)
    }

    private func handleStatus(_ message: BusMessage) {
        guard statusCalls.count < BusClient.mostCalls else {
            return refuse(message, "LimitsExceeded", "too many calls wait for the status")
        }
        statusCalls.append(message)
        guard statusCalls.count == 1 else { return }
        let courier = courier
        surroundings.status { text in courier.add { $0.status = text } }
    }

    fileprivate func value(of property: String) -> BusValue? {
        property == "Version" ? .text(surroundings.version) : readings.value(of: property)
    }
}

// MARK: - Functions for sd-bus

extension BusService {
    /// The service of a callback's receiver, and the message.
    ///
    /// Sound, because only the connection makes callbacks, and a service closes it before its own end, on the same thread.
    private static func context(
        _ raw: OpaquePointer?, _ receiver: UnsafeMutableRawPointer?
    ) -> (service: BusService, message: BusMessage)? {
        guard let raw, let receiver else { return nil }
        let service = Unmanaged<BusService>.fromOpaque(receiver).takeUnretainedValue()
        return service.connection.map { (service, BusMessage(keeping: raw, $0.library)) }
    }

    fileprivate static let takeCall: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let (service, message) = context(raw, receiver) else { return -ENOTCONN }
        service.handle(call: message)
        // The answer may follow later.
        return 1
    }

    fileprivate static let getProperty: sd_bus_property_get_t = { _, _, _, name, raw, receiver, _ in
        guard let (service, message) = context(raw, receiver), let name,
            let value = service.value(of: String(cString: name))
        else { return -ENOENT }
        do throws(BusFailure) {
            try message.append(value)
            return 1
        } catch {
            return -error.code
        }
    }

    fileprivate static let nameChanged: sd_bus_message_handler_t = { raw, receiver, _ in
        if let (service, message) = context(raw, receiver) { service.handle(nameChange: message) }
        return 0
    }

    fileprivate static let proxyNameAnswered: sd_bus_message_handler_t = { raw, receiver, _ in
        if let (service, message) = context(raw, receiver) {
            service.handle(nameAnswer: message, BusInterface.proxyName)
        }
        return 0
    }

    fileprivate static let ownNameAnswered: sd_bus_message_handler_t = { raw, receiver, _ in
        if let (service, message) = context(raw, receiver) { service.handle(nameAnswer: message, BusInterface.ownName) }
        return 0
    }
}

extension BusMessage {
    /// Appends an event: number, detector, sensor, stamp, and its figures with their types.
    fileprivate func append(_ event: Event) throws(BusFailure) {
        try append(event.sequence)
        try append(event.detector ?? "")
        try append(event.sensor ?? "")
        try append(event.timeNanoseconds)
        var entries = event.figures.map { ($0.name.rawValue, BusValue($0.value)) }
        if let wall = event.wallNanoseconds { entries.append(("wall_time", .text(WallTime.text(wall)))) }
        if event.isSimulated { entries.append(("simulated", .boolean(true))) }
        if let identity = event.identity { entries.append(("identity", .text(identity))) }
        try append(dictionary: entries)
    }
}

extension BusValue {
    init(_ value: Figure.Value) {
        switch value {
        case .number(let number, decimals: _): self = .number(number)
        case .integer(let number): self = .integer(number)
        case .word, .text: self = .text(value.description)
        }
    }
}
