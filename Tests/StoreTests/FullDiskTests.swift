import Binnacle
import Foundation
import LinuxSystem
import Store
import TestSupport
import Testing

/// A small disk of its own, as long as this object lives.
private final class SmallDisk {
    private let folder: StoreFolder
    var path: String { folder.path + "/disk" }
    var file: String { path + "/events.db" }

    /// Mounts it; `nil` when that takes more rights than there are.
    init?(kilobytes: Int) throws {
        folder = try StoreFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/disk", withIntermediateDirectories: false)
        guard try Self.run(["mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "binnacle-test", path]) else {
            print("skipped: a disk cannot be mounted")
            return nil
        }
    }

    func remount(_ option: String) throws {
        #expect(try Self.run(["mount", "-o", "remount,\(option)", path]))
    }

    deinit {
        // Lazily, so that it goes also when something is open there.
        _ = try? Self.run(["umount", "--lazy", path])
    }

    private static func run(_ words: [String]) throws -> Bool {
        let child = Child(words)
        try child.run()
        child.waitUntilExit()
        return child.terminationStatus == 0
    }

    /// Writes until nothing more has room.
    func fill() throws {
        let descriptor = open(path + "/filler", O_CREAT | O_WRONLY | O_APPEND, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        for size in [4096, 1] {
            let bytes = [UInt8](repeating: 1, count: size)
            while write(descriptor, bytes, size) > 0 {}
        }
    }

    func makeRoom() { unlink(path + "/filler") }
}

/// A full disk, and one that cannot be written to: detection goes on, and what was kept is there afterwards.
@Suite(.serialized) struct FullDiskTests {
    @Test func aDiskThatFillsUp() throws {
        guard let disk = try SmallDisk(kilobytes: 512) else { return }
        let run = try StoreRun(disk.file)
        run.attach(limit: 10)
        var number: UInt64 = 0
        // The store fills the disk by itself.
        try run.wait("the disk to be full") {
            run.append(number + 1...number + 20)
            run.submit(number + 1...number + 20)
            number += 20
            try run.settle()
            return !run.of(.storeFailed).isEmpty
        }
        let reason = try #require(run.of(.storeFailed).first?.text(.reason))
        #expect(reason.contains("full") && reason.contains("make room"), "\(reason)")
        let stored = try run.history().numbers
        #expect(stored.first == 1 && stored == Array(1...UInt64(stored.count)), "what was stored can be read")
        // Live events go on.
        run.append(number + 1...number + 100)
        run.submit(number + 1...number + 100)
        number += 100
        try run.settle()
        #expect(run.published.numbers == Array(1...number))
        #expect(run.store.statistics.notStoredCount == Int(number) - stored.count)
        // So do deliveries, in order, first those that are in the file.
        var done = 0
        while done < Int(number) {
            let delivered = run.delivered()
            for delivery in delivered.dropFirst(done).prefix(200) { run.store.acknowledge("alarm", delivery.ticket) }
            try #require(delivered.count > done, "it stands still at \(done)")
            done = delivered.count
            try run.settle()
            if done > Int(number) / 2 { break }
        }
        try disk.remount("size=4m")
        try run.wait("the recovery") { run.of(.storeRecovered).count == 1 }
        #expect(run.of(.storeRecovered).first?.integer(.count) == run.store.statistics.notStoredCount)
        run.append(number + 1...number + 10)
        run.submit(number + 1...number + 10)
        number += 10
        try run.settle()
        #expect(try run.history().numbers.suffix(10) == Array(number - 9...number)[...])
        run.end()
        #expect(run.of(.storeFailed).count == 1, "it is reported once")
        let next = try StoreRun(disk.file)
        next.attach()
        try next.settle()
        let first = Set(run.delivered().dropLast(10).numbers)
        #expect(first.union(next.delivered().numbers).count == Int(number), "nothing is missing")
        #expect(next.delivered().numbers == next.delivered().numbers.sorted())
        #expect(first.intersection(next.delivered().numbers).count <= 10, "what was acknowledged does not come again")
    }

    @Test func aDiskThatIsFullFromTheBeginning() throws {
        guard let disk = try SmallDisk(kilobytes: 256) else { return }
        try disk.fill()
        let run = try StoreRun(disk.file)
        run.append(1...10)
        run.attach()
        run.submit(1...10)
        try run.settle()
        #expect(run.of(.storeFailed).count == 1)
        #expect(run.delivered().numbers == Array(1...10))
        disk.makeRoom()
        try run.wait("the recovery") { run.of(.storeRecovered).count == 1 }
        run.append(11...12)
        #expect(try run.history().numbers == [11, 12])
        #expect(run.of(.storeFailed).count == 1)
    }

    @Test func aDiskThatBecomesReadOnly() throws {
        guard let disk = try SmallDisk(kilobytes: 4096) else { return }
        let first = try StoreRun(disk.file)
        first.append(1...10)
        first.submit(1...10)
        first.end()
        try disk.remount("ro")
        let run = try StoreRun(disk.file)
        #expect(run.of(.storeFailed).count == 1)
        let reason = try #require(run.of(.storeFailed).first?.text(.reason))
        #expect(reason.contains("let the account"), "\(reason)")
        run.append(11...20)
        run.attach()
        run.submit(11...20)
        try run.settle()
        #expect(run.published.numbers == Array(11...20))
        #expect(run.delivered().numbers.suffix(10) == Array(11...20)[...])
        try disk.remount("rw")
        try run.wait("the recovery") { run.of(.storeRecovered).count == 1 }
        try run.settle()
        #expect(run.delivered().numbers.sorted() == Array(1...20))
        #expect(try run.history().numbers == Array(1...10))
    }

    @Test func aDiskThatIsFullAgainAndAgainIsToldOfLessAndLess() throws {
        guard let disk = try SmallDisk(kilobytes: 512) else { return }
        let run = try StoreRun(disk.file)
        var number: UInt64 = 0
        for _ in 0..<2 {
            try disk.fill()
            try run.wait("the failure") {
                run.append(number + 1...number + 50)
                number += 50
                try run.settle()
                return run.store.statistics.failure != nil
            }
            disk.makeRoom()
            try run.wait("the recovery") { run.store.statistics.failure == nil }
        }
        let waits = run.of(.storeFailed).compactMap { $0.number(.retry) }
        #expect(waits.first == 1 && waits == waits.sorted() && waits.count >= 2 && waits[1] >= 2, "\(waits)")
    }
}
