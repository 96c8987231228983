import Binnacle
import LinuxSensors
import LinuxSystem

/// The way of live samples, as the daemon goes it: wait in epoll, read, decode, stamp, detect, tell the delegate.
final class LiveRun {
    private let tree: LiveTree
    private let source: LiveSource
    private let pipeline: Pipeline
    private let listener = EventListener()
    private let manager: MotionManager
    private var lastStamp: Int64 = 0

    /// Opens a device that is a FIFO.
    ///
    /// - Parameter settings: What is looked for.
    /// - Throws: ``BenchError`` when the device cannot be made or opened.
    init(_ settings: MotionSettings) throws(BenchError) {
        tree = try LiveTree()
        let request = SensorRequest(sensor: Sensor(name: "accel_3d"), kinds: [.accelerometer], interface: .iio)
        do throws(SystemError) {
            source = try LiveSource([request], finder: DeviceFinder(root: tree.root))
        } catch {
            throw BenchError(error)
        }
        manager = MotionManager(accelerometer: source.firstStream(of: .accelerometer), settings: settings)
        pipeline = Pipeline(source: source, detectors: [manager])
        manager.delegate = listener
        manager.startDetection()
        let deadline = SystemClock.monotonic() + 10_000_000_000
        while !source.isSettled {
            guard SystemClock.monotonic() < deadline else {
                throw .unavailable("the device in \(tree.root) was not opened within 10 seconds")
            }
            turn()
            source.wait(timeoutMilliseconds: 10)
        }
    }

    /// How many events the delegate was told.
    var eventCount: Int { listener.count }
    /// How many samples came through.
    var sampleCount: Int { pipeline.sampleCount }

    /// Work that writes scans and takes the time of what follows: from the wait to the delegate.
    func variant(_ label: String, batch: Int, clock: ClockCost) -> Variant {
        let writer = makeWriter(batch: batch)
        return Variant(timed: label) { times in
            var batches = BatchTimes(count: times, clock: clock)
            for _ in 0..<times {
                self.lastStamp = writer.write(notBefore: self.lastStamp)
                let start = SystemClock.monotonic()
                self.takeBatch()
                batches.add(SystemClock.monotonic() - start)
            }
            return batches.usual
        }
    }

    /// Writes scans for this device.
    func makeWriter(batch: Int) -> ScanWriter {
        ScanWriter(descriptor: tree.descriptor, batch: batch)
    }

    /// Takes batches in which every other sample is a blow.
    func takeEvents(_ writer: ScanWriter, times: Int) {
        for _ in 0..<times {
            lastStamp = writer.write(period: 2, notBefore: lastStamp)
            takeBatch()
        }
    }

    /// A turn of the daemon's loop: wait, and ask until there is nothing.
    private func takeBatch() {
        source.wait(timeoutMilliseconds: 1000)
        turn()
    }

    private func turn() {
        while true {
            guard case .samples = pipeline.turn() else { return }
        }
    }
}

/// Counts what it is told.
final class EventListener: MotionManagerDelegate {
    private(set) var count = 0

    func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) { count += 1 }
    func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) { count += 1 }
}
