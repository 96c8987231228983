import Binnacle
import LinuxSystem
import PlainText
import Store

/// Saves what detectors have learned of gyroscopes and magnetometers for the next start.
final class GyroscopePart: DaemonPart {
    private unowned let daemon: Daemon
    private let memoryFile = GyroscopeMemoryFile(path: EventStoreSettings.inStateFolder("gyroscopes.json"))
    private let file: StateFile<GyroscopePart>
    /// Next times to query the detectors and to write the file, on CLOCK_MONOTONIC.
    private var lookNanoseconds: Int64 = 0
    private var fileNanoseconds: Int64 = 0

    /// Intervals of querying the detectors and of writing the file, in nanoseconds.
    private static let intervals = (look: Int64(60_000_000_000), file: Int64(600_000_000_000))

    init(_ daemon: Daemon) {
        self.daemon = daemon
        file = StateFile(daemon, memoryFile.path, of: \.file) {
            "what was learned of gyroscopes cannot be written (\($0)); it is learned again after each start"
        }
        if let failure = memoryFile.read() { daemon.log.say(failure, level: .warning) }
    }

    func willApply(_ change: ConfigurationChange) { record() }

    /// Gives sensors access to the memory of their devices.
    func apply(_ change: ConfigurationChange) {
        for sensor in daemon.assembly.sensors.map(\.object) {
            sensor.recallLearned = { [memoryFile] in memoryFile.recall($0, $1, at: SystemClock.realtime()) }
        }
    }

    /// Records what was learned every minute, and writes the file every ten.
    func finishTurn(at now: Int64) {
        guard now >= lookNanoseconds else { return }
        lookNanoseconds = now + Self.intervals.look
        record()
        if memoryFile.isChanged, now >= fileNanoseconds,
            daemon.assembly.detectors.contains(where: { $0.gyroscopeState?.isAtRest ?? false })
        {
            fileNanoseconds = now + Self.intervals.file
            file.isChanged = true
        }
        file.write(at: now, memoryFile.removeContents)
    }

    func end(_ stage: EndStage, until deadline: Int64) {
        switch stage {
        case .begin:
            record()
            if memoryFile.isChanged { file.isChanged = true }
            file.write(at: .max, memoryFile.removeContents)
        case .files: file.finish(until: deadline, memoryFile.removeContents)
        default: break
        }
    }

    var problems: [String] { file.problems }

    private func record() {
        let now = SystemClock.realtime()
        for state in daemon.assembly.detectors.compactMap(\.gyroscopeState) { memoryFile.record(state, at: now) }
    }
}
