import Glibc
import LinuxSystem

/// Folders for the time of a measurement, in `TMPDIR` or `/tmp`.
enum TemporaryFolder {
    /// Makes an empty folder.
    ///
    /// - Returns: Its path; whoever asked removes it.
    static func make() throws(BenchError) -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/binnacle-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchError(SystemError(code: errno, call: "mkdtemp", path: parent))
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a small file.
    static func put(_ path: String, _ text: String) throws(BenchError) {
        do throws(SystemError) {
            let raw = try systemCall("open", path: path) { open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
            let file = Descriptor(owning: raw)
            try systemCall("write", path: path) { write(file.raw, text, text.utf8.count) }
        } catch {
            throw BenchError(error)
        }
    }
}
