import CBench
import Glibc
import Kernels
import LinuxSystem
import PlainText

/// The machine's properties; creating this binds the calling thread to one processor.
package struct Machine {
    private let processor = cbench_pin()
    private let model =
        Self.model(inText: SmallFile.kernelText("/proc/cpuinfo") ?? "")
        ?? SmallFile.kernelText("/proc/device-tree/model") ?? "unknown"
    /// The instruction sets that the kernels can use on this machine, the best one last.
    let instructionSets = InstructionSet.available
    /// The sizes of the data caches, the nearest first; empty if the system does not report them.
    ///
    /// sysconf(3) reports the level-3 cache of the whole machine, of which a guest may have a tenth.
    private let caches = (0..<8).compactMap { number -> Int? in
        let folder = "/sys/devices/system/cpu/cpu0/cache/index\(number)"
        guard let type = SmallFile.kernelText(folder + "/type"), type != "Instruction" else { return nil }
        return SmallFile.kernelText(folder + "/size").flatMap(Machine.byteCount)
    }

    /// The levels of memory, the nearest first.
    func levels(memoryFactor: Int) -> [MemoryLevel] { MemoryLevel.all(caches, memoryFactor: memoryFactor) }

    /// Parses a size in the kernel's form, such as `512K`.
    package static func byteCount(_ text: String) -> Int? {
        let factors: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        let factor = text.last.flatMap { factors[$0] }
        guard let number = Int(factor == nil ? text : String(text.dropLast())), number > 0 else { return nil }
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor ?? 1)
        return isTooLarge ? nil : product
    }

    /// The processor's name in the text of /proc/cpuinfo; `nil` if there is none, as on most arm64 machines.
    package static func model(inText text: String) -> String? {
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("model name") {
            return line.split(separator: ":", maxSplits: 1).last.map { String($0.drop { $0 == " " }) }
        }
        return nil
    }

    var lines: [String] {
        let sizes = caches.enumerated().map { "L\($0 + 1) \(NumberText.bytes($1))" }.joined(separator: ", ")
        let sets = instructionSets.map { "\($0)" }.joined(separator: ", ")
        return [
            "machine: \(model), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors; caches: "
                + (sizes.isEmpty ? "not said by the system" : sizes),
            "instruction sets: \(sets); in use: \(InstructionSet.current)",
            processor < 0
                ? "this process may not choose its processor: figures may wander"
                : "everything runs on processor \(processor)",
            "ns: nanoseconds a sample, the median of passes in which everything that is compared takes its turn; spread: the",
            "median above the best pass; %: the share of what reading the same data and nothing else reaches",
        ]
    }

    var object: JSONObject {
        var row = FigureRow(type: "machine")
        row.add("model", model)
        row.add("processors", count: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        row.add("processor", number: processor < 0 ? nil : Double(processor))
        row.add("instruction_set", "\(InstructionSet.current)")
        var object = row.object
        object.add("instruction_sets", list: instructionSets.map { JSONObject.quoted("\($0)") })
        object.add("caches", list: caches.enumerated().map { "{\"level\":\($0 + 1),\"bytes\":\($1)}" })
        return object
    }
}

/// A level of the memory hierarchy, measured with data of a certain size.
package struct MemoryLevel: Equatable {
    /// `L1`, `L2`, `L3` or `DRAM`.
    package let name: String
    /// The size of the data.
    package let byteCount: Int

    /// Data of half of each private cache, of a quarter of a shared one, and of a multiple of the largest.
    package static func all(_ caches: [Int], memoryFactor: Int) -> [MemoryLevel] {
        let known = caches.isEmpty ? [32 << 10, 256 << 10] : caches
        let levels = known.enumerated().map { MemoryLevel(name: "L\($0 + 1)", byteCount: $1 / ($0 < 2 ? 2 : 4)) }
        // At least 64 MB, if the caches are unknown; at most what a small machine can spare.
        let memory = min(max((known.max() ?? 0) * memoryFactor, 64 << 20), 1 << 30)
        return levels + [MemoryLevel(name: "DRAM", byteCount: memory)]
    }

    /// Whether other processors use it too, so that figures are not representative.
    var isShared: Bool { name == "L3" }
}

/// Judges from the other load on the machine whether the figures are reliable.
struct NoiseMeter {
    /// The largest ratio of the median to the best pass of plain reading.
    private var worst = 1.0
    private let start = (wall: SystemClock.monotonic(), thread: SystemClock.threadTime())

    mutating func record(_ limit: Spread) {
        worst = max(worst, limit.medianToBest)
    }

    /// The share of time in which the processor did not run this thread, which hardly ever waits.
    private var awayShare: Double {
        let wall = Double(max(1, SystemClock.monotonic() - start.wall))
        return max(0, 1 - Double(SystemClock.threadTime() - start.thread) / wall)
    }

    private var isTooNoisy: Bool { worst > 1.15 || awayShare > 0.1 }

    var sentence: String {
        (isTooNoisy ? "The machine was too noisy to trust these figures" : "The machine was quiet enough")
            + ": the same reading took up to \(((worst - 1) * 100).text(0)) % longer than at its best, "
            + "\((awayShare * 100).text(1)) % of the time went to others."
    }

    var object: JSONObject {
        var object = FigureRow(type: "noise").object
        object.add("is_too_noisy", raw: isTooNoisy ? "true" : "false")
        object.add("worst_median_to_best", number: worst)
        object.add("away_percent", number: awayShare * 100)
        object.add("sentence", sentence)
        return object
    }
}
