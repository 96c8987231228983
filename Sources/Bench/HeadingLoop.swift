import Glibc
import Kernels

/// What a person would write first: each sample's heading by an arc tangent, and then the comparison.
struct HeadingLoop {
    private let a: AxisColumns
    private let m: AxisColumns
    private let count: Int

    init(_ acceleration: AxisColumns, _ field: AxisColumns, count: Int) {
        a = acceleration
        m = field
        self.count = count
    }

    /// The loop, for comparison.
    var variant: Variant {
        Variant("atan2f") { times in
            for _ in 0..<times { Sink.take(UInt64(self.turnCount())) }
        }
    }

    /// How often the y axis turns to the north or away from it.
    private func turnCount() -> Int {
        let (tolerance, exit) = (Float.pi / 18, Float.pi / 12)
        var isFacing = false
        var turns = 0
        for i in 0..<count {
            let heading = heading(i)
            guard isFacing ? abs(heading) > exit : abs(heading) < tolerance else { continue }
            isFacing.toggle()
            turns += 1
        }
        return turns
    }

    /// The heading of the y axis in radians, from −π to π.
    @inline(__always)
    private func heading(_ i: Int) -> Float {
        let (ax, ay, az) = (a.x[i], a.y[i], a.z[i])
        let (mx, my, mz) = (m.x[i], m.y[i], m.z[i])
        let square = ax * ax + ay * ay + az * az
        let along = ax * mx + ay * my + az * mz
        let north = my * square - ay * along
        let east = mz * ax - mx * az
        return atan2f(east * square.squareRoot(), north)
    }
}
