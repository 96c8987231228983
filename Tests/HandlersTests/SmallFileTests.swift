import Dispatch
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// Small files that are replaced.
@Suite struct SmallFileTests {
    @Test func threadsThatReplaceAFileAtOnceAllDoSo() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        let failures = Mutex<[SystemError]>([])
        DispatchQueue.concurrentPerform(iterations: 100) { number in
            do throws(SystemError) {
                try SmallFile.replace(path, with: Array(repeating: UInt8(number), count: 10_000), mode: 0o600)
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let bytes = try SmallFile.bytes(path, limit: 100_000, kind: .regular)
        #expect(bytes.count == 10_000 && Set(bytes).count == 1)
        #expect(try folderNames(folder.path) == ["file"])
    }
}
