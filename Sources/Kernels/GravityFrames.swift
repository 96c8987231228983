#if arch(x86_64)
    import CKernels
#endif

/// Sixteen gravity filters, one a sensor, whose samples stand side by side.
public struct GravityFilters: Sendable {
    /// How many there are.
    public static let count = 16

    /// The time constant τ of all of them, in seconds.
    public let timeConstantSeconds: Float
    /// The filters' values, and the stamps of their last samples.
    fileprivate struct State {
        var x = SIMD16<Float>.zero
        var y = SIMD16<Float>.zero
        var z = SIMD16<Float>.zero
        var times = SIMD16<Int64>.zero
    }

    /// Where the stamps are in a state, in bytes.
    fileprivate static let timesOffset = MemoryLayout<State>.size - MemoryLayout<SIMD16<Int64>>.size

    fileprivate var state = State()
    /// One bit for each filter that has a sample.
    fileprivate var begun: UInt16 = 0

    /// Creates filters that hold no sample yet.
    ///
    /// - Parameter timeConstantSeconds: τ, at least 0; 0 passes every sample through unchanged.
    public init(timeConstantSeconds: Float) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    /// One sensor's filter.
    public subscript(lane: Int) -> OnePoleFilter {
        get {
            guard begun & (1 << UInt16(lane)) != 0 else {
                return OnePoleFilter(timeConstantSeconds: timeConstantSeconds)
            }
            return OnePoleFilter(
                timeConstantSeconds: timeConstantSeconds, value: SIMD3(state.x[lane], state.y[lane], state.z[lane]),
                lastTimeNanoseconds: state.times[lane])
        }
        set {
            guard let time = newValue.lastTimeNanoseconds else {
                begun &= ~(1 << UInt16(lane))
                return
            }
            begun |= 1 << UInt16(lane)
            state.times[lane] = time
            state.x[lane] = newValue.value.x
            state.y[lane] = newValue.value.y
            state.z[lane] = newValue.value.z
        }
    }
}

/// Separates gravity from movement for sixteen sensors at once, whose samples stand side by side.
///
/// A frame is one sample of each sensor, with its own stamp: sample `i` of sensor `k` is at `16·i + k` of each column. For
/// each sensor the results are those of ``separateGravity(times:x:y:z:range:gravity:userSquared:totalSquared:using:)``, to
/// the last bit.
///
/// - Parameters:
///   - times: Stamps in nanoseconds, never falling for any sensor.
///   - x: First axis.
///   - y: Second axis.
///   - z: Third axis.
///   - frames: The frames to take; all six columns reach at least to sixteen times its end.
///   - gravity: The filters, carried from block to block.
///   - userSquared: Receives |a − g|² at the same places.
///   - totalSquared: Receives |a|² at the same places.
///   - instructionSet: What to use; every one gives the same bits.
public func separateGravity(
    times: UnsafePointer<Int64>, x: UnsafePointer<Float>, y: UnsafePointer<Float>, z: UnsafePointer<Float>,
    frames: Range<Int>, gravity: inout GravityFilters,
    userSquared: UnsafeMutablePointer<Float>, totalSquared: UnsafeMutablePointer<Float>,
    using instructionSet: InstructionSet = .current
) {
    let columns = GravityColumns(
        times: times, x: x, y: y, z: z, userSquared: userSquared, totalSquared: totalSquared)
    var frame = frames.lowerBound
    while frame < frames.upperBound {
        if instructionSet != .scalar, gravity.begun == .max {
            frame = columns.separateUsableFrames(frame..<frames.upperBound, &gravity, using: instructionSet)
            guard frame < frames.upperBound else { break }
        }
        for lane in 0..<GravityFilters.count {
            let place = GravityFilters.count * frame + lane
            columns.separate(place..<place + 1, &gravity[lane])
        }
        frame += 1
    }
}

