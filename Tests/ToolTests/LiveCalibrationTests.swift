import Foundation
import TestSupport
import Testing

/// `binnacle calibrate` with sensors: simulated ones, and FIFOs in place of devices.
@Suite struct LiveCalibrationTests {
    /// A run of the program, with what it says in files.
    private final class Run {
        let process: Child
        let output: TemporaryFile
        let errors: TemporaryFile

        init(_ arguments: [String]) throws {
            output = try TemporaryFile()
            errors = try TemporaryFile()
            process = Binary.process(["calibrate"] + arguments)
            process.standardOutput = try output.writer()
            process.standardError = try errors.writer()
            try process.run()
        }

        deinit { process.end() }

        func wait(for text: String) throws { try errors.wait { $0.contains(text) } }

        func end(_ signal: Int32? = nil) -> Int32 {
            if let signal { kill(process.processIdentifier, signal) }
            try? waitUntil("the end") { !process.isRunning }
            process.end()
            return process.terminationReason == .exit ? process.terminationStatus : -1
        }
    }

    private static let simulated = """
        [sensor.box]
        source = "simulated"
        model = "turn"
        rate_hz = 200

        """

    /// A simulated device turns flat on its back: what a person does who has not read how to calibrate.
    @Test func aSimulatedFlatTurnIsRefused() throws {
        let folder = try TemporaryFolder(["binnacle.toml": Self.simulated])
        let path = folder.path + "/out.toml"
        let run = try Run(["--config", folder.path + "/binnacle.toml", "-o", path])
        try run.wait(for: "keep turning: ")
        // How much of the turn has been measured is not said; each part of it is refused.
        sleep(2)
        #expect(run.end(SIGINT) == 65)
        #expect(try run.errors.text().contains("no calibration of the magnetometer: "))
        #expect(try run.errors.text().contains("nothing was written"))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// On a narrow terminal an instruction is wrapped, and no word of it is lost.
    @Test func instructionsFitIntoANarrowTerminal() throws {
        let folder = try TemporaryFolder(["binnacle.toml": Self.simulated])
        let program = "'\(Binary.path)' calibrate --config '\(folder.path)/binnacle.toml' --for 1s -o x.toml"
        let said = try Self.onTerminal(columns: 32, program, in: folder.path)
        #expect(said.contains("keep turning"), "\(said)")
        let frames = said.components(separatedBy: "\u{1B}[?7l").dropFirst().map {
            $0.components(separatedBy: "\u{1B}[?7h")[0]
        }
        #expect(!frames.isEmpty)
        for frame in frames {
            let lines = frame.split(whereSeparator: \.isNewline).map {
                $0.replacingOccurrences(of: "\u{1B}[K", with: "")
            }
            // The picture of the directions has a width of its own.
            let advice = lines.drop { !$0.contains("[") }.dropFirst()
            #expect(!advice.isEmpty && advice.allSatisfy { $0.count <= 31 }, "\(frame)")
        }
    }

    @Test func aRecordingOnATerminalShowsSecondsAndSamples() throws {
        let (tree, folder) = (try FifoTree(), try TemporaryFolder([:]))
        // The device is there as long as its node is.
        let node = try tree.addDevice(0, name: "accel_3d")
        defer { withExtendedLifetime(node) {} }
        let program = "'\(Binary.path)' record --root '\(tree.root)' --for 2s -o x.csv"
        let said = try Self.onTerminal(columns: 80, program, in: folder.path)
        #expect(said.contains(/\rrecord .*[0-9]+ s.*[0-9]+ samples/), "\(said)")
    }

    /// What a program writes to a terminal of so many columns.
    private static func onTerminal(columns: Int, _ program: String, in folder: String) throws -> String {
        let output = try TemporaryFile()
        let run = Child([
            "/bin/sh", "-c", "cd '\(folder)' && script -qec \"stty cols \(columns); \(program)\" /dev/null",
        ])
        run.standardOutput = try output.writer()
        run.standardInput = FileHandle.nullDevice
        try run.run()
        run.waitUntilExit()
        return try output.text()
    }

    @Test func theTimeEndsIt() throws {
        let folder = try TemporaryFolder(["binnacle.toml": Self.simulated])
        let run = try Run(["accelerometer", "--config", folder.path + "/binnacle.toml", "--for", "2s", "--json"])
        #expect(run.end() == 65)
        let found = try CalibrateTests.object(run.output.text())
        #expect(found["sensor"] as? String == "box")
        let figures = try #require(found["figures"] as? [String: Any])
        #expect(figures["positions"] as? Int == 1)
        #expect((figures["missing"] as? [String])?.contains("screen up") == false)
    }

    @Test func aTerminationIsNoWishForAResult() throws {
        let folder = try TemporaryFolder(["binnacle.toml": Self.simulated])
        let run = try Run(["--config", folder.path + "/binnacle.toml"])
        try run.wait(for: "keep turning: ")
        #expect(run.end(SIGTERM) == 143)
        #expect(try run.output.text().isEmpty)
    }

    /// The scans of a device that is turned: a spiral of directions with |z| in a range, in a field of 45 µT.
    private static func turn(_ node: FifoNode, heights: ClosedRange<Double>, count: Int) throws {
        for number in 0..<count {
            let z = heights.lowerBound + (heights.upperBound - heights.lowerBound) * Double(number) / Double(count - 1)
            let angle = Double(number) * 2.399963
            let level = (1 - z * z).squareRoot()
            // 0.1 µT a count: 0.001 gauss.
            let raw = [level * cos(angle) * 450 + 120, level * sin(angle) * 450 - 80, z * 450 + 200]
            try node.write(FifoNode.scan(Int16(raw[0]), Int16(raw[1]), Int16(raw[2]), Clock.now()))
            // The pipe is no longer than a few thousand scans, and a device takes its time.
            usleep(1000)
        }
    }

    /// Begins a calibration of a new device, which is turned until the upper half is missing.
    private static func beginTurning(_ tree: FifoTree, _ path: String) throws -> (node: FifoNode, run: Run) {
        let node = try #require(try tree.addDevice(0, name: "magn_3d", prefix: "in_magn", scale: "0.001"))
        let run = try Run(["--root", tree.root, "-o", path])
        try turn(node, heights: -0.98 ... -0.2, count: 300)
        try run.wait(for: "keep turning: the upper half is missing")
        return (node, run)
    }

    @Test func aDeviceIsTurnedUntilThereIsEnough() throws {
        let tree = try FifoTree()
        let folder = try TemporaryFolder()
        let path = folder.path + "/compass.toml"
        let (node, run) = try Self.beginTurning(tree, path)
        try Self.turn(node, heights: -0.2...0.98, count: 500)
        #expect(run.end() == 0)
        #expect(try run.output.text().contains("verdict: good; an ellipsoid"))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("hard_iron_uT = [1") && text.contains("\naxes = \"driver\"\n"), "\(text)")
    }

    /// A calibration is applied behind the mount matrix: one that was made with another one is wrong.
    @Test func aCalibrationOfOtherAxesIsRefused() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "magn_3d", prefix: "in_magn", scale: "0.001"))
        let folder = try TemporaryFolder()
        let (configuration, path) = (folder.path + "/binnacle.toml", folder.path + "/compass.toml")
        func configure(_ keys: String) throws {
            let section = "[sensor.box]\nsource = \"iio\"\nmatch = { name = \"magn_3d\" }\n"
            let text = section + "samples = [\"magnetometer\"]\n" + keys
            try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        }
        let matrix = "mount_matrix = \"0, 1, 0; -1, 0, 0; 0, 0, 1\"\n"
        try configure(matrix)
        let run = try Run(["--root", tree.root, "--config", configuration, "-o", path])
        try Self.turn(node, heights: -0.98 ... -0.2, count: 300)
        try run.wait(for: "keep turning: the upper half is missing")
        try Self.turn(node, heights: -0.2...0.98, count: 500)
        #expect(run.end() == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("\naxes = \"mount_matrix 0, 1, 0; -1, 0, 0; 0, 0, 1\"\n"), "\(text)")
        try configure(matrix + "calibration = \"compass.toml\"\n")
        let same = try Binary.run("check", configuration)
        #expect(same.status == 0, "\(same.output)\(same.errors)")
        try configure("calibration = \"compass.toml\"\n")
        let other = try Binary.run("check", configuration)
        #expect(
            other.status == 78
                && other.errors.contains(
                    "its [magnetometer] was made in mount_matrix 0, 1, 0; -1, 0, 0; 0, 0, 1, and [sensor.box] has the driver's axes"
                ), "\(other.output)\(other.errors)")
        // Files of earlier versions do not state their axes.
        let stated = text.split(separator: "\n").filter { !$0.hasPrefix("axes") }.joined(separator: "\n")
        try stated.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try Binary.run("check", configuration).status == 0)
    }

    /// What another calibration writes while the device is turned is kept, and not replaced without a question.
    @Test(arguments: ["accelerometer", "magnetometer"])
    func whatIsWrittenMeanwhileIsKept(kind: String) throws {
        let tree = try FifoTree()
        let folder = try TemporaryFolder()
        let path = folder.path + "/compass.toml"
        let (node, run) = try Self.beginTurning(tree, path)
        try "[\(kind)]\nsamples = 7\n".write(toFile: path, atomically: true, encoding: .utf8)
        try Self.turn(node, heights: -0.2...0.98, count: 500)
        let isRefused = kind == "magnetometer"
        #expect(run.end() == (isRefused ? 73 : 0))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("[\(kind)]\nsamples = 7\n") && text.contains("hard_iron_uT") != isRefused, "\(text)")
        #expect(try run.output.text().contains(isRefused ? "hard_iron_uT" : "(its [accelerometer] is kept)"))
        #expect(try run.errors.text().contains("was changed while the samples were taken") == isRefused)
    }

    /// Ctrl-C says that it is enough, and it is, for a sphere.
    @Test func whoeverEndsItGetsWhatThereIs() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "magn_3d", prefix: "in_magn", scale: "0.001"))
        let run = try Run(["--root", tree.root])
        try Self.turn(node, heights: -0.98...0.0, count: 400)
        try run.wait(for: "there is enough for a sphere")
        #expect(run.end(SIGINT) == 0)
        #expect(try run.output.text().contains("a sphere at most, because regions are missing"))
    }

    @Test func anAccelerometerIsHeldInSixPositions() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", scale: "0.01"))
        let run = try Run(["accelerometer", "--root", tree.root])
        try run.wait(for: "waiting for the accelerometer")
        let start = Clock.now() - 20_000_000_000
        var count: Int64 = 0
        for axis in 0..<3 {
            for sign in [1, -1] {
                var raw = [10, -20, 30]
                raw[axis] += sign * 981
                for _ in 0..<150 {
                    let time = start + count * 10_000_000
                    try node.write(FifoNode.scan(Int16(raw[0]), Int16(raw[1]), Int16(raw[2]), time))
                    count += 1
                }
                try waitUntil("the scans of a position to be read") { node.unreadCount == 0 }
            }
        }
        #expect(run.end() == 0)
        #expect(try run.output.text().contains("offset_m_s2 = [0.10000, -0.20000, 0.30000]"))
    }

    /// What was measured before the device went may be from half a turn: nothing is made of it.
    @Test func aDeviceThatGoesAwayEndsIt() throws {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "magn_3d", prefix: "in_magn", scale: "0.001"))
        let run = try Run(["--root", tree.root])
        try Self.turn(node, heights: -0.98...0.0, count: 400)
        try run.wait(for: "there is enough for a sphere")
        node.close()
        #expect(run.end() == 69)
        #expect(try run.errors.text().contains("binnacle: magn_3d: "))
        #expect(try run.output.text().isEmpty)
    }

    @Test func withoutADeviceItSaysWhereToLook() throws {
        let tree = try FifoTree()
        let result = try Binary.run("calibrate", "--root", tree.root)
        #expect(result.status == 69)
        #expect(result.errors.contains("no magnetometer was found; 'binnacle doctor' says where it looked"))
    }

    @Test func severalDevicesAreAskedAbout() throws {
        let tree = try FifoTree()
        for number in 0..<2 { _ = try tree.addDevice(number, name: "magn_\(number)", prefix: "in_magn") }
        let result = try Binary.run("calibrate", "--root", tree.root)
        #expect(result.status == 64)
        #expect(result.errors.contains("choose the magnetometer with --sensor"))
    }

    /// A person at a terminal sees two discs fill, and they are gone at the end.
    @Test func aTerminalHasAPicture() throws {
        // posix_openpt and its companions are not visible here; this is what they do.
        let controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        defer { close(controller) }
        var (lock, number) = (Int32(0), Int32(0))
        try #require(ioctl(controller, 0x4004_5431, &lock) == 0 && ioctl(controller, 0x8004_5430, &number) == 0)
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        let folder = try TemporaryFolder(["binnacle.toml": Self.simulated])
        let process = Binary.process(["calibrate", "--config", folder.path + "/binnacle.toml"])
        process.standardError = FileHandle(fileDescriptor: terminal)
        try process.run()
        close(terminal)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        var isInterrupted = false
        // The end of the last process that has the terminal open is an error.
        while case let count = read(controller, &chunk, chunk.count), count > 0 {
            bytes += chunk[..<count]
            let shown = String(decoding: bytes, as: UTF8.self)
            if !isInterrupted, shown.contains("#"), shown.contains("keep turning: ") {
                kill(process.processIdentifier, SIGINT)
                isInterrupted = true
            }
        }
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(process.terminationStatus == 65)
        #expect(text.contains("    upper half             lower half    "))
        #expect(text.contains("#") && text.contains("·"))
        #expect(text.contains("% of all directions"))
        #expect(text.contains("keep turning: "))
        // The picture, the bar and the advice, which may have two lines, are taken away before the verdict.
        let end = try #require(text.range(of: "no calibration of the magnetometer"))
        let last = try #require(text[..<end.lowerBound].range(of: "\u{1B}[?7l", options: .backwards))
        let shown = text[last.upperBound..<end.lowerBound]
        #expect(shown.hasSuffix("\r\u{1B}[\(shown.utf8.count { $0 == 10 })A\u{1B}[Jbinnacle: "))
    }
}
