import Glibc
import LinuxSystem

/// Memory for what is read: a large piece from which columns are cut, all of them at the beginning of a cache line.
///
/// The columns are raw pointers, which kernels take; they are valid until the arena is emptied or goes. Memory is taken
/// from the system when it is first touched.
final class Arena {
    private let start: UnsafeMutableRawPointer
    /// The most that is cut from it.
    let byteCount: Int
    private var used = 0

    /// Columns begin at multiples of this, in bytes.
    private static let alignment = 64

    /// Reserves memory.
    ///
    /// - Parameter byteCount: The most that is cut from it.
    /// - Throws: ``BenchError`` when there is not so much.
    init(byteCount: Int) throws(BenchError) {
        self.byteCount = byteCount
        let place = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let place, place != MAP_FAILED else {
            throw .unavailable(
                "no memory for \(ByteText.text(byteCount)): \(SystemError(code: errno, call: "mmap").reason)")
        }
        start = place
        // With small pages, looking up addresses would be part of what is measured.
        madvise(place, byteCount, MADV_HUGEPAGE)
    }

    deinit {
        munmap(start, byteCount)
    }

    /// Takes all columns back; they keep what is in them until they are cut anew.
    func removeAll() {
        used = 0
    }

    /// Cuts a column, zero where nobody has written yet.
    func column<Element: BitwiseCopyable>(_ type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        let size = count * MemoryLayout<Element>.stride
        precondition(size <= byteCount - used, "the arena has no room for \(size) bytes")
        defer { used = min(byteCount, (used + size + Self.alignment - 1) / Self.alignment * Self.alignment) }
        return (start + used).bindMemory(to: type, capacity: count)
    }

    /// Cuts a column that has one value everywhere, so that all of it is memory of its own.
    func column<Element: BitwiseCopyable>(
        _ type: Element.Type, count: Int, filledWith value: Element
    ) -> UnsafeMutablePointer<Element> {
        let column = column(type, count: count)
        column.update(repeating: value, count: count)
        return column
    }
}
