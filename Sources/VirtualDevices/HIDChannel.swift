import CVirtual
import Glibc
import LinuxSystem

/// An open `/dev/uhid`: what a HID device and the kernel say to each other.
struct HIDChannel {
    /// What the kernel says.
    enum Message: Equatable {
        /// It wants a report; the answer carries the identifier.
        case get(identifier: UInt32, number: UInt8, Report)
        /// It gives one, its number first.
        case set(identifier: UInt32, number: UInt8, Report, [UInt8])
        /// A driver came or went, or somebody opened or closed the device.
        case other
    }

    /// Which of a device's reports is meant.
    enum Report: Equatable {
        case feature, input, output
    }

    let file: Descriptor

    /// Makes a device of a report descriptor.
    func create(name: String, descriptor: [UInt8]) throws(SystemError) {
        let raw = file.raw
        try systemCall("UHID_CREATE2") {
            name.withCString { name in
                var identity = cvirtual_identity(
                    name: name, bus: VirtualIdentity.bus, vendor: VirtualIdentity.vendor,
                    product: VirtualIdentity.hub, version: VirtualIdentity.version)
                return cvirtual_hid_create(raw, &identity, descriptor, descriptor.count)
            }
        }
    }

    /// Takes the device away; one that is gone already is no matter.
    func destroy() {
        _ = cvirtual_hid_destroy(file.raw)
    }

    /// Hands over an input report.
    func send(_ report: [UInt8]) throws(SystemError) {
        let raw = file.raw
        try systemCall("UHID_INPUT2") { cvirtual_hid_input(raw, report, report.count) }
    }

    /// Answers with a report; `nil` says that there is none.
    func answerGet(_ identifier: UInt32, _ report: [UInt8]?) throws(SystemError) {
        let raw = file.raw
        let bytes = report ?? []
        try systemCall("UHID_GET_REPORT_REPLY") {
            cvirtual_hid_answer_get(raw, identifier, Self.error(report != nil), bytes, bytes.count)
        }
    }

    /// Says whether a report was taken.
    func answerSet(_ identifier: UInt32, isTaken: Bool) throws(SystemError) {
        let raw = file.raw
        try systemCall("UHID_SET_REPORT_REPLY") { cvirtual_hid_answer_set(raw, identifier, Self.error(isTaken)) }
    }

    private static func error(_ isGood: Bool) -> UInt16 { isGood ? 0 : UInt16(EIO) }

    /// Reads what the kernel says next; `nil` when it says nothing now.
    func read() throws(SystemError) -> Message? {
        let raw = file.raw
        var request = cvirtual_request()
        let count: Int32
        do throws(SystemError) {
            count = try systemCall("read") { cvirtual_hid_read(raw, &request) }
        } catch {
            if error.code == EAGAIN { return nil }
            throw error
        }
        // The kernel's end never closes by itself; without it nothing is left to answer.
        guard count > 0 else { throw SystemError(code: ENODEV, call: "read") }
        switch request.kind {
        case CVIRTUAL_GET_REPORT:
            return .get(
                identifier: request.identifier, number: request.report_number, Self.report(request.report))
        case CVIRTUAL_SET_REPORT:
            // The bytes are copied before the request goes.
            let bytes = withUnsafeBytes(of: request.data) { Array($0.prefix(Int(request.size))) }
            return .set(
                identifier: request.identifier, number: request.report_number, Self.report(request.report), bytes)
        default: return .other
        }
    }

    private static func report(_ report: cvirtual_report) -> Report {
        switch report {
        case CVIRTUAL_FEATURE: .feature
        case CVIRTUAL_INPUT: .input
        default: .output
        }
    }
}
