import Binnacle
import LinuxSystem
import PlainText

/// What gyroscopes have taught the detectors, kept for the next start.
extension Daemon {
    /// Nanoseconds between two looks at what the detectors have learned, and between two writings of the file.
    private static let intervals = (look: Int64(60_000_000_000), file: Int64(600_000_000_000))

    /// Records what the detectors have learned.
    func noteGyroscopes() {
        let now = SystemClock.realtime()
        for state in assembly.detectors.compactMap(\.gyroscopeState) { gyroscopes.note(state, at: now) }
    }

    /// Has sensors recall what was learned of their devices.
    func recallGyroscopes() {
        for sensor in assembly.sensors.map(\.object) {
            sensor.recallGyroscope = { [gyroscopes] in gyroscopes.recall($0, at: SystemClock.realtime()) }
        }
    }

    /// Records what was learned, once a minute, and writes it after a rest; the disk has a thread of its own for that.
    func keepGyroscopes(_ now: Int64) {
        guard now >= gyroscopeLookNanoseconds else { return }
        gyroscopeLookNanoseconds = now + Self.intervals.look
        noteGyroscopes()
        guard gyroscopes.isChanged, now >= gyroscopeFileNanoseconds,
            assembly.detectors.contains(where: { $0.gyroscopeState?.isAtRest ?? false })
        else { return }
        gyroscopeFileNanoseconds = now + Self.intervals.file
        writeGyroscopes()
    }

    /// Has a thread write the file, unless one does.
    func writeGyroscopes() {
        guard options.view == nil, let path = gyroscopes.path, gyroscopes.isChanged, !isWritingGyroscopes else {
            return
        }
        let (mailbox, contents) = (mailbox, gyroscopes.takeContents())
        do throws(SystemError) {
            try WorkerThread.start {
                var failure: SystemError?
                do throws(SystemError) {
                    try OwnFolder.make(for: path)
                    try SmallFile.replace(path, with: contents, mode: GyroscopeBook.mode)
                } catch {
                    failure = error
                }
                mailbox.post(.gyroscopesWritten(failure))
            }
            isWritingGyroscopes = true
        } catch {
            gyroscopesWritten(error)
        }
    }

    /// Takes the end of a writing; a failure is logged once.
    func gyroscopesWritten(_ failure: SystemError?) {
        isWritingGyroscopes = false
        let text = failure.map {
            "\(gyroscopes.path ?? ""): what was learned of gyroscopes cannot be written (\($0.reason)); it is learned again after "
                + "each start"
        }
        if let text, text != gyroscopeFailure { log.say(text, level: .warning) }
        gyroscopeFailure = text
    }
}
