import Binnacle
import CommandRows
import EventSocket
import LinuxSystem
import Pictures
import Station

/// `binnacle watch`: shows sensors and detectors live in the terminal.
struct WatchCommand {
    /// The readings of a daemon, or of sensors that this process reads itself.
    private enum Source {
        case daemon(String)
        case own(RunOptions, String)
    }

    private let source: Source
    private let sensor: String?
    private let duration: Duration?
    private let isUTC: Bool

    /// The shortest time between two frames.
    fileprivate static let frameNanoseconds: Int64 = 100_000_000

    init(_ arguments: Arguments) throws(StationError) {
        let traces = arguments.operands
        sensor = try arguments.onlyValue(
            .sensor, "watch shows one sensor or all: name one --sensor; keys choose others")
        duration = try arguments.duration()
        isUTC = arguments.has(.utc)
        var own = [OptionRow.simulate, .config, .set, .root].filter(arguments.has).map { "--\($0.name)" }
        if let trace = traces.first { own.append("'\(trace)'") }
        if let first = own.first, arguments.has(.socket) {
            throw .usage("\(first) does not go with --socket, which shows what a daemon reads")
        }
        let path = arguments.socketPath
        if own.isEmpty, arguments.has(.socket) || Self.isThere(path) {
            try arguments.refuse([.loop, .speed], "is for traces: name one")
            source = .daemon(path)
            return
        }
        var options = RunOptions()
        let paths = arguments.all(.config)
        options.configurationPath = paths.first
        options.embedded = try RunCommand.embedded(arguments, traces: traces, named: "a TRACE")
        options.settings = try arguments.settings()
        options.root = arguments.value(.root)
        let words =
            traces.isEmpty ? arguments.value(.simulate).map { "simulation: \($0)" } : traces.joined(separator: ", ")
        source = .own(options, words ?? "this machine's sensors")
    }

    /// Whether there is a daemon, also one that may not be asked: that is reported, and its sensors are not read beside it.
    private static func isThere(_ path: String) -> Bool {
        switch SocketPath.failure(path) {
        case .notRunning?, .system?: false
        default: true
        }
    }

    func run(_ console: Console) throws(StationError) -> ExitStatus {
        try mapError({ StationError($0) }) { () throws(SystemError) in
            try show(console)
        }.get()
    }

    private func show(_ console: Console) throws(SystemError) -> Result<ExitStatus, StationError> {
        let (errors, signals) = (console.errors, console.signals)
        let waker = try Waker()
        signals.listen(waking: waker.descriptor)
        let screen = TerminalScreen.ofStandardOutput()
        if screen != nil { signals.listenForTerminal() }
        let (path, words): (String, String)
        var daemon: ViewedDaemon?
        switch source {
        case .daemon(let socket): (path, words) = (socket, socket)
        case .own(let options, let source):
            let started = try ViewedDaemon(options, waking: waker)
            daemon = started
            (path, words) = (started.socketPath, source)
        }
        let feed = try WatchFeed(
            path: path, intervalNanoseconds: screen == nil ? 1_000_000_000 : Self.frameNanoseconds, isUTC: isUTC,
            waitsForDaemon: daemon != nil, waking: waker)
        var view = WatchView(
            state: WatchState(source: words, sensor: sensor), feed: feed, daemon: daemon, waker: waker,
            signals: signals,
            deadline: duration.map { Units.later(SystemClock.monotonic(), by: Units.nanoseconds($0)) })
        let result: Result<ExitStatus, StationError>
        if let screen {
            try screen.enter()
            result = view.run(on: screen)
            screen.leave()
        } else {
            result = view.run(on: console.output)
        }
        feed.end()
        for message in daemon?.end() ?? [] { errors.write(message) }
        errors.flush()
        return result
    }
}

/// The loop of a live view.
private struct WatchView {
    var state: WatchState
    let feed: WatchFeed
    let daemon: ViewedDaemon?
    let waker: Waker
    let signals: SignalListener
    /// On CLOCK_MONOTONIC; `nil` for no limit.
    let deadline: Int64?
    /// When readings came last, on CLOCK_MONOTONIC; `nil` before the first.
    var heardNanoseconds: Int64?

