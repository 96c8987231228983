import Binnacle

/// The folders of one of a device's buffers: the channels' and the controls'.
///
/// Since Linux 5.11 both are `bufferN`; before, the channels are in `scan_elements` and the controls in `buffer`.
struct IIOBufferDirectory: Sendable {
    let elements: SysfsDirectory
    let controls: SysfsDirectory
    /// The buffer's number, which decides how the buffer is opened.
    let number: Int

    /// The buffers of a device, those of the new layout first.
    static func all(in device: SysfsDirectory) -> [IIOBufferDirectory] {
        var found: [IIOBufferDirectory] = []
        for name in device.names() where name.hasPrefix("buffer") {
            guard let number = Int(name.dropFirst(6)), (0..<64).contains(number) else { continue }
            let folder = device.directory(name)
            if folder.names().contains(where: { $0.hasSuffix("_en") }) {
                found.append(IIOBufferDirectory(elements: folder, controls: folder, number: number))
            }
        }
        found.sort { $0.number < $1.number }
        if found.isEmpty, device.has("scan_elements"), device.has("buffer") {
            found.append(
                IIOBufferDirectory(
                    elements: device.directory("scan_elements"), controls: device.directory("buffer"), number: 0))
        }
        return found
    }

    /// The first buffer with all axes of the kinds; `nil` when there is none.
    static func find(in device: SysfsDirectory, for kinds: [SampleKind]) -> IIOBufferDirectory? {
        all(in: device).first { buffer in
            kinds.flatMap(IIODevice.channels).allSatisfy { buffer.elements.has($0 + "_en") }
        }
    }

    static func isAnyOn(in device: SysfsDirectory) -> Bool {
        all(in: device).contains { (try? $0.controls.text("enable")) == "1" }
    }

    func enabledChannels() throws(SensorFailure) -> [ScanLayout.Channel] {
        var channels: [ScanLayout.Channel] = []
        for file in elements.names() where file.hasSuffix("_en") {
            if try elements.text(file) == "1" { channels.append(try channel(String(file.dropLast(3)))) }
        }
        return channels
    }

    /// The kernel's description of a channel.
    func channel(_ name: String) throws(SensorFailure) -> ScanLayout.Channel {
        let typeText = try elements.text(name + "_type")
        let indexText = try elements.text(name + "_index")
        guard let type = ScanType(typeText) else {
            throw SensorFailure(
                .description, "\(elements.path(name))_type: '\(typeText.prefix(80))' describes no channel of a scan")
        }
        guard let index = Int(indexText), index >= 0 else {
            throw SensorFailure(.description, "\(elements.path(name))_index: '\(indexText.prefix(80))' is no index")
        }
        return ScanLayout.Channel(name: name, index: index, type: type)
    }
}
