import Binnacle
import Foundation
import TestSupport
import Testing

import Handlers
import MQTT

@Suite struct MQTTPayloadTests {
    private struct Members: Decodable {
        let seq: UInt64
        let identity: String?
        let key: String
        let previous: UInt64?
    }

    @Test func aReaderSeesWhatIsMissing() throws {
        var payloads = MQTTPayloads(template: nil)
        func next(_ number: UInt64, _ kind: EventKind, _ identity: String?, time: Int64 = 5) throws -> Members {
            var event = event(number, kind: kind)
            event.timeNanoseconds = time
            event.identity = identity
            return try JSONDecoder().decode(Members.self, from: Data(payloads.next(event)))
        }
        let first = try next(3, .motionBegan, "a")
        #expect(first.previous == nil && first.key == "3/motion.began" && first.identity == "a")
        let repeated = try [next(3, .motionMoving, "a", time: 6), next(3, .motionMoving, "a", time: 7)]
        #expect(repeated.map(\.key) == ["3/motion.moving/6", "3/motion.moving/7"])
        let later = try next(9, .motionEnded, "a")
        #expect(later.seq == 9 && later.previous == 3)
        #expect(try next(10, .shock, "b").previous == nil, "numbers of another identity say nothing")
        #expect(try next(11, .shock, "b").previous == 10)
    }

    @Test func aStoreKnowsTheMessageBeforeTheStart() throws {
        func first(behind stored: EventNumber?, _ numbers: UInt64...) throws -> [UInt64?] {
            var payloads = MQTTPayloads(template: nil)
            return try numbers.map { number in
                var event = event(number, kind: .shock)
                event.identity = "a"
                return try JSONDecoder().decode(Members.self, from: Data(payloads.next(event, behind: stored))).previous
            }
        }
        #expect(try first(behind: EventNumber(4, of: "a"), 6, 7) == [4, 6])
        #expect(try first(behind: EventNumber(4, of: "b"), 6, 7) == [nil, 6], "numbers of another identity")
        #expect(try first(behind: nil, 6) == [nil])
    }

    @Test func aMachineIsNotItsClone() throws {
        func parts(_ files: [String: String]) throws -> [String] {
            let folder = try TemporaryFolder(files)
            return MachineIdentity.parts(root: folder.path)
        }
        func card(_ place: String, _ address: String, type: String = "0") -> [String: String] {
            [
                "sys/class/net/\(place)/device/uevent": "", "sys/class/net/\(place)/address": address + "\n",
                "sys/class/net/\(place)/addr_assign_type": type + "\n",
            ]
        }
        let id = ["etc/machine-id": "0123\n"]
        let serial = id.merging(["sys/firmware/devicetree/base/serial-number": "77\0"]) { $1 }
        let card1 = card("eth0", "00:01")
        #expect(try parts(serial.merging(card1) { $1 }) == ["0123", "77"])
        let cards = id.merging(card1) { $1 }.merging(card("eth1", "00:02")) { $1 }
        #expect(try parts(cards) == ["0123", "00:01"])
        let virtual = id.merging(card("eth0", "00:03", type: "3")) { $1 }
        #expect(try parts(virtual) == parts(id), "an address that is made up is not that of the hardware")
        #expect(try parts([:]).first == "")
    }

    @Test(.enabled(if: MQTTClient.missingLibrary == nil, "libmosquitto1 is not installed"))
    func anIdentityIsADigest() throws {
        let identity = try #require(MachineIdentity.of(parts: ["0123", "00:01"]))
        // printf 'binnacle\n0123\n00:01' | sha256sum
        #expect(identity == "15b8d26c58ba39fa6e7b48e60181c5bd")
        #expect(identity != MachineIdentity.of(parts: ["0123", "00:02"]))
        #expect(MachineIdentity.current.utf8.count == 32)
    }
}
