/// Where data lie that a kernel reads: how much of it there is decides.
package struct MemoryLevel: Sendable, Equatable {
    /// `L1`, `L2`, `L3` or `DRAM`.
    package let name: String
    /// How many bytes are used, so that they all lie there.
    package let byteCount: Int

    /// The levels of a machine: half of each cache, or a quarter of one that is shared, and a multiple of the largest.
    ///
    /// - Parameters:
    ///   - caches: The caches, the nearest first; without them those of a small machine are assumed.
    ///   - memoryFactor: How many times the largest cache the data in main memory take.
    /// - Returns: The levels, the nearest first.
    package static func all(_ caches: [CacheSize], memoryFactor: Int) -> [MemoryLevel] {
        let known =
            caches.isEmpty
            ? [CacheSize(level: 1, byteCount: 32 << 10), CacheSize(level: 2, byteCount: 256 << 10)] : caches
        var levels = known.map { cache in
            MemoryLevel(name: "L\(cache.level)", byteCount: cache.byteCount / (cache.level < 3 ? 2 : 4))
        }
        // At least 64 MB, for machines that do not say how large their caches are; at most what a small machine can spare.
        let largest = known.map(\.byteCount).max() ?? 0
        levels.append(MemoryLevel(name: "DRAM", byteCount: min(max(largest * memoryFactor, 64 << 20), 1 << 30)))
        return levels
    }

    /// Whether it is a cache that other processors use as well.
    package var isShared: Bool { name == "L3" }

    /// Whether every access goes to main memory.
    package var isMainMemory: Bool { name == "DRAM" }
}