extension GravityColumns {
    /// Takes frames as long as nothing is unusual: unusable samples, a repeated stamp, seconds between two.
    ///
    /// - Returns: The first frame that was not taken.
    fileprivate func separateUsableFrames(
        _ range: Range<Int>, _ gravity: inout GravityFilters, using instructionSet: InstructionSet
    ) -> Int {
        let timeConstant = gravity.timeConstantSeconds
        return withUnsafeMutableBytes(of: &gravity.state) { state in
            guard let start = state.baseAddress else { return range.lowerBound }
            let values = start.assumingMemoryBound(to: Float.self)
            let last = (start + GravityFilters.timesOffset).assumingMemoryBound(to: Int64.self)
            #if arch(x86_64)
                if instructionSet >= .avx2 {
                    let place = range.lowerBound * GravityFilters.count
                    let taken = ck_gravity_frames_avx2(
                        times + place, x + place, y + place, z + place, range.count, timeConstant, values, last,
                        userSquared + place, totalSquared + place)
                    return range.lowerBound + taken
                }
            #endif
            // Four quarters of a frame wait for nothing of each other, which hides how long each step takes.
            for frame in range {
                let place = frame &* GravityFilters.count
                let (a, b) = (prepare(place, last), prepare(place &+ 4, last + 4))
                let (c, d) = (prepare(place &+ 8, last + 8), prepare(place &+ 12, last + 12))
                guard all((a.unusual | b.unusual | c.unusual | d.unusual) .>= 0) else { return frame }
                move(place, a, timeConstant, values, last)
                move(place &+ 4, b, timeConstant, values + 4, last + 4)
                move(place &+ 8, c, timeConstant, values + 8, last + 8)
                move(place &+ 12, d, timeConstant, values + 12, last + 12)
            }
            return range.upperBound
        }
    }

    /// A quarter of a frame: |a|², the distance of the stamps, and a negative number for each sensor with something unusual.
    @inline(__always)
    private func prepare(
        _ place: Int, _ last: UnsafePointer<Int64>
    ) -> (total: SIMD4<Float>, distance: SIMD4<Int32>, unusual: SIMD4<Int32>) {
        let (ax, ay, az) = (Quad.load(x + place), Quad.load(y + place), Quad.load(z + place))
        let total = ax * ax + ay * ay + az * az
        let distances = unsafeBitCast(Quad.load(times + place) &- Quad.load(last), to: SIMD8<Int32>.self)
        let (low, high) = (distances.evenHalf, distances.oddHalf)
        let bits = unsafeBitCast(total, to: SIMD4<Int32>.self)
        let greatest = SIMD4(repeating: Int32(bitPattern: Float.greatestFiniteMagnitude.bitPattern))
        // Distances from 1 to 2³¹ − 1 nanoseconds, and sums that are finite numbers.
        return (total, low, low | (low &- 1) | high | (0 &- high) | bits | (greatest &- bits))
    }

    @inline(__always)
    private func move(
        _ place: Int, _ prepared: (total: SIMD4<Float>, distance: SIMD4<Int32>, unusual: SIMD4<Int32>),
        _ timeConstant: Float, _ values: UnsafeMutablePointer<Float>, _ last: UnsafeMutablePointer<Int64>
    ) {
        let dtSeconds = Quad.floats(prepared.distance) * 1e-9
        let coefficient = dtSeconds / (timeConstant + dtSeconds)
        @inline(__always)
        func user(_ column: UnsafePointer<Float>, _ value: UnsafeMutablePointer<Float>) -> SIMD4<Float> {
            let sample = Quad.load(column + place)
            var gravity = Quad.load(value)
            gravity += (sample - gravity) * coefficient
            Quad.store(gravity, at: value)
            return sample - gravity
        }
        let (ux, uy, uz) = (user(x, values), user(y, values + 16), user(z, values + 32))
        Quad.store(ux * ux + uy * uy + uz * uz, at: userSquared + place)
        Quad.store(prepared.total, at: totalSquared + place)
        UnsafeMutableRawPointer(last).storeBytes(of: Quad.load(times + place), as: SIMD4<Int64>.self)
    }
}
