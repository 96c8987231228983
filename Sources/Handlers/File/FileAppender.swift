import Binnacle
import Glibc
import LinuxSystem

/// Appends events to a file, one line each; for one thread.
///
/// An event is acknowledged when its whole line was written: it survives the end of this process, and the kernel writes it to the
/// disk within about half a minute. A file that was renamed or removed is created again before the next line; a truncated file is
/// continued at its new end.
package final class FileAppender {
    private let path: String
    private let format: EventLineFormat
    private let port: HandlerPort
    private var file: Descriptor?
    private var batch: ArraySlice<Delivery> = []
    /// Whether the file may end in the begin of a line whose event is written again.
    private var isTorn = false
    private var failures: FailureReports

    private static let batchSize = 64

    /// The plan of a handler that appends its events to a file.
    package static func plan(
        _ path: String, as format: EventLineFormat = .json, _ pauses: RetryPauses = RetryPauses()
    ) -> HandlerPlan {
        var plan = HandlerPlan { port in FileAppender(path, format, port, FailureReports(port, pauses)).run() }
        plan.deliveryLimit = 256
        plan.pace = .room(done: "written")
        return plan
    }

    private init(_ path: String, _ format: EventLineFormat, _ port: HandlerPort, _ failures: FailureReports) {
        self.path = path
        self.format = format
        self.port = port
        self.failures = failures
    }

    private func run() {
        while true {
            // Read first, so that events queued before the request are included.
            let isStopping = port.stop != nil
            if batch.isEmpty { batch = port.removeFirst(atMost: Self.batchSize)[...] }
            batch.removeAll { item in
                guard port.leavesOut(item) else { return false }
                port.finish(item)
                return true
            }
            guard !batch.isEmpty else {
                if isStopping { return }
                port.courier.wait(milliseconds: port.reportDrops())
                continue
            }
            do throws(SystemError) {
                try append()
                failures.recover()
            } catch {
                failures.fail("\(path): \(Self.reason(error))")
                let mayGoOn = failures.waitBeforeRetry { attemptTime in
                    port.stop.map { !port.wouldLose || attemptTime >= $0.endTime } ?? false
                }
                guard mayGoOn else { return }
            }
        }
    }

    /// Writes the batch, and finishes the events whose lines were written completely.
    private func append() throws(SystemError) {
        let file = try currentFile()
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for item in batch {
            bytes += format.line(item.event)
            bytes.append(UInt8(ascii: "\n"))
            ends.append(bytes.count)
        }
        var written = 0
        var failure: SystemError?
        while written < bytes.count, failure == nil {
            do throws(SystemError) {
                written += try systemCall("write", path: path) {
                    bytes[written...].withUnsafeBytes { Glibc.write(file.raw, $0.baseAddress, $0.count) }
                }
            } catch {
                failure = error
            }
        }
        for end in ends where end <= written {
            if let item = batch.popFirst() { port.finish(item) }
        }
        guard let failure else { return }
        isTorn = true
        try repairEnd(of: file)
        throw failure
    }

    // MARK: - The file

    /// The file that the path names now; it ends with a complete line.
    private func currentFile() throws(SystemError) -> Descriptor {
        if let file, try fileStatus(of: file.raw).isSameFile(as: try? fileStatus(path)) {
            if isTorn { try repairEnd(of: file) }
            return file
        }
        file = nil
        isTorn = false
        // O_NONBLOCK: opening a FIFO without a reader would wait. O_NOFOLLOW: in a folder of another account a link may lead to any
        // file that root may write.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
        let opened = Descriptor(owning: try systemCall("open", path: path) { Glibc.open(path, flags, 0o640) })
        guard try fileStatus(of: opened.raw, path: path).isRegular else {
            throw SystemError(code: EINVAL, call: "open", path: path)
        }
        try repairEnd(of: opened)
        file = opened
        return opened
    }

    /// Removes an incomplete line of ours, whose event is written again, and terminates any other line, also a whole one of ours that has
    /// lost its end.
    ///
    /// A full disk or a kill may leave an incomplete line.
    private func repairEnd(of file: Descriptor) throws(SystemError) {
        var start = try systemCall("lseek", path: path) { lseek(file.raw, 0, SEEK_END) }
        var tail: [UInt8] = []
        while start > 0 {
            let size = min(4096, start)
            var piece = [UInt8](repeating: 0, count: size)
            let count = try systemCall("pread", path: path) { pread(file.raw, &piece, size, start - size) }
            // The file was truncated in the meantime.
            guard count == size else { break }
            let end = piece.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            tail = piece[end...] + tail
            start -= size - end
            if end > 0 { break }
        }
        if !tail.isEmpty {
            let isOurs = zip(tail, format.lineStart).allSatisfy { $0 == $1 }
            if isOurs, isTorn || !format.isWhole(tail) {
                let length = start
                try systemCall("ftruncate", path: path) { ftruncate(file.raw, length) }
            } else {
                try systemCall("write", path: path) { Glibc.write(file.raw, "\n", 1) }
            }
        }
        isTorn = false
    }

    private static func reason(_ error: SystemError) -> String {
        switch error.code {
        case ENOENT: "its folder does not exist"
        case EISDIR: "it is a directory"
        case ELOOP: "it is a symbolic link, which is not written through: name the file that it leads to"
        case EINVAL where error.call == "open", ENXIO: "it is no regular file"
        default: error.reason
        }
    }
}
