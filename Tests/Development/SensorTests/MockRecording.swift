import Foundation
import TestSupport
import Testing

/// A `binnacle record` that is running in a test bed.
final class MockRecording {
    let program: MockProgram
    let path: String

    private let station: MockStation

    fileprivate init(program: MockProgram, path: String, station: MockStation) {
        self.program = program
        self.path = path
        self.station = station
    }

    /// Waits until a device's buffer is switched on.
    func waitForBuffer(
        of device: MockDevice, controls: String = "buffer0", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await program.waitUntil("the buffer of \(device.node) is on", sourceLocation: sourceLocation) {
            try station.attribute(controls + "/enable", of: device) == "1"
        }
    }

    /// Waits until the file holds at least so many rows of samples.
    func waitForRows(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await program.waitUntil("\(count) rows are recorded", sourceLocation: sourceLocation) {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
            return text.split(separator: "\n", omittingEmptySubsequences: false).count - 2 >= count
        }
    }

    /// Waits until a sample of a stream is recorded that is wanted; until then, the device is fed again and again.
    func waitForSample(
        of kind: String, feeding feed: () async throws -> Void = {}, sourceLocation: SourceLocation = #_sourceLocation,
        where isWanted: (Recording.Sample) -> Bool
    ) async throws {
        try await program.waitUntil("a sample as wanted is recorded", sourceLocation: sourceLocation) {
            try await feed()
            guard let recording = try? Recording(path: path) else { return false }
            return recording.streams.contains { $0.key.hasSuffix("." + kind) && $0.value.contains(where: isWanted) }
        }
    }

    /// Ends it as a person does, and reads what it has written.
    func stop(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Recording {
        program.interrupt()
        let status = try await program.status()
        let said = try program.errors.text()
        #expect(status == 0, "\(said)", sourceLocation: sourceLocation)
        return try Recording(path: path)
    }
}

extension MockStation {
    /// Starts a recording of what is there.
    func record(_ arguments: String..., asNobody: Bool = false) throws -> MockRecording {
        let path = "\(folder)/\(UUID().uuidString).csv"
        let program = try start(["record"] + arguments + ["-o", path], asNobody: asNobody)
        return MockRecording(program: program, path: path, station: self)
    }

    /// Records the only device, which is read through sysfs, and gives its samples.
    func recordPolled(_ kind: String) async throws -> [Recording.Sample] {
        let recording = try record()
        try await recording.waitForRows(1)
        return try await recording.stop().only(kind)
    }

    /// A configuration file with some text.
    func configuration(_ text: String) throws -> String {
        let path = "\(folder)/\(UUID().uuidString).toml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
