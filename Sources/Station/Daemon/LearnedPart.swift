import Binnacle
import Configuration
import LinuxSystem
import PlainText
import Store

/// Keeps what detectors have learned or counted across starts and reloads, in a small file in the state folder.
final class LearnedPart: DaemonPart {
    private unowned let daemon: Daemon
    private let file: StateFile<LearnedPart>
    /// By kind and name of the detector, each the text of a JSON object.
    private var entries: [String: String] = [:]
    private var dueNanoseconds: Int64 = 0

    private static let intervalNanoseconds: Int64 = 60_000_000_000
    private static let limits = (bytes: 4_194_304, entries: 64)

    init(_ daemon: Daemon) {
        self.daemon = daemon
        let path = EventStoreSettings.inStateFolder("learned.json")
        file = StateFile(daemon, path, of: \.file) {
            "what detectors have learned cannot be written (\($0)); it is kept until the next stop"
        }
        let words = ("what detectors had learned", "it is learned again")
        entries =
            StateFile<LearnedPart>.read(path, limit: Self.limits.bytes, log: daemon.log, words) { value in
                guard case .object(let members)? = value["detectors"] else { return nil }
                return Dictionary(members.prefix(Self.limits.entries).map { ($0.key, $0.value.json) }) { $1 }
            } ?? [:]
    }

    func willApply(_ change: ConfigurationChange) { record() }

    /// Gives detectors what those of their kind and name had learned.
    func apply(_ change: ConfigurationChange) {
        // One that goes on knows it.
        for detector in change.after.detectors
        where change.after.isOfDevices(detector) && !change.before.detectors.contains(where: { $0 === detector }) {
            guard let text = entries[Self.key(detector)], let value = try? JSONReader.value(of: text.utf8) else {
                continue
            }
            guard !detector.recall(value) else { continue }
            daemon.log.say(
                "\(detector.name): what it had learned is damaged, or of other settings; it is learned again",
                level: .warning)
        }
    }

    func finishTurn(at now: Int64) {
        guard now >= dueNanoseconds else { return }
        dueNanoseconds = Units.later(now, by: Self.intervalNanoseconds)
        record()
        write(at: now)
    }

    func end(_ stage: EndStage, until deadline: Int64) {
        switch stage {
        case .begin:
            record()
            write(at: .max)
        case .files: file.finish(until: deadline) { contents }
        default: break
        }
    }

    /// Makes a detector forget what it has learned or counted, and the file as well; returns why it cannot.
    func reset(_ name: String) -> String? {
        let detectors = daemon.assembly.detectors
        guard let detector = detectors.first(where: { $0.name == name }) else {
            let hint = Spelling.hint(for: name, among: detectors.map(\.name))
            return "there is no detector \(Spelling.quoted(name)) (\(hint))"
        }
        guard detector.resetKept() else {
            return "the \(type(of: detector).kind) detector '\(name)' keeps nothing"
        }
        // What the file has by this name was learned of a device.
        if daemon.assembly.isOfDevices(detector), entries.removeValue(forKey: Self.key(detector)) != nil {
            file.isChanged = true
        }
        record()
        write(at: .min)
        return nil
    }

    var problems: [String] { file.problems }

    private static func key(_ detector: any EventDetector) -> String { "\(type(of: detector).kind).\(detector.name)" }

    private func record() {
        for detector in daemon.assembly.detectors where daemon.assembly.isOfDevices(detector) {
            let key = Self.key(detector)
            guard let text = detector.learned, entries[key] != text else { continue }
            if entries[key] == nil, entries.count >= Self.limits.entries {
                // What belongs to a detector that is configured goes before what belongs to none.
                let configured = Set(daemon.assembly.detectors.map(Self.key))
                guard let left = entries.keys.filter({ !configured.contains($0) }).min() else { continue }
                entries[left] = nil
            }
            entries[key] = text
            file.isChanged = true
        }
    }

    private func write(at now: Int64) { file.write(at: now) { contents } }

    private var contents: [UInt8] {
        var detectors = JSONObject()
        for (key, text) in entries.sorted(by: { $0.key < $1.key }) { detectors.add(key, raw: text) }
        return Array((JSONObject.text(["version": "1", "detectors": detectors.text]) + "\n").utf8)
    }
}
