import Binnacle
import Configuration
import Glibc
import LinuxSystem
import PlainText
import Store

/// A small file of one part beside the store or in the state folder, which is replaced as a whole on another thread: a disk may be slow.
final class StateFile<Part: DaemonPart> {
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

    /// Whether the last attempt to write failed.
    var hasFailed: Bool { failure != nil }

    /// The failure of the last attempt to write, as the daemon's status has it.
    var problems: [String] { failure.map { [$0] } ?? [] }

    /// Whether it may be written now; a daemon that only serves a view keeps nothing.
    var isReady: Bool { daemon.options.viewSocket == nil && path != nil && !isWriting }

    /// Writes the file while ``isReady``; the first of repeated failures is logged.
    func write(_ contents: [UInt8]) {
        guard let path else { return }
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

    /// Waits until it is written, at most until a time on CLOCK_MONOTONIC.
    func wait(until deadline: Int64) {
        while isWriting, case let left = SystemClock.milliseconds(until: deadline), left > 0 {
            daemon.waker.wait(timeoutMilliseconds: left)
            daemon.handleMessages()
        }
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
    /// Where the daemon with this store has a small file; `nil` when no folder is known, as for root outside the service.
    ///
    /// It is beside the store, which one daemon alone has, and without a store in the state folder. A store of another name than the usual
    /// one has its name before the file's, because two may be in one folder. Earlier versions had the file in the state folder in any case:
    /// the first start with a store of theirs copies it, and leaves it to other daemons. Then, and with a new store, whose file begins as
    /// `empty`, there is a file, so that what others write into the state folder later is not taken for an earlier version's.
    static func statePath(
        _ name: String, of store: EventStoreSettings?, empty: String, _ log: MessageLog
    ) -> String? {
        guard let usual = withoutConfiguration else { return nil }
        func split(_ path: String) -> (folder: String, file: String) {
            let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
            return (String(path[..<end]), String(path[end...]))
        }
        let (usualPlace, place) = (split(usual), split(store?.path ?? usual))
        let old = usualPlace.folder + name
        let path = place.folder + (place.file == usualPlace.file ? "" : place.file + "-") + name
        guard path != old, let store, access(path, F_OK) != 0 else { return path }
        let isUpgrade = access(store.path, F_OK) == 0 && access(old, F_OK) == 0
        do throws(SmallFile.Failure) {
            let bytes = try isUpgrade ? SmallFile.bytes(old, limit: 4_194_304, kind: .regular) : Array(empty.utf8)
            try mapError(SmallFile.Failure.system) { () throws(SystemError) in
                try SmallFile.replace(path, with: bytes, mode: 0o640)
            }
        } catch {
            // Of a new file the first write reports it.
            guard isUpgrade else { return path }
            log.say(
                "\(old.printable): cannot be copied to \(path.printable) (\(error.reason)); it is used where it is, and the next start "
                    + "tries again",
                level: .warning)
            return old
        }
        return path
    }
}
