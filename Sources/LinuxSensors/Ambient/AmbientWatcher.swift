package import Binnacle
package import LinuxSystem

/// Reads light, proximity and switches on a thread of its own, because each reading may take as long as a driver needs.
///
/// What has no device is looked for again every ten seconds: such sensors are built in, and few come later.
package final class AmbientWatcher: Sendable {
    private let kinds: [AmbientReading.Kind]
    private let finder: AmbientFinder
    private let stopSignal: StopSignal

    /// How often a missing device is looked for.
    private static let searchNanoseconds: Int64 = 10_000_000_000

    /// Creates a watcher of kinds, each once, that does not read yet; `/sys` and `/dev` lie under `root`, if not the machine's own.
    package init(_ kinds: [AmbientReading.Kind], root: String?) throws(SystemError) {
        self.kinds = kinds
        finder = AmbientFinder(root: root ?? "")
        stopSignal = try StopSignal()
    }

    /// The kinds for which the machine has a device; looking may take as long as a driver needs.
    package static func present(_ kinds: [AmbientReading.Kind], root: String?) -> Set<AmbientReading.Kind> {
        let finder = AmbientFinder(root: root ?? "")
        return Set(kinds.filter { (try? finder.device($0)) != nil })
    }

    /// Starts the thread, which calls `tell`.
    package func start(tell: @escaping @Sendable (AmbientReading.Outcome) -> Void) throws(SystemError) {
        try WorkerThread.start { [self] in run(tell) }
    }

    /// Ends the thread; nothing is reported afterwards but a report under way.
    package func stop() { stopSignal.request() }

    private func run(_ tell: (AmbientReading.Outcome) -> Void) {
        var devices: [AmbientReading.Kind: AmbientDevice] = [:]
        var searchNanoseconds = Int64.min
        while true {
            let now = SystemClock.monotonic()
            let searches = now >= searchNanoseconds
            if searches { searchNanoseconds = now + Self.searchNanoseconds }
            for kind in kinds {
                guard let outcome = read(kind, &devices, searches: searches) else { continue }
                guard !stopSignal.isRequested else { return }
                tell(outcome)
            }
            let isComplete = kinds.allSatisfy { devices[$0] != nil }
            // A switch wakes the watcher by itself; that of proximity is read regularly as well, as by iio-sensor-proxy.
            let interval = devices.filter { $0.key != .tabletMode }.values.map(\.intervalNanoseconds).min()
            stopSignal.wait(
                for: devices.values.compactMap(\.switchDescriptor),
                nanoseconds: interval ?? (isComplete ? nil : searchNanoseconds - now))
            guard !stopSignal.isRequested else { return }
        }
    }

    /// Reads a kind, after a search where there is no device yet; `nil` when there is nothing to tell.
    private func read(
        _ kind: AmbientReading.Kind, _ devices: inout [AmbientReading.Kind: AmbientDevice], searches: Bool
    ) -> AmbientReading.Outcome? {
        do throws(SensorFailure) {
            if devices[kind] == nil {
                guard searches else { return nil }
                devices[kind] = try finder.device(kind)
            }
            guard let reading = try devices[kind]?.read() else { return nil }
            return .read(reading, timeNanoseconds: SystemClock.monotonic())
        } catch {
            devices[kind] = nil
            return .failed(kind, error)
        }
    }
}
