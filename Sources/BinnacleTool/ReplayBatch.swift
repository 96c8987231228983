import Binnacle
import Configuration
import Glibc
import LinuxSystem
import PlainText
import Station
import Traces

/// `binnacle replay --each`: plays each recording that standard input names by itself, in one process.
///
/// An error in a recording becomes a line of the output. An error of the process, such as an output that cannot be written, no place
/// to unpack in, or a lack of descriptors, ends it, so that the caller can try again.
struct ReplayBatch {
    let options: ReplayOptions

    func run(_ console: Console) throws(StationError) -> ExitStatus {
        // Also when standard input names no recording.
        let namesDevice = try options.namesDevice()
        console.signals.listen()
        var names = InputLines(descriptor: STDIN_FILENO)
        let (output, errors, interruption) = (console.output, console.errors, console.signals.interruption)
        while let name = try names.next(isCancelled: { interruption.isRequested }) {
            let report = try play(name, namesDevice, output, errors, interruption)
            guard !interruption.isRequested else { break }
            if let table = options.table {
                report.add(to: table, as: name)
                // The caller may wait for this result before it names the next recording.
                if !names.hasMore { table.flush() }
            } else {
                output.write(report.json)
                output.flush()
            }
            errors.flush()
            guard output.failure == nil, options.table?.failure == nil else { break }
        }
        return interruption.isRequested ? interruption.exitStatus : .ok
    }

    private func play(
        _ name: String, _ namesDevice: Bool, _ output: LineWriter, _ errors: LineWriter, _ interruption: Interruption
    ) throws(StationError) -> ReplayReport {
        var options = options
        options.traces.paths = [name]
        // A caller with many recordings starts one process for each processor.
        options.traces.processorCount = 1
        options.recording = name
        options.writesJSON = options.table == nil
        func report(_ words: String) {
            errors.write("binnacle: \(words.hasPrefix(name.printable) ? "" : "\(name.printable): ")\(words)")
        }
        do throws(StationError) {
            guard !name.utf8.contains(0) else {
                throw .data("\(name.printable): holds a NUL: end all names with one, or none")
            }
            let status = try? fileStatus(name)
            // A pipe or a device may never end.
            if let status, !status.isRegular, !status.isFolder {
                throw .data("\(name.printable): is no regular file: replay it without --each")
            }
            if status == nil, name.hasSuffix("\r") {
                throw .noInput("\(name.printable): the list has the line ends of Windows, which tr -d '\\r' removes")
            }
            if status == nil, name.unicodeScalars.contains("\u{FFFD}") {
                throw .noInput("\(name.printable): the name is not UTF-8: rename the file")
            }
            try options.traces.openFolders(interruption)
            let replay = try Replay(options, output: output, errors: errors, interruption: interruption)
            for notice in replay.notices { report(notice) }
            let (summary, failures) = replay.run(.onTerminal("replay", isWanted: false))
            for notice in summary.notices { report(notice) }
            for failure in failures { report(failure.description) }
            return ReplayReport([name], failures.first?.status ?? .ok, failures, summary)
        } catch {
            // Without a file each recording's sensors make the configuration.
            let isConfigurationOwn = namesDevice || options.configurationPath == nil
            guard error.concernsRecording || isConfigurationOwn && error.status == .configuration else { throw error }
            report(error.description)
            return ReplayReport([name], refusedBecause: error)
        }
    }
}

/// The lines of a file or a pipe as they arrive, without empty ones; with a NUL before or soon behind the first line end they end
/// with one, as those of `find -print0` do.
struct InputLines {
    private let descriptor: Int32
    private var pending: [UInt8] = []
    private var isAtEnd = false
    /// What ends a line; `nil` before the first end has come.
    private var end: UInt8?

    /// Whether the next line or the end is available without waiting.
    var hasMore: Bool {
        if isAtEnd || end.map(pending.contains) ?? false { return true }
        return (try? waitUntilReady(descriptor, milliseconds: 0)) == true
    }

    /// Longer than any path.
    private static let longest = 65_536

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Waits for the next line; `nil` at the end, or if a signal cancels it.
    mutating func next(isCancelled: () -> Bool) throws(StationError) -> String? {
        while !isCancelled() {
            if let end, let place = pending.firstIndex(of: end) {
                let line = String(decoding: pending[..<place], as: UTF8.self)
                pending.removeSubrange(...place)
                if !line.isEmpty { return line }
            } else if isAtEnd {
                defer { pending = [] }
                return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
            } else {
                try fill()
            }
        }
        return nil
    }

    private mutating func fill() throws(StationError) {
        guard pending.count <= Self.longest else {
            throw .data("standard input: a line is longer than any path; each is the path of a recording")
        }
        var piece = [UInt8](repeating: 0, count: 16_384)
        let count = try mapError({ StationError(.inputOutput, "standard input: \($0.reason)") }) {
            () throws(SystemError) in try systemCallOnce("read") { read(descriptor, &piece, piece.count) }
        }
        // A signal interrupted the wait; the caller checks whether it cancels.
        guard let count else { return }
        isAtEnd = count == 0
        pending += piece[..<count]
        if end == nil { end = [0, UInt8(ascii: "\n")].first(where: pending.contains) }
    }
}
