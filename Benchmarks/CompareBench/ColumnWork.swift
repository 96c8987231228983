import BenchSupport
import Glibc
import Kernels

/// Work on columns that somebody else has written into a file.
final class ColumnWork {
    private var columns: [UnsafeMutablePointer<Float>] = []
    private var count = 0
    private var crossings = CrossingList()

    /// As many samples as a delivery of a replay has.
    private static let pieceCount = 4096

    deinit {
        for column in columns { free(column) }
    }

    /// Reads columns, which stand one behind the other in a file.
    func load(_ path: String, columnCount: Int, count: Int) {
        for column in columns { free(column) }
        columns = []
        self.count = count
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { fail(path) }
        defer { close(file) }
        let size = count * MemoryLayout<Float>.stride
        for _ in 0..<columnCount {
            var memory: UnsafeMutableRawPointer?
            guard posix_memalign(&memory, 1 << 21, size) == 0, let memory else { fail("posix_memalign") }
            // As numpy does for its own arrays.
            madvise(memory, size, MADV_HUGEPAGE)
            var filled = 0
            while filled < size {
                let count = read(file, memory + filled, size - filled)
                guard count > 0 else { fail(path) }
                filled += count
            }
            columns.append(memory.bindMemory(to: Float.self, capacity: count))
        }
        say("0 \(columnCount)")
    }

    /// Finds where |a|² of the first three columns crosses a threshold with hysteresis, in deliveries.
    func findCrossings(set: String, high: Float, low: Float, times: Int) {
        let set = Self.instructionSet(set)
        guard columns.count >= 3 else { fail("there are no three columns") }
        let (x, y, z) = (columns[0], columns[1], columns[2])
        let threshold = Threshold(high: high, low: low)
        var found = 0
        let start = monotonic()
        for _ in 0..<times {
            var isInside = false
            found = 0
            var first = 0
            while first < count {
                let end = min(first + Self.pieceCount, count)
                Kernels.findCrossings(
                    x: x, y: y, z: z, range: first..<end, threshold: threshold, isInside: &isInside,
                    crossings: &crossings, using: set)
                found += crossings.count
                first = end
            }
        }
        say("\((monotonic() - start) / Int64(times)) \(found)")
    }

    /// An instruction set by its name; `best` is the one that everybody uses.
    private static func instructionSet(_ name: String) -> InstructionSet {
        guard let set = name == "best" ? .current : InstructionSet(rawValue: name),
            InstructionSet.available.contains(set)
        else { fail("this machine has no \(name)") }
        return set
    }
}
