import Binnacle
import Glibc
package import Kernels
import LinuxSystem
import PlainText

/// The machine on which is measured.
package struct Machine: Sendable {
    /// The processor's name, as the kernel has it.
    package let model: String
    /// The instruction sets that the kernels can use here, the best one last.
    package let instructionSets: [InstructionSet]
    /// The one that is used when nobody asks for another.
    package let currentSet: InstructionSet
    /// The caches, the nearest first.
    package let caches: [CacheSize]
    /// The number of processors.
    package let processorCount: Int
    /// The processor on which everything runs; `nil` when the process may not choose.
    package let processor: Int?
    /// Why the process may not choose.
    package let pinFailure: String?

    /// Looks at this machine, and has the calling thread stay on one processor: the last one, which does least for
    /// others.
    package static func pinned() -> Machine {
        let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        var processor: Int?
        var failure: String?
        // The last one may be outside of what the process is allowed; then it stays where it is.
        for candidate in [count - 1, Processor.current ?? 0] where processor == nil {
            do throws(SystemError) {
                try Processor.pin(to: candidate)
                processor = candidate
            } catch {
                failure = error.description
            }
        }
        return Machine(
            model: model(inText: SmallFile.text("/proc/cpuinfo") ?? "") ?? SmallFile.text("/proc/device-tree/model")
                ?? "unknown",
            instructionSets: InstructionSet.available, currentSet: .current,
            caches: CacheSize.all(ofProcessor: processor ?? 0), processorCount: count, processor: processor,
            pinFailure: processor == nil ? failure : nil)
    }

    /// The processor's name in the text of /proc/cpuinfo; `nil` where the kernel says none, as on most arm64 machines.
    package static func model(inText text: String) -> String? {
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, String(parts[0]).trimmed == "model name" { return String(parts[1]).trimmed }
        }
        return nil
    }

    /// The machine in a few lines, for a person.
    package var lines: [String] {
        let sizes = caches.map { "L\($0.level) \(ByteText.text($0.byteCount))" }
        let sets = instructionSets.map(\.rawValue)
        var lines = [
            "machine: \(model), \(processorCount) processor\(processorCount == 1 ? "" : "s"); caches: "
                + (sizes.isEmpty ? "not said by the kernel" : sizes.joined(separator: ", ")),
            "instruction sets: \(sets.joined(separator: ", ")); in use: \(currentSet.rawValue)",
        ]
        if let processor {
            lines.append("everything runs on processor \(processor)")
        } else {
            lines.append(
                "this process may not choose its processor (\(pinFailure ?? "unknown reason")): figures may wander")
        }
        return lines
    }

    /// The machine, for a program.
    var object: JSONObject {
        var object = JSONObject()
        object.add("type", "machine")
        object.add("model", model)
        object.add("processors", count: processorCount)
        object.add("processor", count: processor)
        object.add("pin_failure", pinFailure)
        object.add("instruction_sets", list: instructionSets.map { JSONObject.quoted($0.rawValue) })
        object.add("instruction_set", currentSet.rawValue)
        object.add("caches", list: caches.map { "{\"level\":\($0.level),\"bytes\":\($0.byteCount)}" })
        return object
    }
}
