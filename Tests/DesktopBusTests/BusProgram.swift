import CSDBus
import Foundation
import LinuxSystem
import TestSupport
import Testing

import DesktopBus

/// A program on a bus, which lists what it gets in the order in which it comes.
final class BusProgram {
    let connection: BusConnection
    /// Changed properties as `Name=value`, answers as `Method: ok` or `Method: error`.
    private(set) var heard: [String] = []
    /// The actions that it allows as polkit; `nil` answers when ``answerHeld()`` is called.
    var allowed: Set<String>? = []
    private var held: [(message: BusMessage, action: String)] = []
    private var polkitCalls = 0

    init(_ bus: PrivateBus, listens: Bool = true) throws {
        connection = try BusConnection(address: bus.address)
        guard listens else { return }
        for rule in ["interface='org.freedesktop.DBus.Properties'", "interface='org.binnacle.Binnacle1'"] {
            _ = try connection.match(
                "type='signal'," + rule, Self.takeSignal, receiver: Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// Handles what has come.
    func process() throws {
        while try connection.process() {}
    }

    /// The messages that begin with a text.
    func heard(_ prefix: String) -> [String] { heard.filter { $0.hasPrefix(prefix) } }

    func forget() { heard = [] }

    /// Calls a method; the answer comes later.
    func call(
        _ method: String, of interface: String = BusInterface.proxyName, at path: String = BusInterface.proxy.path,
        of name: String = BusInterface.proxyName, write: (BusMessage) throws(BusFailure) -> Void = { _ in }
    ) throws {
        let pending = Pending(self, method)
        _ = try connection.call(
            method, of: interface, at: path, of: name, within: 60_000_000, answer: Pending.take,
            receiver: Unmanaged.passRetained(pending).toOpaque(), write)
    }

    /// Asks for a well-known name, with the flags of D-Bus; the answer is `RequestName: NUMBER`.
    func request(_ name: String, flags: UInt32) throws {
        try call("RequestName", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", of: "org.freedesktop.DBus") {
            message throws(BusFailure) in
            try message.append(name)
            try message.append(flags)
        }
    }

    /// Claims a sensor.
    func claim(_ sensor: DesktopSensor) throws {
        try call("Claim" + sensor.rawValue, of: sensor.interface.name, at: sensor.interface.path)
    }

    /// Releases a sensor.
    func release(_ sensor: DesktopSensor) throws {
        try call("Release" + sensor.rawValue, of: sensor.interface.name, at: sensor.interface.path)
    }

    /// Plays polkit.
    func becomePolkit(allowing actions: Set<String>?) throws {
        allowed = actions
        let authority = BusInterface(
            name: "org.freedesktop.PolicyKit1.Authority", path: "/org/freedesktop/PolicyKit1/Authority",
            members: [
                .method("CheckAuthorization", arguments: "(sa{sv})sa{ss}us", result: ("(bba{ss})", "result"))
            ])
        try connection.add(
            authority, authority.makeTable(call: Self.check, get: { _, _, _, _, _, _, _ in -1 }),
            receiver: Unmanaged.passUnretained(self).toOpaque())
        try request("org.freedesktop.PolicyKit1", flags: 0)
    }

    // MARK: - Functions for sd-bus

    private final class Pending {
        let program: BusProgram
        let method: String
        init(_ program: BusProgram, _ method: String) { (self.program, self.method) = (program, method) }

        static let take: sd_bus_message_handler_t = { raw, receiver, _ in
            guard let raw, let receiver else { return 0 }
            let pending = Unmanaged<Pending>.fromOpaque(receiver).takeRetainedValue()
            let message = BusMessage(keeping: raw, pending.program.connection.library)
            var answer = message.error ?? "ok"
            if pending.method == "RequestName", let number = message.number() { answer = "\(number)" }
            if pending.method == "GetAll" { answer = pending.program.dictionary(message).joined(separator: " ") }
            if pending.method == "GetStatus", let text = message.text() { answer = text }
            pending.program.heard.append("\(pending.method): \(answer)")
            return 0
        }
    }

    private static func program(_ receiver: UnsafeMutableRawPointer?) -> BusProgram? {
        receiver.map { Unmanaged<BusProgram>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let takeSignal: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let raw, let program = program(receiver) else { return 0 }
        let message = BusMessage(keeping: raw, program.connection.library)
        if message.member == "PropertiesChanged" {
            _ = message.text()
            // One signal, one line: which properties come together matters.
            program.heard.append(program.dictionary(message).joined(separator: " "))
        } else {
            program.heard.append(message.member + ": " + program.event(message))
        }
        return 0
    }

    private static let check: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let raw, let program = program(receiver) else { return 0 }
        let message = BusMessage(keeping: raw, program.connection.library)
        message.skip("(sa{sv})")
        let action = message.text() ?? ""
        program.heard.append("asked for \(action)")
        program.held.append((message, action))
        if program.allowed != nil { program.answerHeld() }
        return 1
    }

    /// Answers the questions to polkit that wait.
    func answerHeld() {
        for (message, action) in held { answer(message, about: action, allowing: allowed ?? []) }
        held = []
    }

    private func answer(_ message: BusMessage, about action: String, allowing allowed: Set<String>) {
        do {
            guard allowed.contains(action) || allowed.contains("known") || allowed.isEmpty else {
                return try connection.refuse(message, "org.freedesktop.PolicyKit1.Error.Failed", "not registered")
            }
            try connection.reply(to: message) { reply throws(BusFailure) in
                try reply.within("r", "bba{ss}") { () throws(BusFailure) in
                    try reply.append(.boolean(allowed.contains(action)))
                    try reply.append(.boolean(false))
                    try reply.append(emptyArrayOf: "{ss}")
                }
            }
        } catch {}
    }

    /// An event: its number, detector, sensor and stamp, and its figures with their types.
    private func event(_ message: BusMessage) -> String {
        var (sequence, stamp) = (UInt64(0), Int64(0))
        _ = connection.library.message_read_basic(message.raw, CChar(UInt8(ascii: "t")), &sequence)
        let names = [message.text() ?? "?", message.text() ?? "?"].joined(separator: " ")
        _ = connection.library.message_read_basic(message.raw, CChar(UInt8(ascii: "x")), &stamp)
        return "\(sequence) \(names) \(stamp) " + dictionary(message).joined(separator: " ")
    }

    private func dictionary(_ message: BusMessage) -> [String] {
        var entries: [String] = []
        guard message.enter("a", "{sv}") else { return ["?"] }
        while message.enter("e", "sv") {
            let name = message.text() ?? "?"
            let type = message.variantContents ?? "?"
            _ = message.enter("v", type)
            entries.append("\(name)=\(value(message, type))")
            message.exit()
            message.exit()
        }
        message.exit()
        return entries
    }

    private func value(_ message: BusMessage, _ type: String) -> String {
        switch type {
        case "s": return message.text() ?? "?"
        case "b": return message.boolean().map { "\($0)" } ?? "?"
        case "d":
            var number = 0.0
            _ = connection.library.message_read_basic(message.raw, CChar(UInt8(ascii: "d")), &number)
            return "\(number)"
        case "x":
            var number: Int64 = 0
            _ = connection.library.message_read_basic(message.raw, CChar(UInt8(ascii: "x")), &number)
            return "\(number)!"
        default: return "?" + type
        }
    }
}

/// Waits until something is the case, while programs handle what they get.
func wait(
    _ programs: BusProgram..., for what: String, sourceLocation: SourceLocation = #_sourceLocation,
    isCase: () throws -> Bool
) throws {
    try waitUntil("\(what); heard were \(programs.map(\.heard))", sourceLocation: sourceLocation) {
        for program in programs { try program.process() }
        return try isCase()
    }
}
