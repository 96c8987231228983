/// A column of intermediate results that grows to the largest batch seen and is then reused.
///
/// Like ``SampleBatch`` it owns raw memory for the kernels; it is never handed out of the detector that owns it.
package final class ScratchColumn {
    /// The room; a property that is read from outside of the module is checked at each access, a call is cheaper.
    package var values: UnsafeMutablePointer<Float> { room }
    private var room: UnsafeMutablePointer<Float>
    private var capacity: Int

    package init() {
        capacity = 64
        room = .allocate(capacity: capacity)
    }

    deinit {
        room.deallocate()
    }

    /// Makes room for `count` values and forgets what was there.
    package func reserve(_ count: Int) {
        guard count > capacity else { return }
        room.deallocate()
        capacity = count
        room = .allocate(capacity: count)
    }
}
