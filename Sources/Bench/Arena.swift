import CBench
import Glibc
import Kernels

/// Memory for what is read: a large piece from which columns are cut, one behind the other.
///
/// The columns are raw pointers, which kernels take; they are valid until the arena is emptied or goes.
final class Arena {
    private let start: UnsafeMutableRawPointer
    private let byteCount: Int
    private var used = 0

    /// Reserves memory, which the system gives when it is first touched.
    init(byteCount: Int) throws(BenchError) {
        self.byteCount = byteCount
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let place = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0), place != MAP_FAILED else {
            throw .unavailable("there are no \(NumberText.bytes(byteCount)) of memory")
        }
        start = place
        // With small pages, looking up addresses would be part of what is measured.
        madvise(place, byteCount, MADV_HUGEPAGE)
    }

    deinit {
        munmap(start, byteCount)
    }

    /// Takes all columns back.
    func removeAll() {
        used = 0
    }

    /// Cuts a column; of 64 values or a multiple, so that the next one begins at a cache line.
    func column<Element: BitwiseCopyable>(_ type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        let size = count * MemoryLayout<Element>.stride
        precondition(size <= byteCount - used, "the arena has no room for \(size) bytes")
        defer { used += size }
        return (start + used).bindMemory(to: type, capacity: count)
    }

    func floats(_ columns: Int, count: Int) -> [UnsafeMutablePointer<Float>] {
        (0..<columns).map { _ in column(Float.self, count: count) }
    }

    /// The reading of the first bytes and nothing else, with each instruction set: what a kernel can reach at most.
    func readings(byteCount: Int) -> [Variant] {
        let (bytes, size) = (UnsafeRawPointer(start), byteCount / 512 * 512)
        return InstructionSet.available.filter { $0 != .scalar }.map { set in
            Variant(set.rawValue) { Sink.take(Self.read(bytes, size, set)) }
        }
    }

    private static func read(_ bytes: UnsafeRawPointer, _ size: Int, _ set: InstructionSet) -> UInt64 {
        #if arch(x86_64)
            if set == .avx512 { return cbench_read_avx512(bytes, size) }
            if set == .avx2 { return cbench_read_avx2(bytes, size) }
        #endif
        return cbench_read_baseline(bytes, size)
    }
}
