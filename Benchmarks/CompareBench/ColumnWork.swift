import BenchSupport
import Glibc
import Kernels

/// Work on columns that another program has written into a file.
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

    /// Finds where |a|² of the first three columns crosses a threshold with hysteresis.
    func findCrossings(set: String, high: Float, low: Float) {
        let set = Self.instructionSet(set)
        guard columns.count >= 3 else { fail("there are no three columns") }
        let (x, y, z) = (columns[0], columns[1], columns[2])
        let threshold = Threshold(high: high, low: low)
        goThrough { range, isInside, crossings in
            Kernels.findCrossings(
                x: x, y: y, z: z, range: range, threshold: threshold, isInside: &isInside, crossings: &crossings,
                using: set)
        }
    }

    /// Finds where the y axis turns to the north and away from it; six columns are acceleration and field.
    func findFacing(set: String, toleranceDegrees: Float, exitDegrees: Float) {
        let set = Self.instructionSet(set)
        guard columns.count == 6 else { fail("there are no six columns") }
        let acceleration = AxisColumns(x: columns[0], y: columns[1], z: columns[2])
        let field = AxisColumns(x: columns[3], y: columns[4], z: columns[5])
        let sector = Sector(
            axis: 1, isReversed: false, bearingDegrees: 0, toleranceDegrees: Double(toleranceDegrees),
            exitDegrees: Double(exitDegrees))
        goThrough { range, isInside, crossings in
            Kernels.findFacing(
                acceleration: acceleration, field: field, range: range, sector: sector, isFacing: &isInside,
                crossings: &crossings, using: set)
        }
    }

    /// Goes through all samples in deliveries, and says how long that took, and how many crossings there were.
    private func goThrough(_ find: (Range<Int>, inout Bool, inout CrossingList) -> Void) {
        let start = processorTime()
        var isInside = false
        var found = 0
        var first = 0
        while first < count {
            let end = min(first + Self.pieceCount, count)
            find(first..<end, &isInside, &crossings)
            found += crossings.count
            first = end
        }
        say("\(processorTime() - start) \(found)")
    }

    /// An instruction set by its name; `best` is the one that the program chooses by itself.
    private static func instructionSet(_ name: String) -> InstructionSet {
        guard let set = name == "best" ? .current : InstructionSet.available.first(where: { "\($0)" == name }) else {
            fail("this machine has no \(name)")
        }
        return set
    }
}
