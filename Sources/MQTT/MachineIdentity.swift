import CMosquitto
import Handlers
import LinuxSystem
import PlainText

/// A unique identifier of the machine: 128 bits in hexadecimal, the same at each start.
///
/// /etc/machine-id alone is not unique: it is copied with images and memory cards. The hardware is therefore included: the serial
/// number of a board with a device tree, else the built-in address of a network card, else, as in a container, the machine's
/// name. /etc/machine-id is confidential (machine-id(5)), so only a digest leaves the machine.
package enum MachineIdentity {
    /// The identity of this machine; its name without libcrypto, on which libmosquitto also depends.
    package static let current = of(parts: parts(root: "")) ?? HostName.current

    private static let count = 16

    /// A digest of parts; `nil` when libcrypto is missing.
    package static func of(parts: [String]) -> String? {
        var reason: CChar = 0
        guard cmosquitto_load(MQTTClient.library, &reason, 1) != nil else { return nil }
        let text = Array((["binnacle"] + parts).joined(separator: "\n").utf8)
        var digest = [UInt8](repeating: 0, count: Int(CMOSQUITTO_DIGEST_SIZE))
        guard cmosquitto_digest(text, text.count, &digest) else { return nil }
        return digest.prefix(count).map(\.hexadecimal).joined()
    }

    /// The inputs of the identity: the installation and the hardware.
    package static func parts(root: String) -> [String] {
        let machine = SmallFile.kernelText(root + "/etc/machine-id") ?? ""
        let serial = SmallFile.kernelText(root + "/sys/firmware/devicetree/base/serial-number") ?? ""
        let hardware = serial.isEmpty ? networkAddress(root + "/sys/class/net") ?? HostName.current : serial
        return [machine, hardware]
    }

    /// The built-in address of the first network card; a USB card only if there is no other.
    private static func networkAddress(_ folder: String) -> String? {
        var cards: [(isAtUSB: Int, place: String, address: String)] = []
        for name in names(in: folder) {
            // An interface without a device is a bridge, a tunnel or a container's; 0 is NET_ADDR_PERM.
            guard let place = resolvedPath("\(folder)/\(name)/device"),
                SmallFile.kernelText("\(folder)/\(name)/addr_assign_type") == "0",
                let address = SmallFile.kernelText("\(folder)/\(name)/address"), !address.isEmpty
            else { continue }
            cards.append((place.contains("/usb") ? 1 : 0, place, address))
        }
        return cards.min { ($0.isAtUSB, $0.place) < ($1.isAtUSB, $1.place) }?.address
    }

    private static func names(in folder: String) -> [String] {
        ((try? folderNames(folder)) ?? []).filter { !$0.hasPrefix(".") }
    }
}
