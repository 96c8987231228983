import Foundation
import TestSupport
import Testing

/// A line of `binnacle devices --json`.
struct ListedDevice: Decodable {
    struct Channel: Decodable, Equatable {
        let name: String
        let type: String?
        let scale: Double?
        let offset: Double?
    }

    let name: String
    let source: String
    let kinds: [String]
    let node: String?
    let path: String
    let id: String
    let label: String?
    let location: String?
    let mode: String?
    let channels: [Channel]
    let rateHz: Double?
    let mountMatrix: String?
    let mountMatrixFrom: String?
    let state: String
    let reason: String?

    private enum CodingKeys: String, CodingKey {
        case name, source, kinds, node, path, id, label, location, mode, channels, state, reason
        case rateHz = "rate_hz"
        case mountMatrix = "mount_matrix"
        case mountMatrixFrom = "mount_matrix_from"
    }

    static func list(_ text: String) throws -> [ListedDevice] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(ListedDevice.self, from: Data($0.utf8)) }
    }
}

extension MockStation {
    /// What `binnacle devices --json` says of the devices in the test bed.
    func devices(sourceLocation: SourceLocation = #_sourceLocation) async throws -> [ListedDevice] {
        let result = try await run("devices", "--json")
        #expect(result.status == 0, "\(result.errors)", sourceLocation: sourceLocation)
        return try ListedDevice.list(result.output)
    }

    /// What it says of the only one.
    func onlyDevice(sourceLocation: SourceLocation = #_sourceLocation) async throws -> ListedDevice {
        let all = try await devices(sourceLocation: sourceLocation)
        try #require(all.count == 1, "\(all.map(\.name))", sourceLocation: sourceLocation)
        return all[0]
    }
}
