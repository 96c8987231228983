/// A column of intermediate results that grows to the largest batch seen and is then reused.
///
/// Like ``SampleBatch`` it owns raw memory for the kernels; it is never handed out of the detector that owns it.
final class ScratchColumn {
    private(set) var values: UnsafeMutablePointer<Float>
    private var capacity: Int

    init() {
        capacity = 64
        values = .allocate(capacity: capacity)
    }

    deinit {
        values.deallocate()
    }

    /// Makes room for `count` values and forgets what was there.
    func reserve(_ count: Int) {
        guard count > capacity else { return }
        values.deallocate()
        capacity = count
        values = .allocate(capacity: count)
    }
}
