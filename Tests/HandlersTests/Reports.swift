import Binnacle
import Foundation
import Handlers
import Synchronization
import TestSupport
import Testing

/// Collects what a command handler reports, and waits for it.
final class Reports: Sendable {
    private let list = Mutex<[Event]>([])

    var all: [Event] { list.withLock { $0 } }
    var add: @Sendable (Event) -> Void { { event in self.list.withLock { $0.append(event) } } }

    func of(_ kind: EventKind) -> [Event] { all.filter { $0.kind == kind } }
    /// The number of events that were reported as dropped.
    var droppedCount: Int { of(.eventsDropped).compactMap { $0.integer(.count) }.reduce(0, +) }

    /// Waits until something was reported.
    @discardableResult
    func wait(_ comment: String, until isEnough: ([Event]) -> Bool) throws -> [Event] {
        try waitUntil("\(comment); reported so far: \(all.map(\.json))") { isEnough(all) }
        return all
    }

    /// Waits for the end of commands, whatever it is.
    @discardableResult
    func waitForEnds(_ count: Int) throws -> [Event] {
        try wait("\(count) ends") { $0.filter { $0.kind != .eventsDropped }.count >= count }
    }

    /// A handler that reports here.
    func handler(
        _ program: String, _ arguments: [String] = [], _ settings: CommandSettings = CommandSettings()
    ) -> ThreadedHandler {
        command(program, settings) { _ in arguments }
    }

    /// A handler whose program's arguments depend on the event, and reports here.
    func command(
        _ program: String, _ settings: CommandSettings = CommandSettings(), name: String = "alarm",
        acknowledge: @escaping @Sendable (Int64) -> Void = { _ in }, arguments: @escaping @Sendable (Event) -> [String]
    ) -> ThreadedHandler {
        let plan = CommandSupervisor.plan(program: program, arguments: arguments, settings: settings)
        do {
            return try ThreadedHandler(name: name, plan, report: add, acknowledge: acknowledge)
        } catch {
            fatalError("no thread: \(error)")
        }
    }

    /// A handler that runs a few lines of sh, and reports here.
    func shell(
        _ lines: String, _ arguments: [String] = [], _ settings: CommandSettings = CommandSettings()
    ) -> ThreadedHandler {
        handler("/bin/sh", ["-c", lines, "sh"] + arguments, settings)
    }
}

func settings(_ change: (inout CommandSettings) -> Void) -> CommandSettings {
    var settings = CommandSettings()
    change(&settings)
    return settings
}

/// The settings of a command that is tried again.
func retrying(_ limit: Int, after delay: Duration) -> CommandSettings {
    settings {
        $0.retryLimit = limit
        $0.retryDelay = delay
    }
}

func event(_ sequence: UInt64 = 1, kind: EventKind = .shock, _ figures: [Figure] = []) -> Event {
    Event(
        kind: kind, detector: "moved", sensor: "chassis", sequence: sequence, timeNanoseconds: 1_000_000_007,
        figures: figures)
}

/// An event that no pipe takes in one piece.
let largeEvent = event(1, [Figure(.reason, .text(String(repeating: "a long word ", count: 100_000)))])

/// What a file holds; Foundation loses memory when a process is gone between the opening of its file and the reading.
func contents(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(descriptor, &piece, piece.count)
        guard count >= 0 else { return nil }
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += piece[..<count]
    }
}

/// Whether a process is there and is no zombie.
func isAlive(_ process: pid_t) -> Bool {
    guard let text = contents(of: "/proc/\(process)/stat") else { return false }
    // The state stands behind the name, which may hold anything, in brackets.
    let state = text.lastIndex(of: ")").map { text[$0...].dropFirst(2).prefix(1) }
    return state != "Z" && state != "X"
}

/// The numbers of processes that a program wrote into a file, one a line.
func processes(in file: String) -> [pid_t] {
    let text = contents(of: file) ?? ""
    // A last line without its end may be written yet.
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { pid_t($0) }
}

extension Event {
    func text(_ name: Figure.Name) -> String? {
        guard case .text(let text) = figure(name) else { return nil }
        return text
    }

    func integer(_ name: Figure.Name) -> Int? {
        guard case .integer(let value) = figure(name) else { return nil }
        return Int(value)
    }
}

extension ThreadedHandler {
    /// Waits until no program runs, waits for its turn, or is to be tried again.
    ///
    /// - Returns: Whether everything was run; a cancelled handler is stopped.
    func waitUntilIdle(because reason: String = "it was cancelled", isCancelled: () -> Bool = { false }) -> Bool {
        while !waitUntilIdle(milliseconds: 100) {
            guard isCancelled() else { continue }
            stop(within: .zero, because: reason)
            return false
        }
        return true
    }

    /// Stops, and waits for it.
    @discardableResult
    func stop(within duration: Duration, because reason: String = "Binnacle stops") -> Int {
        end(within: duration, because: reason)
        return waitForEnd(until: .max)
    }
}
