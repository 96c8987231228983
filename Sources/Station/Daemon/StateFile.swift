import Binnacle
import Configuration
import LinuxSystem
import PlainText
import Store

/// A small file of one part in the state folder, which is replaced as a whole on another thread: a disk may be slow.
final class StateFile<Part: DaemonPart> {
    /// Whether the file lacks something that this run knows.
    var isChanged = false
    /// Whether a thread is writing it.
    private(set) var isWriting = false

    private unowned let daemon: Daemon
    private let path: String?
    private let inbox: PartInbox<Part>
    private let file: @Sendable (Part) -> StateFile
    private let explain: (String) -> String
    /// Why the last attempt to write failed.
    private var failure: String?
    /// When a failed attempt is repeated, on CLOCK_MONOTONIC.
    private(set) var retryTime: Int64?

    private static var retryNanoseconds: Int64 { 60_000_000_000 }

    /// Names the file; with `nil` it is never written.
    ///
    /// `file` is this object, as its part has it; `explain` says what cannot be written for a reason, and what follows from that.
    init(
        _ daemon: Daemon, _ path: String?, of file: @escaping @Sendable (Part) -> StateFile,
        explain: @escaping (String) -> String
    ) {
        (self.daemon, self.path, self.file, self.explain) = (daemon, path, file, explain)
        inbox = PartInbox(daemon)
    }

    /// Whether there is a file, which keeps what this run knows.
    var hasPath: Bool { path != nil }

    /// The failure of the last attempt to write, as the daemon's status has it.
    var problems: [String] { failure.map { [$0] } ?? [] }

    /// Writes the file if it lacks something, or if a failed attempt is to be repeated by a time on CLOCK_MONOTONIC; the first of
    /// repeated failures is logged.
    func write(at now: Int64, _ contents: () -> [UInt8]) {
        // A daemon that only serves a view keeps nothing.
        guard isChanged || retryTime.map({ now >= $0 }) ?? false, !isWriting, daemon.options.viewSocket == nil, let path
        else { return }
        isChanged = false
        let contents = contents()
        do throws(SystemError) {
            try inbox.run {
                Result { () throws(SystemError) in
                    try OwnFolder.make(for: path)
                    // Readable by the group, like the events.
                    try SmallFile.replace(path, with: contents, mode: 0o640)
                }
            } then: { [file] part, result in
                file(part).finish(result)
            }
            isWriting = true
        } catch {
            finish(.failure(error))
        }
    }

    /// Writes the file until it lacks nothing, also what changed while it was written, at most until a time on CLOCK_MONOTONIC; what is
    /// lost then is logged.
    func finish(until deadline: Int64, _ contents: () -> [UInt8]) {
        write(at: .max, contents)
        while isWriting, case let left = SystemClock.milliseconds(until: deadline), left > 0 {
            daemon.waker.wait(timeoutMilliseconds: left)
            daemon.handleMessages()
            write(at: .min, contents)
        }
        if isWriting, let path { daemon.log.say("\(path): \(explain("the end came first"))", level: .warning) }
    }

    /// What a closure takes of the file's JSON; `nil` without a file, and for one that cannot be read, which is reported: what of it, and
    /// what follows.
    static func read<Kept>(
        _ path: String?, limit: Int, log: MessageLog, _ words: (lost: String, then: String),
        _ take: (JSONValue) -> Kept?
    ) -> Kept? {
        guard let path else { return nil }
        do throws(SmallFile.Failure) {
            let bytes = try SmallFile.bytes(path, limit: limit, kind: .regular)
            guard let value = try? JSONReader.value(of: bytes), value["version"]?.integer == 1, let kept = take(value)
            else { throw .malformed }
            return kept
        } catch {
            if error.isMissing { return nil }
            log.say("\(path.printable): \(words.lost) cannot be read (\(error.reason)); \(words.then)", level: .warning)
            return nil
        }
    }

    private func finish(_ result: Result<Void, SystemError>) {
        isWriting = false
        var text: String?
        if case .failure(let error) = result { text = "\(path ?? ""): \(explain(error.reason))" }
        if let text, text != failure { daemon.log.say(text, level: .warning) }
        failure = text
        retryTime = text == nil ? nil : Units.later(SystemClock.monotonic(), by: Self.retryNanoseconds)
    }
}

extension EventStoreSettings {
    /// The path of a small file in the state folder, wherever the store is; `nil` when no folder is known, as for root outside the service.
    static func inStateFolder(_ name: String) -> String? {
        withoutConfiguration.map { "\($0.folder)/\(name)" }
    }
}
