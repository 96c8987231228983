import CBench
import Glibc
import Kernels

/// Memory for kernels' data: one block from which columns are allocated in sequence.
///
/// The columns are raw pointers for the kernels, valid until the arena is emptied or released.
final class Arena {
    private let start: UnsafeMutableRawPointer
    private let byteCount: Int
    private var used = 0

    /// Reserves memory, which the system provides when it is first touched.
    init(byteCount: Int) throws(BenchError) {
        self.byteCount = byteCount
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let place = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0), place != MAP_FAILED else {
            throw .unavailable("there are no \(NumberText.bytes(byteCount)) of memory")
        }
        start = place
        // With small pages, address translation would be part of the measurement.
        madvise(place, byteCount, MADV_HUGEPAGE)
    }

    deinit {
        munmap(start, byteCount)
    }

    func removeAll() {
        used = 0
    }

    /// Allocates a column; `count` is a multiple of 64, so that the next one begins at a cache line.
    func column<Element: BitwiseCopyable>(_ type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        let size = count * MemoryLayout<Element>.stride
        precondition(size <= byteCount - used, "the arena has no room for \(size) bytes")
        defer { used += size }
        return (start + used).bindMemory(to: type, capacity: count)
    }

    func floats(_ columns: Int, count: Int) -> [UnsafeMutablePointer<Float>] {
        (0..<columns).map { _ in column(Float.self, count: count) }
    }

    /// The upper limit of a kernel's speed: only reading the first bytes, with each instruction set.
    func readings(byteCount: Int) -> [Variant] {
        let (bytes, size) = (UnsafeRawPointer(start), byteCount / 512 * 512)
        return InstructionSet.available.filter { $0 != .scalar }.map { set in
            Variant("\(set)") {
                let result =
                    switch set {
                    #if arch(x86_64)
                        case .avx512: cbench_read_avx512(bytes, size)
                        case .avx2: cbench_read_avx2(bytes, size)
                    #endif
                    default: cbench_read_baseline(bytes, size)
                    }
                Sink.consume(result)
            }
        }
    }
}
