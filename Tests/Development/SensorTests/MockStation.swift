import Foundation
import TestSupport
import Testing

/// A test bed with mock devices, and `mockdev`, which plays the hardware in it; the commands are described there.
final class MockStation {
    /// The test bed's folder, with its own `sys` and `dev`.
    let root: String
    /// A folder for files, open to every user.
    let folder: String
    private let mockdev: Child
    private let commands: FileHandle
    private let answers: UnsafeMutablePointer<FILE>

    /// `environment` is added to that of the programs that it starts.
    init(environment: [String: String]? = nil) throws {
        folder = NSTemporaryDirectory() + "binnacle-station-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        chmod(folder, 0o777)
        let input = Pipe()
        let output = Pipe()
        mockdev = Child([Binary.buildFolder + "/mockdev"])
        mockdev.environment = environment
        mockdev.standardInput = input.fileHandleForReading
        mockdev.standardOutput = output.fileHandleForWriting
        mockdev.standardError = .standardError
        try mockdev.run()
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        commands = input.fileHandleForWriting
        answers = try #require(fdopen(dup(output.fileHandleForReading.fileDescriptor), "r"))
        root = try Self.answer(from: answers, to: "the start")
    }

    deinit {
        try? commands.close()
        mockdev.waitUntilExit()
        fclose(answers)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Gives mockdev a command and waits until it was obeyed.
    @discardableResult
    func obey(_ words: String...) throws -> String {
        try obey(words)
    }

    @discardableResult
    func obey(_ words: [String]) throws -> String {
        let line = words.map(Self.escaped).joined(separator: "\t")
        try commands.write(contentsOf: Data((line + "\n").utf8))
        return try Self.answer(from: answers, to: words.prefix(3).joined(separator: " "))
    }

    // MARK: Devices

    /// Puts devices into the test bed; the programs that listen to udev receive the events.
    func add(_ devices: MockDevice...) throws {
        let description = try TemporaryFile(devices.map(\.description).joined(separator: "\n"))
        try obey("add", description.path)
    }

    /// Takes a device away.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - hangsUp: Whether a reader's wait ends at once. The kernel's buffers do not wake a reader: only udev tells.
    /// - Throws: ``MockFailure``.
    func unplug(_ device: MockDevice, hangsUp: Bool = false) throws {
        try obey("unplug", device.path, hangsUp ? "hangup" : "silent")
    }

    /// Writes bytes as the hardware would, in pieces of a size, each after the program has read the one before, if it reads.
    ///
    /// The task sleeps meanwhile: there are as many threads for all tests as processors, and two tests that kept theirs for
    /// half a minute would have every other miss the states that it waits for.
    func write(
        _ bytes: [UInt8], to device: MockDevice, chunk: Int = 3600, isRead: Bool = true,
        orUntil isOver: () throws -> Bool = { false }
    ) async throws {
        // A pipe keeps no more than 4096 bytes in one piece; 3600 are a whole number of scans of any usual size.
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            let part = bytes[start..<min(start + chunk, bytes.count)]
            let hex = part.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
            try obey("write", device.node, hex)
            guard isRead else { continue }
            try await waitUntil("the program reads \(device.node)") {
                try obey("unread", device.node) == "0" || isOver()
            }
        }
    }

    func setAxis(_ number: Int, to axis: MockDevice.Axis, of device: MockDevice) throws {
        try obey("axis", device.node, "\(number) \(axis)")
    }

    // MARK: Files

    /// The place of an attribute, as seen from outside of the test bed.
    func path(_ attribute: String, of device: MockDevice) -> String {
        "\(root)/sys\(device.path)/\(attribute)"
    }

    func nodePath(of device: MockDevice) -> String { "\(root)/dev/\(device.node)" }

    /// What an attribute holds, without the end of the line.
    func attribute(_ name: String, of device: MockDevice) throws -> String {
        let data = try Data(contentsOf: URL(fileURLWithPath: path(name, of: device)))
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    func setAttribute(_ name: String, of device: MockDevice, to value: String) throws {
        // In place: a program that has it open, or watches it, keeps it.
        let file = try #require(FileHandle(forWritingAtPath: path(name, of: device)))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data((value + "\n").utf8))
        try file.close()
    }

    func removeAttribute(_ name: String, of device: MockDevice) throws {
        try FileManager.default.removeItem(atPath: path(name, of: device))
    }

    // MARK: Programs

    /// Starts the program under test in the test bed.
    func start(_ arguments: [String], asNobody: Bool = false) throws -> MockProgram {
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        let user = asNobody && geteuid() == 0 ? "65534" : "-"
        let words = ["spawn", user, output.path, errors.path, Binary.path] + arguments
        let identifier = try #require(pid_t(try obey(words)))
        return MockProgram(station: self, identifier: identifier, output: output, errors: errors)
    }

    /// Runs the program under test to its end.
    func run(_ arguments: String..., asNobody: Bool = false) async throws -> Binary.Result {
        let program = try start(arguments, asNobody: asNobody)
        let status = try await program.status()
        return Binary.Result(status: status, output: try program.output.text(), errors: try program.errors.text())
    }

    private static func answer(from file: UnsafeMutablePointer<FILE>, to command: String) throws -> String {
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        let count = getline(&line, &room, file)
        guard count > 0, let line else { throw MockFailure(message: "mockdev ended at: \(command)") }
        let text = String(cString: line).trimmingCharacters(in: .newlines)
        guard text.hasPrefix("ok") else { throw MockFailure(message: "\(command): \(text)") }
        return String(text.dropFirst(3))
    }

    private static func escaped(_ word: String) -> String {
        var text = ""
        for byte in word.utf8 {
            if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let octal = String(byte, radix: 8)
                text += "\\" + String(repeating: "0", count: 3 - octal.count) + octal
            }
        }
        return text
    }
}

/// What mockdev could not do.
struct MockFailure: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}
