package import Binnacle
package import LinuxSystem

/// Reads light, proximity and switches on its own thread, because a reading may block for as long as the driver takes.
///
/// A missing device is searched for every ten seconds, because such sensors are built in and seldom appear later.
package final class AmbientWatcher: Sendable {
    private let kinds: [AmbientReading.Kind]
    private let finder: AmbientFinder
    private let stopSignal: StopSignal

    /// The interval between searches for a missing device.
    private static let searchNanoseconds: Int64 = 10_000_000_000
    /// The time until one that failed is searched for: a single reading may fail.
    private static let retryNanoseconds: Int64 = 1_000_000_000

    /// Creates a watcher of different kinds, not started; `/sys` and `/dev` are under `root`, by default the machine's own.
    package init(_ kinds: [AmbientReading.Kind], root: String?) throws(SystemError) {
        self.kinds = kinds
        finder = AmbientFinder(root: root ?? "")
        stopSignal = try StopSignal()
    }

    /// The kinds for which the machine has a device; blocks for as long as the drivers take.
    package static func present(_ kinds: [AmbientReading.Kind], root: String?) -> Set<AmbientReading.Kind> {
        let finder = AmbientFinder(root: root ?? "")
        return Set(kinds.filter { (try? finder.device($0)) != nil })
    }

    /// Starts the thread, which calls `tell`.
    package func start(tell: @escaping @Sendable (AmbientReading.Outcome) -> Void) throws(SystemError) {
        try WorkerThread.start { [self] in run(tell) }
    }

    /// Ends the thread; at most one report in progress still follows.
    package func stop() { stopSignal.request() }

    private func run(_ tell: (AmbientReading.Outcome) -> Void) {
        var devices: [AmbientReading.Kind: AmbientDevice] = [:]
        var searchNanoseconds = Int64.min
        while true {
            let now = SystemClock.monotonic()
            let searches = now >= searchNanoseconds
            if searches { searchNanoseconds = now + Self.searchNanoseconds }
            for kind in kinds {
                let hadDevice = devices[kind] != nil
                guard let outcome = read(kind, &devices, searches: searches) else { continue }
                if hadDevice, devices[kind] == nil {
                    searchNanoseconds = min(searchNanoseconds, now + Self.retryNanoseconds)
                }
                guard !stopSignal.isRequested else { return }
                tell(outcome)
            }
            let isComplete = kinds.allSatisfy { devices[$0] != nil }
            // A switch wakes the watcher by itself; a proximity switch is polled as well, as by iio-sensor-proxy.
            let interval = devices.filter { $0.key != .tabletMode }.values.map(\.intervalNanoseconds).min()
            stopSignal.wait(
                for: devices.values.compactMap(\.switchDescriptor),
                nanoseconds: interval ?? (isComplete ? nil : searchNanoseconds - now))
            guard !stopSignal.isRequested else { return }
        }
    }

    /// Reads a kind, after a search if it has no device; `nil` when there is nothing to report.
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
