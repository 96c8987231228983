import CVirtual
import Glibc
import LinuxSystem

/// An open `/dev/uhid`: the messages between a HID device and the kernel.
struct HIDChannel {
    enum Message: Equatable {
        /// A report is requested; the answer has the same identifier.
        case get(identifier: UInt32, number: UInt8, cvirtual_report)
        /// A report is set, its number first.
        case set(identifier: UInt32, number: UInt8, cvirtual_report, [UInt8])
        /// A driver was bound or unbound, or the device was opened or closed.
        case other
    }

    let file: Descriptor

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

    /// Removes the device, if it exists.
    func destroy() {
        _ = cvirtual_hid_destroy(file.raw)
    }

    func send(_ report: [UInt8]) throws(SystemError) {
        let raw = file.raw
        try systemCall("UHID_INPUT2") { cvirtual_hid_input(raw, report, report.count) }
    }

    /// Answers with a report, or `nil` for none.
    func answerGet(_ identifier: UInt32, _ report: [UInt8]?) throws(SystemError) {
        let raw = file.raw
        let bytes = report ?? []
        try systemCall("UHID_GET_REPORT_REPLY") {
            cvirtual_hid_answer_get(raw, identifier, Self.error(report != nil), bytes, bytes.count)
        }
    }

    func answerSet(_ identifier: UInt32, isTaken: Bool) throws(SystemError) {
        let raw = file.raw
        try systemCall("UHID_SET_REPORT_REPLY") { cvirtual_hid_answer_set(raw, identifier, Self.error(isTaken)) }
    }

    private static func error(_ isGood: Bool) -> UInt16 { isGood ? 0 : UInt16(EIO) }

    /// Reads the next message; `nil` without one.
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
        // The kernel never closes its end; a test's double may.
        guard count > 0 else { throw SystemError(code: ENODEV, call: "read") }
        switch request.kind {
        case CVIRTUAL_GET_REPORT:
            return .get(identifier: request.identifier, number: request.report_number, request.report)
        case CVIRTUAL_SET_REPORT:
            // Copied, because the bytes are only valid during the request.
            let bytes = withUnsafeBytes(of: request.data) { Array($0.prefix(Int(request.size))) }
            return .set(identifier: request.identifier, number: request.report_number, request.report, bytes)
        default: return .other
        }
    }
}
