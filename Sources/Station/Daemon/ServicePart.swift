import Binnacle
import LinuxSystem
import PlainText

/// Reports the daemon's state to the service manager, and returns unused memory to the kernel.
final class ServicePart: DaemonPart {
    private unowned let daemon: Daemon
    private let manager = ServiceManager()
    /// When the daemon reports readiness even if devices have not answered.
    private var readyByNanoseconds = Int64.max
    /// When memory of the start or a reload is returned; `nil` once that is done.
    private var restNanoseconds: Int64?
    private var reportedState: (active: Int, all: Int, refusal: String?)?
    /// Why the last reload was refused; `nil` when it was not.
    private var refusal: String?

    /// Maximum time to wait for devices before readiness is reported, in nanoseconds.
    private static let longestStart: Int64 = 500_000_000
    /// Time after a start or a reload until its threads have ended and handlers have connected, in nanoseconds.
    private static let settling: Int64 = 1_000_000_000

    init(_ daemon: Daemon) {
        self.daemon = daemon
    }

    func willApply(_ change: ConfigurationChange) {
        if change.isFirst { readyByNanoseconds = SystemClock.monotonic() + Self.longestStart }
    }

    /// A reload begins, which ends with ``sayReady()``.
    func sayReloading(_ now: Int64) { manager.sayReloading(now) }

    /// The start or the reload is complete, or refused for a reason.
    func sayReady(refusing reason: String? = nil) {
        refusal = reason
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
        guard daemon.options.embedded == nil || daemon.options.isService || !daemon.router.activeSensors.isEmpty else {
            // Without a configuration file an absent sensor is no reason for a user to wait.
            let refusals = daemon.session.refusals
            return daemon.session.end(refusals.failure(refusals.all))
        }
        sayReady()
        sayAbsent()
    }

    /// Logs which sensors the machine lacks: nothing fails without them, and nothing happens either.
    private func sayAbsent() {
        let absent = daemon.router.sensors.filter(\.isAbsent).map { "'\($0.name)'" }
        guard !absent.isEmpty else { return }
        daemon.log.say(
            "none on this machine: \(absent.count == 1 ? "sensor" : "sensors") \(Spelling.list(absent)); what needs "
                + "\(absent.count == 1 ? "it" : "them") waits, and 'binnacle doctor' says where it looked",
            level: .notice)
    }

    /// Sends the number of active sensors, and why a reload was refused, as the service's status text.
    private func reportState() {
        let sensors = daemon.router.sensors
        let state = (active: sensors.count { $0.isActive }, all: sensors.count, refusal: refusal)
        // Called after each delivery, so the text is made only when it changes.
        guard reportedState.map({ $0 != state }) ?? true else { return }
        reportedState = state
        let refused = refusal.map { "; the configuration is refused: \($0)" } ?? ""
        manager.say("\(state.active) of \(state.all) sensors active\(refused)")
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
