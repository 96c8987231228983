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
    /// No line is longer, in bytes: the longest text of an event is a command's output of 64 KiB, of which JSON makes six times as much at
    /// most.
    private static let longestLine = 4 << 20
    private static let pieceSize = 65_536

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
                guard failures.waitBeforeRetry(unless: port.isOver) else { return }
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
        let end = try systemCall("lseek", path: path) { lseek(file.raw, 0, SEEK_END) }
        let first = max(0, end - Self.longestLine)
        var start = end
        while start > first {
            // `nil` when the file was truncated in the meantime: it is continued at its new end.
            guard let piece = try bytes(max(first, start - Self.pieceSize)..<start, of: file) else { return }
            let kept = piece.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            start -= piece.count - kept
            if kept > 0 { break }
        }
        if start < end {
            // Zeros that a power cut left, for example, may be longer than any line of ours.
            let isShort = start > first || first == 0
            guard let isCut = try isShort ? isIncomplete(start..<end, of: file) : false else { return }
            let wasCut = try isCut ? cut(file, to: start) : false
            if !wasCut {
                try systemCall("write", path: path) { Glibc.write(file.raw, "\n", 1) }
            }
        }
        isTorn = false
    }

    /// Cuts the file; returns `false` for one that can only be appended to (chattr +a).
    private func cut(_ file: Descriptor, to length: Int) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try systemCall("ftruncate", path: path) { ftruncate(file.raw, length) }
            return true
        } catch {
            guard error.code == EPERM else { throw error }
            return false
        }
    }

    /// Whether a line without its end is one of ours of which a part is missing; `nil` when the file was truncated in the meantime.
    private func isIncomplete(_ line: Range<Int>, of file: Descriptor) throws(SystemError) -> Bool? {
        guard let begin = try bytes(line.prefix(format.lineStart.count), of: file) else { return nil }
        guard zip(begin, format.lineStart).allSatisfy({ $0 == $1 }) else { return false }
        if isTorn { return true }
        guard let whole = try bytes(line, of: file) else { return nil }
        return !format.isWhole(whole)
    }

    /// A part of the file; `nil` where it has ended.
    private func bytes(_ range: Range<Int>, of file: Descriptor) throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = try systemCall("pread", path: path) {
            pread(file.raw, &bytes, range.count, range.lowerBound)
        }
        return count == range.count ? bytes : nil
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
