import Binnacle
import SensorGeometry
import Synchronization
import TestSupport
import Testing
import Traces

/// What a program learns of a recording that is not quite right, and what it can say of it.
@Suite struct NoticeTests {
    private func notices(_ path: String) async throws -> [String] {
        let told = Mutex<[String]>([])
        let session = SensorSession {
            try TraceSource(paths: [path])
        } configure: { setup in
            setup.onNotice { notice in told.withLock { $0.append(notice) } }
            try setup.detectMotion()
        }
        try await session.run()
        return told.withLock { $0.map { $0.replacing(path, with: "FILE") } }
    }

    @Test func whatIsLeftOutAndAssumedIsToldOnce() async throws {
        let rows = (0..<10_000).map { "\(Double($0) / 100),\($0 % 2_500 == 7 ? "broken" : "0"),0,9.81" }
        let file = try TemporaryFile((["time_s,ax,ay,az"] + rows).joined(separator: "\n") + "\n")
        let told = try await notices(file.path)
        #expect(told.count == 5, "\(told)")
        #expect(told.first?.hasPrefix("assumed: FILE:1: no unit for ax, ay, az") == true)
        #expect(
            told.dropFirst().prefix(3).map { $0.split(separator: " ").first.map(String.init) } == [
                "FILE:9:6:", "FILE:2509:7:", "FILE:5009:7:",
            ])
        #expect(told.last == "4 × not a number: skipped")
    }

    @Test func aRecordingHasTheCalibrationsAndTheRateThatAreGiven() async throws {
        let file = try TemporaryFile(
            "ax_m_s2,ay_m_s2,az_m_s2\n" + (0..<100).map { _ in "1,0,9.81\n" }.joined())
        let path = file.path
        let calibration = SensorCalibration(
            accelerometer: AxisCalibration(offset: [1, 0, 0], matrix: Matrix3(diagonal: [1, 1, 2])))
        let session = SensorSession {
            try TraceSource(paths: [path], rateHz: 50, calibrations: ["accelerometer": calibration])
        } configure: { _ in
        }
        var samples: [Sample] = []
        for try await batch in session.samples(of: .accelerometer) { samples += batch.samples }
        let times: [Int64] = (0..<100).map { $0 * 20_000_000 }
        #expect(samples.map(\.timeNanoseconds) == times)
        #expect(samples.allSatisfy { $0.x == 0 && $0.z == 19.62 })
        #expect {
            try TraceSource(paths: [path], rateHz: 50, calibrations: ["acelerometer": calibration])
        } throws: {
            "\($0)".contains("there is no sensor `acelerometer` for a calibration")
        }
    }
}
