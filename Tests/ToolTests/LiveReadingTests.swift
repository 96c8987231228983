import Binnacle
import EventSocket
import LinuxSystem
import TestSupport
import Testing

/// The live readings of a daemon.
@Suite struct LiveReadingTests {
    private let folder: TemporaryFolder
    private let waker: Waker

    init() throws {
        folder = try TemporaryFolder()
        waker = try Waker()
    }

    private func subscribe(_ intervalNanoseconds: Int64) -> SubscriptionReader {
        var request = SubscriptionRequest()
        request.filter.kinds = []
        request.readings = LiveValuesRequest(intervalNanoseconds: intervalNanoseconds)
        return SubscriptionReader(request, path: folder.path + "/s", patience: .always, cancelling: waker.descriptor)
    }

    private func next(_ reader: SubscriptionReader) throws -> LiveValues {
        while true {
            if case .readings(let readings) = try reader.next() { return readings }
        }
    }

    /// A client that joins or leaves, and a reload, make the daemon begin other intervals, and cost a slow client nothing.
    @Test func theReadingsOfASlowClientHaveNoHole() throws {
        let configuration = """
            [socket]
            path = "\(folder.path)/s"
            [sensor.box]
            source = "simulated"
            model = "shake"
            [motion.moved]
            accelerometer = "box"
            """
        let daemon = try DaemonRun(configuration).start()
        let slow = subscribe(1_000_000_000)
        var end = try next(slow).timeNanoseconds
        for number in 1...3 {
            _ = try next(subscribe(100_000_000))
            try daemon.configure(configuration + "\nthreshold_g = 0.\(number)")
            daemon.reload()
            try daemon.waitForMessage("configuration reloaded", count: number)
            let readings = try next(slow)
            // Each collection is a nanosecond long at least.
            let hole = readings.timeNanoseconds - readings.intervalNanoseconds - end
            #expect(abs(hole) < 100, "\(hole) ns are in no reading")
            end = readings.timeNanoseconds
        }
        #expect(daemon.stop() == 0)
    }
}
