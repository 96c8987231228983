import Binnacle
import Configuration
import LinuxSystem
import PlainText
import Store

/// Keeps what detectors have learned or counted across starts and reloads, in a small file in the state folder; on SIGUSR1 they count
/// from 0 again.
final class LearnedPart: DaemonPart {
    private unowned let daemon: Daemon
    private let inbox: PartInbox<LearnedPart>
    private let path = GyroscopeMemoryFile.standardPath.map { $0.replacing("gyroscopes.json", with: "learned.json") }
    /// By kind and name of the detector, each a JSON object.
    private var entries: [String: JSONValue] = [:]
    private var isChanged = false
    private var isWriting = false
    private var dueNanoseconds: Int64 = 0
    /// Why the last attempt to write failed.
    private var failure: String?

    private static let intervalNanoseconds: Int64 = 60_000_000_000
    private static let limits = (bytes: 4_194_304, entries: 64)

    init(_ daemon: Daemon) {
        self.daemon = daemon
        inbox = PartInbox(daemon)
        read()
    }

    private func read() {
        guard let path else { return }
        do throws(SmallFile.Failure) {
            let bytes = try SmallFile.bytes(path, limit: Self.limits.bytes, kind: .regular)
            guard let value = try? JSONReader.value(of: bytes), value["version"]?.integer == 1,
                case .object(let members)? = value["detectors"]
            else { throw .irregular }
            for member in members.prefix(Self.limits.entries) { entries[member.key] = member.value }
        } catch {
            if case .system(let error) = error, error.isMissing { return }
            daemon.log.say(
                "\(path.printable): what detectors had learned cannot be read (\(error.reason)); it is learned again",
                level: .warning)
        }
    }

    func willApply(_ change: ConfigurationChange) { record() }

    /// Gives detectors what those of their kind and name had learned.
    func apply(_ change: ConfigurationChange) {
        for detector in daemon.assembly.detectors { entries[Self.key(detector)].map(detector.recall) }
    }

    func finishTurn(at now: Int64) {
        if daemon.interruption.takeReset() { reset() }
        guard now >= dueNanoseconds else { return }
        dueNanoseconds = Units.later(now, by: Self.intervalNanoseconds)
        record()
        write()
    }

    func end(_ stage: EndStage, until deadline: Int64) {
        switch stage {
        case .begin:
            record()
            write()
        case .files:
            while isWriting, case let left = SystemClock.milliseconds(until: deadline), left > 0 {
                daemon.waker.wait(timeoutMilliseconds: left)
                daemon.handleMessages()
            }
        default: break
        }
    }

    private func reset() {
        let names = daemon.assembly.detectors.filter { $0.resetCount() }.map(\.name)
        daemon.log.say(
            names.isEmpty ? "SIGUSR1: no detector counts" : "SIGUSR1: \(Spelling.list(names)) count from 0 again",
            level: .notice)
        record()
        write()
    }

    private static func key(_ detector: any EventDetector) -> String { "\(type(of: detector).kind).\(detector.name)" }

    private func record() {
        // What a model shows is normal for no machine.
        for detector in daemon.assembly.detectors where !detector.isSimulated {
            guard let text = detector.learned, let value = try? JSONReader.value(of: Array(text.utf8)),
                entries[Self.key(detector)] != value, entries.count < Self.limits.entries
            else { continue }
            entries[Self.key(detector)] = value
            isChanged = true
        }
    }

    /// Writes the file on another thread, unless one is writing: a disk may be slow.
    private func write() {
        guard daemon.options.viewSocket == nil, let path, isChanged, !isWriting else { return }
        isChanged = false
        var detectors = JSONObject()
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) { detectors.add(key, raw: value.json) }
        var object = JSONObject()
        object.add("version", raw: "1")
        object.add("detectors", raw: detectors.text)
        let contents = Array((object.text + "\n").utf8)
        do throws(SystemError) {
            try inbox.run {
                Result { () throws(SystemError) in
                    try OwnFolder.make(for: path)
                    try SmallFile.replace(path, with: contents, mode: GyroscopeMemoryFile.mode)
                }
            } then: {
                $0.finishWriting($1)
            }
            isWriting = true
        } catch {
            finishWriting(.failure(error))
        }
    }

    /// Logs only the first of repeated failures.
    private func finishWriting(_ result: Result<Void, SystemError>) {
        isWriting = false
        var text: String?
        if case .failure(let error) = result {
            text =
                "\(path ?? ""): what detectors have learned cannot be written (\(error.reason)); it is kept until the next stop"
        }
        if let text, text != failure { daemon.log.say(text, level: .warning) }
        failure = text
    }
}
