import Foundation
import TestSupport
import Testing

/// `learned.json` in the state folder, damaged or replaced by something else.
@Suite struct LearnedFileTests {
    /// Starts a daemon with detectors of one sensor, whose socket and file are in a folder.
    private func start(_ detectors: String, _ arguments: [String], _ state: TemporaryFolder) throws -> DaemonRun {
        let sections = "[sensor.chip]\nsource = \"auto\"\n\(detectors)\n[socket]\npath = \"\(state.path)/socket\"\n"
        return try DaemonRun(sections, arguments, environment: ["STATE_DIRECTORY": state.path]).start()
    }

    private func waitForDetector(_ name: String, _ state: TemporaryFolder) throws {
        var status = ""
        try waitUntil("a running detector; the last status: \(status)") {
            status = try Binary.run("status", "--json", "--socket", state.path + "/socket").output
            return status.contains("\"name\":\"\(name)\"")
        }
    }

    /// What the daemon says of the file at its start, and what the file is after its end.
    private func run(_ prepare: (_ path: String) throws -> Void) throws -> (said: String, file: String?) {
        let (tree, state) = (try FifoTree(), try TemporaryFolder())
        _ = try tree.addDevice(0, name: "lsm6ds3_accel")
        let path = state.path + "/learned.json"
        try prepare(path)
        let detectors = """
            [steps.walk]
            accelerometer = "chip"
            [vibration.washer]
            accelerometer = "chip"
            learn_days = 1
            """
        let run = try start(detectors, ["--root", tree.root], state)
        try run.errors.wait { $0.contains("version ") }
        #expect(run.stop() == 0)
        var status = stat()
        #expect(lstat(path, &status) == 0)
        let isFile = status.st_mode & S_IFMT == S_IFREG
        return (try run.errors.text(), isFile ? try String(contentsOfFile: path, encoding: .utf8) : nil)
    }

    private let fresh = "{\"version\":1,\"detectors\":{\"steps.walk\":{\"steps\":0}}}\n"

    @Test(arguments: [
        ("", "(its contents make no sense); it is learned again"),
        (String(repeating: "{", count: 100_000), "(its contents make no sense); it is learned again"),
        (String(repeating: " ", count: 5_000_000), "(it is too large); it is learned again"),
        (#"{"version":2,"detectors":{}}"#, "(its contents make no sense); it is learned again"),
        (#"{"version":1,"detectors":{"steps.walk":{"steps":-5}}}"#, "walk: what it had learned is damaged"),
        (#"{"version":1,"detectors":{"steps.walk":{"steps":1e999}}}"#, "walk: what it had learned is damaged"),
    ])
    func whatIsNotUsedIsSaid(text: String, message: String) throws {
        let (said, file) = try run { try text.write(toFile: $0, atomically: true, encoding: .utf8) }
        #expect(said.contains(message), "\(said)")
        #expect(file == fresh)
    }

    @Test func whatIsOfOtherBandsIsSaid() throws {
        let (said, file) = try run {
            try #"{"version":1,"detectors":{"vibration.washer":{"other":[]},"steps.walk":{"steps":7}}}"#
                .write(toFile: $0, atomically: true, encoding: .utf8)
        }
        #expect(said.contains("washer: what it had learned is damaged, or of other settings"), "\(said)")
        #expect(file?.contains(#""steps.walk":{"steps":7}"#) == true, "\(file ?? "")")
    }

    /// A change that comes while the file is written is written after it, also at the end; one of eight ends lost it.
    @Test func whatIsResetLastIsOnTheDiskAfterTheEnd() throws {
        let tree = try FifoTree()
        _ = try tree.addDevice(0, name: "lsm6ds3_accel")
        for _ in 0..<8 {
            let state = try TemporaryFolder([
                "learned.json": #"{"version":1,"detectors":{"steps.a":{"steps":111},"steps.b":{"steps":222}}}"#
            ])
            let detectors = ["a", "b"].map { "[steps.\($0)]\naccelerometer = \"chip\"" }.joined(separator: "\n")
            let run = try start(detectors, ["--root", tree.root], state)
            try waitForDetector("b", state)
            for name in ["a", "b"] {
                let reset = try Binary.run("reset", name, "--socket", state.path + "/socket")
                #expect(reset.status == 0, "\(reset.errors)")
            }
            #expect(run.stop() == 0)
            let kept = try String(contentsOfFile: state.path + "/learned.json", encoding: .utf8)
            #expect(kept == #"{"version":1,"detectors":{"steps.a":{"steps":0},"steps.b":{"steps":0}}}"# + "\n")
        }
    }

    /// What a recording shows is no device's past: neither is it kept, nor does it go on from the device's.
    @Test func aRecordingTeachesNothing() throws {
        let state = try TemporaryFolder()
        let path = state.path + "/learned.json"
        let kept = #"{"version":1,"detectors":{"steps.walk":{"steps":7}}}"#
        try kept.write(toFile: path, atomically: true, encoding: .utf8)
        let rows = (0..<200).map { "\(Double($0) / 100),0,0,9.81\n" }.joined()
        let trace = try TemporaryFile("time_s,ax,ay,az\n" + rows, suffix: ".csv")
        let run = try start("[steps.walk]\naccelerometer = \"chip\"", ["--trace", trace.path, "--loop"], state)
        try waitForDetector("walk", state)
        // The device's count is neither shown nor changed.
        let reset = try Binary.run("reset", "walk", "--socket", state.path + "/socket")
        #expect(reset.status == 0, "\(reset.errors)")
        #expect(run.stop() == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == kept)
    }

    /// None is waited for, and none is followed.
    @Test func anotherKindOfFileIsReplaced() throws {
        let pipe = try run { try #require(mkfifo($0, 0o600) == 0) }
        #expect(pipe.said.contains("(it is a pipe or a device and no file); it is learned again") && pipe.file == fresh)
        let device = try run { try #require(symlink("/dev/zero", $0) == 0) }
        #expect(
            device.said.contains("(it is a pipe or a device and no file); it is learned again") && device.file == fresh)
        let folder = try run { try #require(mkdir($0, 0o700) == 0) }
        #expect(folder.said.contains("(it is a directory); it is learned again"))
        #expect(folder.said.contains("cannot be written") && folder.file == nil)
    }
}