    /// After so long without a reading those shown are old, as in the page; the longest interval is a second.
    private static let patienceSeconds = 3
    private static let second: Int64 = 1_000_000_000

    /// The result once the view has to end; `nil` before.
    private var end: Result<ExitStatus, StationError>? {
        if signals.interruption.isRequested { return .success(signals.interruption.exitStatus) }
        if let outcome = daemon?.outcome { return outcome.map { .ok } }
        if let failure = feed.failure { return .failure(StationError(failure)) }
        if let deadline, SystemClock.monotonic() >= deadline { return .success(.ok) }
        return nil
    }

    /// Counts the seconds without a reading; `true` when there is another number to show.
    private mutating func countSilence(at now: Int64) -> Bool {
        let seconds = heardNanoseconds.map { Int((now - $0) / Self.second) } ?? 0
        let silent = seconds < Self.patienceSeconds ? nil : seconds
        defer { state.silentSeconds = silent }
        return silent != state.silentSeconds
    }

    private func timeout(_ due: Int64?) -> Int32 {
        let silent = state.silentSeconds.map { $0 + 1 } ?? Self.patienceSeconds
        let silence = heardNanoseconds.map { Units.later($0, by: Int64(silent) * Self.second) }
        return [due, deadline, silence].compactMap { $0 }.min().map { SystemClock.milliseconds(until: $0) } ?? -1
    }

    /// Draws frames and handles keys until the end.
    mutating func run(on screen: TerminalScreen) -> Result<ExitStatus, StationError> {
        var keys = TerminalKeys()
        var drawnNanoseconds: Int64 = 0
        var isChanged = true
        while true {
            waker.clear()
            let change = signals.takeTerminalChange()
            if change.contains(.stop) {
                screen.leave()
                signals.stopProcess()
                screen.resume()
            } else if change.contains(.resume) {
                screen.resume()
            }
            if !change.isEmpty { isChanged = true }
            let content = feed.take()
            if !content.isEmpty { isChanged = true }
            show(content)
            if let end { return end }
            let now = SystemClock.monotonic()
            if countSilence(at: now) { isChanged = true }
            let due = drawnNanoseconds + WatchCommand.frameNanoseconds
            if isChanged, now >= due {
                guard screen.draw(state) else { return .success(.ok) }
                (isChanged, drawnNanoseconds) = (false, now)
            }
            guard let bytes = screen.wait(waker.descriptor, timeoutMilliseconds: timeout(isChanged ? due : nil)) else {
                // The terminal is gone.
                return .success(.ok)
            }
            for key in keys.read(bytes) {
                isChanged = true
                guard state.press(key) else { return .success(.ok) }
            }
        }
    }

    /// Prints a line for each second of readings and for each event, until the end.
    mutating func run(on output: LineWriter) -> Result<ExitStatus, StationError> {
        while true {
            waker.clear()
            show(feed.take(), on: output)
            let before = state.silence
            if countSilence(at: SystemClock.monotonic()), before == nil, let silence = state.silence {
                output.write(silence)
            }
            output.flush()
            guard output.failure == nil else { return .success(.ok) }
            if let end { return end }
            waker.wait(timeoutMilliseconds: timeout(nil))
        }
    }

    /// Takes what came into the state, and prints it where there is no screen: events first, because readings are newer.
    private mutating func show(_ content: WatchFeed.Content, on output: LineWriter? = nil) {
        for (line, sensor) in content.lines {
            state.append(line: line, of: sensor)
            if state.shows(sensor) { output?.write(line) }
        }
        state.headingCount += content.headingCount
        if let readings = content.readings {
            heardNanoseconds = SystemClock.monotonic()
            state.update(readings)
            output?.write(state.trouble ?? WatchFrame.text(state))
        }
        if let trouble = content.trouble {
            state.trouble = trouble
            if let trouble { output?.write(trouble) }
        }
    }
}
