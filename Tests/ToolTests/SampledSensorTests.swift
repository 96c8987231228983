import Foundation
import TestSupport
import Testing

/// A sensor that no detector uses, and whose samples programs ask for.
@Suite struct SampledSensorTests {
    private static func box(sampling kinds: String, at socket: String) -> String {
        """
        [sensor.box]
        source = "iio"
        match = { name = "accel_box" }
        samples = \(kinds)
        [socket]
        path = "\(socket)"
        """
    }

    @Test func samplesNeedNoDetector() throws {
        let tree = try FifoTree()
        let box = try #require(try tree.addDevice(0, name: "accel_box"))
        let state = try TemporaryFolder()
        let socket = state.path + "/socket"
        let run = try DaemonRun(Self.box(sampling: "[\"accelerometer\"]", at: socket), ["--root", tree.root]).start()
        try waitUntil("the sensor is read") {
            let status = try Binary.run("status", "--socket", socket)
            return status.status == 0 && status.output.contains("sensor box: active")
        }
        let rows = try TemporaryFile()
        let client = Binary.process(["samples", "--sensor", "box", "--socket", socket])
        client.standardOutput = try rows.writer()
        try client.run()
        var written: Int64 = 0
        try waitUntil("samples") {
            try box.write(FifoNode.scan(0, 0, 1500, Clock.now()))
            written += 1
            return try rows.text().split(separator: "\n").count > 3
        }
        client.end()
        #expect(try rows.text().split(separator: "\n").count <= written + 1)
        // A detector is not there, and nothing complains of that.
        #expect(try Binary.run("status", "--socket", socket).output.contains("no detector") == false)
        #expect(run.stop() == 0)
    }

    /// What stands in for the sensors is read for the same clients, also without a detector.
    @Test func aModelGivesTheSamples() throws {
        let state = try TemporaryFolder()
        let socket = state.path + "/socket"
        let box = Self.box(sampling: "[\"accelerometer\", \"magnetometer\"]", at: socket)
        let run = try DaemonRun(box, ["--simulate", "walk"]).start()
        try run.waitForMessage("sensor 'box': --simulate walk plays it")
        try waitUntil("the socket") { try Binary.run("status", "--socket", socket).status == 0 }
        let rows = try TemporaryFile()
        let client = Binary.process(["samples", "--sensor", "box", "--socket", socket])
        client.standardOutput = try rows.writer()
        try client.run()
        try waitUntil("samples of both") {
            let text = try rows.text()
            return text.contains(",box,accelerometer,") && text.contains(",box,magnetometer,")
        }
        client.end()
        #expect(run.stop() == 0)
    }

    @Test func withoutASocketThatIsTold() throws {
        let text = """
            [sensor.box]
            source = "simulated"
            samples = ["gyroscope"]
            [motion.m]
            accelerometer = "box"

            """
        let folder = try TemporaryFolder(["binnacle.toml": text])
        let result = try Binary.run("check", folder.path + "/binnacle.toml")
        #expect(result.status == 0)
        #expect(result.errors.contains("there is no [socket], at which programs get these samples"), "\(result.errors)")
    }
}
