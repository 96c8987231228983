import Binnacle
import LinuxSystem
import PlainText

/// Saves the calibration that detectors have learned of gyroscopes for the next start.
final class GyroscopePart: DaemonPart {
    private unowned let daemon: Daemon
    private let inbox: PartInbox<GyroscopePart>
    private let memoryFile = GyroscopeMemoryFile(path: GyroscopeMemoryFile.standardPath)
    /// Next times to query the detectors and to write the file, on CLOCK_MONOTONIC.
    private var lookNanoseconds: Int64 = 0
    private var fileNanoseconds: Int64 = 0
    /// Whether a thread is writing the file.
    private var isWriting = false
    /// Why the last attempt to write failed.
    private var failure: String?

    /// Intervals of querying the detectors and of writing the file, in nanoseconds.
    private static let intervals = (look: Int64(60_000_000_000), file: Int64(600_000_000_000))

    init(_ daemon: Daemon) {
        self.daemon = daemon
        inbox = PartInbox(daemon)
        if let failure = memoryFile.read() { daemon.log.say(failure, level: .warning) }
    }

    func willApply(_ change: ConfigurationChange) { record() }

    /// Gives sensors access to the memory of their devices.
    func apply(_ change: ConfigurationChange) {
        for sensor in daemon.assembly.sensors.map(\.object) {
            sensor.recallGyroscope = { [memoryFile] in memoryFile.recall($0, at: SystemClock.realtime()) }
        }
    }

    /// Records what was learned every minute, and writes the file every ten.
    func finishTurn(at now: Int64) {
        guard now >= lookNanoseconds else { return }
        lookNanoseconds = now + Self.intervals.look
        record()
        guard memoryFile.isChanged, now >= fileNanoseconds,
            daemon.assembly.detectors.contains(where: { $0.gyroscopeState?.isAtRest ?? false })
        else { return }
        fileNanoseconds = now + Self.intervals.file
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

    private func record() {
        let now = SystemClock.realtime()
        for state in daemon.assembly.detectors.compactMap(\.gyroscopeState) { memoryFile.record(state, at: now) }
    }

    /// Writes the file on another thread, unless one is writing: a disk may be slow.
    private func write() {
        guard daemon.options.viewSocket == nil, let path = memoryFile.path, memoryFile.isChanged, !isWriting else {
            return
        }
        let contents = memoryFile.removeContents()
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
                "\(memoryFile.path ?? ""): what was learned of gyroscopes cannot be written (\(error.reason)); it is learned again "
                + "after each start"
        }
        if let text, text != failure { daemon.log.say(text, level: .warning) }
        failure = text
    }
}
