#if arch(x86_64)
    import CKernels

    /// A long range for the gravity filter, cut into segments that are filtered side by side in lanes.
    ///
    /// A filter forgets how it began, to the last bit. So each segment but the first begins some samples early, and when the
    /// one before it is done, it is compared, bit by bit, with what this one had reached at its own beginning. Where they differ,
    /// the segment is done again, serially, from the true state until that state is one which the lane had, too. The
    /// result is therefore always that of the serial loop.
    struct GravitySegments {
        private let columns: GravityColumns
        private let range: Range<Int>
        /// The samples of each segment.
        private let length: Int
        /// How many samples before its segment a lane begins.
        private let warmUp: Int

        private static let lanes = Int(CK_GRAVITY_LANES)
        private static let steps = Int(CK_GRAVITY_STEPS)

        /// Cuts a range; `nil` when it is too short to gain anything, or nothing that segments can be made of.
        init?(_ columns: GravityColumns, _ range: Range<Int>, _ gravity: OnePoleFilter) {
            let timeConstant = gravity.timeConstantSeconds
            // Below that no time constant leaves enough room.
            guard range.count >= 2048, timeConstant >= 0, timeConstant < .infinity else { return nil }
            let seconds = Float(columns.times[range.upperBound - 1] &- columns.times[range.lowerBound]) * 1e-9
            let interval = seconds / Float(range.count - 1)
            guard interval > 0 else { return nil }
            // Two starts were seen to be alike to the last bit after 1.3·24·ln 2/α samples; with α = dt/(τ + dt).
            let needed = 1.5 * 24 * 0.6931472 * (timeConstant + interval) / interval
            guard needed * 4 < Float(range.count) else { return nil }
            warmUp = Self.roundUp(Int(needed), to: Self.steps)
            // An odd number of cache lines, because lanes that lie a power of two apart would share the sets of a cache.
            length = ((range.count - 1) / Self.lanes / Self.steps - 1 | 1) * Self.steps
            guard length >= 2 * Self.steps + warmUp else { return nil }
            self.columns = columns
            self.range = range
        }

        private static func roundUp(_ value: Int, to multiple: Int) -> Int {
            (value + multiple - 1) / multiple * multiple
        }

        /// Takes the range.
        func separate(_ gravity: inout OnePoleFilter) {
            guard var first = columns.firstUsable(in: range), first + 1 + Self.lanes * length <= range.upperBound else {
                columns.separate(range, &gravity)
                return
            }
            columns.separate(range.lowerBound..<first + 1, &gravity)
            first += 1
            var lanes = GravityLanes(gravity)
            lanes.place { first + $0 * length - ($0 == 0 ? 0 : warmUp) }
            // The first lane has nothing to warm up, and goes along.
            lanes.begin(columns)
            lanes.warmUp(columns, warmUp)
            lanes[0] = gravity
            lanes.place { first + $0 * length }
            let starts = lanes
            lanes.run(columns, length)
            mend(starts, &lanes, first)
            gravity = lanes[Self.lanes - 1]
            columns.separate(first + Self.lanes * length..<range.upperBound, &gravity)
        }

        /// Compares the seams, and does again what did not begin as the one before it ended.
        private func mend(_ starts: GravityLanes, _ lanes: inout GravityLanes, _ first: Int) {
            for lane in 1..<Self.lanes where !lanes[lane - 1].isSame(as: starts[lane]) {
                var filter = lanes[lane - 1]
                columns.separate(first + lane * length..<first + (lane + 1) * length, &filter)
                lanes[lane] = filter
            }
        }
    }

    extension GravityColumns {
        /// The first sample of a range that the filter takes.
        fileprivate func firstUsable(in range: Range<Int>) -> Int? {
            range.first { squaredLength(SIMD3(x[$0], y[$0], z[$0])) < .infinity }
        }
    }

    /// Sixteen filters side by side.
    struct GravityLanes {
        private let timeConstantSeconds: Float
        private var values: (SIMD16<Float>, SIMD16<Float>, SIMD16<Float>)
        private var times: SIMD16<Int64>
        private var starts = SIMD16<Int>.zero

        /// All in the state of one filter, which has a sample.
        init(_ filter: OnePoleFilter) {
            timeConstantSeconds = filter.timeConstantSeconds
            values = (
                SIMD16(repeating: filter.value.x), SIMD16(repeating: filter.value.y), SIMD16(repeating: filter.value.z)
            )
            times = SIMD16(repeating: filter.lastTimeNanoseconds ?? 0)
        }

        subscript(lane: Int) -> OnePoleFilter {
            get {
                OnePoleFilter(
                    timeConstantSeconds: timeConstantSeconds,
                    value: SIMD3(values.0[lane], values.1[lane], values.2[lane]), lastTimeNanoseconds: times[lane])
            }
            set {
                values.0[lane] = newValue.value.x
                values.1[lane] = newValue.value.y
                values.2[lane] = newValue.value.z
                times[lane] = newValue.lastTimeNanoseconds ?? 0
            }
        }

        /// Puts each lane at its place.
        mutating func place(_ start: (Int) -> Int) {
            for lane in 0..<starts.scalarCount { starts[lane] = start(lane) }
        }

        /// Pretends that the last sample was the one before each lane's place.
        mutating func begin(_ columns: GravityColumns) {
            for lane in 0..<times.scalarCount { times[lane] = columns.times[starts[lane] - 1] }
        }

        private mutating func withMemory(
            _ body: (UnsafePointer<Int>?, UnsafeMutablePointer<Float>?, UnsafeMutablePointer<Int64>?, Float) -> Void
        ) {
            let timeConstant = timeConstantSeconds
            withUnsafeBytes(of: starts) { starts in
                withUnsafeMutableBytes(of: &values) { values in
                    withUnsafeMutableBytes(of: &times) { times in
                        body(
                            starts.bindMemory(to: Int.self).baseAddress, values.bindMemory(to: Float.self).baseAddress,
                            times.bindMemory(to: Int64.self).baseAddress, timeConstant)
                    }
                }
            }
        }

        /// Takes samples without writing anything.
        mutating func warmUp(_ columns: GravityColumns, _ count: Int) {
            withMemory { starts, values, times, timeConstant in
                ck_gravity_warm_up_avx2(
                    columns.times, columns.x, columns.y, columns.z, starts, count, timeConstant, values, times)
            }
        }

        /// Takes samples and writes what they give.
        mutating func run(_ columns: GravityColumns, _ count: Int) {
            withMemory { starts, values, times, timeConstant in
                ck_gravity_stretches_avx2(
                    columns.times, columns.x, columns.y, columns.z, starts, count, timeConstant, values, times,
                    columns.userSquared, columns.totalSquared)
            }
        }
    }
#endif
