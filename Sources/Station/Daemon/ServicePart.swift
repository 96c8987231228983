import Binnacle
import LinuxSystem

/// Tells the service manager how the daemon is doing, and returns memory when nothing needs it.
final class ServicePart: DaemonPart {
    private unowned let daemon: Daemon
    private let manager = ServiceManager()
    /// When the daemon is ready even if devices have not answered.
    private var readyByNanoseconds = Int64.max
    /// When memory that the start or a reload needed is returned; `nil` once that is done.
    private var restNanoseconds: Int64?
    private var reportedState: (active: Int, all: Int)?

    /// The time after which the daemon reports readiness even if devices have not answered.
    private static let longestStart: Int64 = 500_000_000
    /// The time after a start or a reload in which the threads that it began have ended, and handlers have connected.
    private static let settling: Int64 = 1_000_000_000

    init(_ daemon: Daemon) {
        self.daemon = daemon
    }

    func willApply(_ change: ConfigurationChange) {
        if change.isFirst { readyByNanoseconds = SystemClock.monotonic() + Self.longestStart }
    }

    /// A configuration is read, until ``sayReady()``.
    func sayReloading(_ now: Int64) { manager.sayReloading(now) }

    /// Everything that was started or reloaded is set up.
    func sayReady() {
        manager.sayReady()
        restNanoseconds = SystemClock.monotonic() + Self.settling
        reportState()
    }

    func turn(_ answer: SampleAnswer, at now: Int64) {
        manager.giveLifeSign(now)
        switch answer {
        case .samples, .failed: reportState()
        case .pending, .ended: break
        }
    }

    func finishTurn(at now: Int64) {
        if !daemon.isReady { checkReadiness(now) }
        if let time = restNanoseconds, now >= time {
            restNanoseconds = nil
            ResidentMemory.giveBack()
        }
    }

    private func checkReadiness(_ now: Int64) {
        guard daemon.source.isSettled && !daemon.router.isHolding || now >= readyByNanoseconds else { return }
        daemon.becomeReady()
        guard daemon.options.embedded == nil || !daemon.router.activeSensors.isEmpty else {
            // Without a configuration there is no reason to wait for an absent sensor.
            let refusals = daemon.session.refusals
            return daemon.session.end(refusals.failure(refusals.all))
        }
        sayReady()
    }

    /// Shows the number of active sensors in the service's status.
    private func reportState() {
        let sensors = daemon.router.sensors
        let state = (active: sensors.count { $0.isActive }, all: sensors.count)
        // Called after each delivery: the text is made only when it changes.
        guard reportedState.map({ $0 != state }) ?? true else { return }
        reportedState = state
        manager.say("\(state.active) of \(state.all) sensors active")
    }

    var deadline: Int64? {
        var next = restNanoseconds
        if let milliseconds = manager.lifeSignMilliseconds {
            next = min(next ?? .max, SystemClock.monotonic() + Int64(milliseconds) * 1_000_000)
        }
        return daemon.isReady ? next : min(next ?? .max, readyByNanoseconds)
    }

    func end(_ stage: EndStage, until deadline: Int64) {
        if case .begin = stage { manager.sayStopping() }
    }
}
