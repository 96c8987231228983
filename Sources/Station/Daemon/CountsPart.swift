import Binnacle
import Configuration
import LinuxSystem
import PlainText
import Store

/// Keeps the counts of detectors, such as steps, over a restart, and sets them to 0 on SIGUSR1.
final class CountsPart: DaemonPart {
    private unowned let daemon: Daemon
    private let inbox: PartInbox<CountsPart>
    private let path = EventStoreSettings.besideEvents("counts.json")
    private var counts: [String: Int64] = [:]
    private var isChanged = false
    private var isWriting = false
    /// When the file may be written next, on CLOCK_MONOTONIC.
    private var fileNanoseconds: Int64 = 0
    /// Why the last attempt to write failed.
    private var failure: String?

    private static let limits = (bytes: 65_536, counts: 64)
    private static let fileInterval: Int64 = 60_000_000_000

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
                case .array(let items)? = value["counts"]
            else { throw .irregular }
            for item in items.suffix(Self.limits.counts) {
                guard let name = item["detector"]?.text, let count = item["count"]?.integer, count >= 0 else {
                    continue
                }
                counts[name] = Int64(count)
            }
        } catch {
            if case .system(let error) = error, error.isMissing { return }
            daemon.log.say(
                "\(path.printable): counts cannot be read (\(error.reason)); they begin with 0", level: .warning)
        }
    }

    func willApply(_ change: ConfigurationChange) { record() }

    /// Continues the counts of the detectors that were made.
    func apply(_ change: ConfigurationChange) {
        for detector in change.after.detectors where detector.keptCount == 0 {
            if let count = counts[detector.name] { detector.restore(count: count) }
        }
    }

    func finishTurn(at now: Int64) {
        if daemon.interruption.takeReset() { reset() }
        guard now >= fileNanoseconds else { return }
        fileNanoseconds = now + Self.fileInterval
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
        let detectors = daemon.assembly.detectors.filter { $0.keptCount != nil }
        for detector in detectors { detector.restore(count: 0) }
        let names = Spelling.list(detectors.map(\.name))
        daemon.log.say(
            detectors.isEmpty ? "SIGUSR1: no detector counts" : "SIGUSR1: \(names) count from 0 again", level: .notice)
        record()
        write()
    }

    private func record() {
        for detector in daemon.assembly.detectors {
            guard let count = detector.keptCount, counts[detector.name] ?? 0 != count,
                counts[detector.name] != nil || counts.count < Self.limits.counts
            else { continue }
            counts[detector.name] = count
            isChanged = true
        }
    }

    /// Writes the file on another thread, unless one is writing: a disk may be slow.
    private func write() {
        guard daemon.options.viewSocket == nil, let path, isChanged, !isWriting else { return }
        isChanged = false
        var object = JSONObject()
        object.add("version", raw: "1")
        object.add(
            "counts",
            list: counts.sorted { $0.key < $1.key }.map { name, count in
                var entry = JSONObject()
                entry.add("detector", name)
                entry.add("count", raw: "\(count)")
                return entry.text
            })
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
            text = "\(path ?? ""): counts cannot be written (\(error.reason)); they are lost when the daemon ends"
            isChanged = true
        }
        if let text, text != failure { daemon.log.say(text, level: .warning) }
        failure = text
    }
}
