#if arch(x86_64)
    import CKernels

    /// A long range for the gravity filter, divided into segments that are filtered in parallel lanes.
    ///
    /// After some samples a filter's state no longer depends on its initial state, to the last bit. So each segment but
    /// the first
    /// starts some samples early; when all are done, the state at its beginning is compared bit by bit with the state
    /// at the end
    /// of the previous segment. If they differ, the segment is filtered again, serially, from the true state. The
    /// result
    /// is therefore always that of the serial loop.
    struct GravitySegments {
        private let columns: GravityColumns
        private let range: Range<Int>
        /// The number of samples in a segment.
        private let length: Int
        /// The number of samples before its segment at which a lane starts.
        private let warmUp: Int

        private static let lanes = Int(CK_GRAVITY_LANES)
        private static let steps = Int(CK_GRAVITY_STEPS)

        /// Divides a range; `nil` when it is too short, or its stamps or the time constant do not permit it.
        init?(_ columns: GravityColumns, _ range: Range<Int>, _ gravity: OnePoleFilter) {
            let timeConstant = gravity.timeConstantSeconds
            // In a shorter range no time constant leaves enough samples.
            guard range.count >= 2048, timeConstant >= 0, timeConstant < .infinity else { return nil }
            let seconds = Float(columns.times[range.upperBound - 1] &- columns.times[range.lowerBound]) * 1e-9
            let interval = seconds / Float(range.count - 1)
            guard interval > 0 else { return nil }
            // Measured: two initial states are equal to the last bit after 1.3·24·ln 2/α samples, α = dt/(τ + dt).
            let needed = 1.5 * 24 * 0.6931472 * (timeConstant + interval) / interval
            guard needed * 4 < Float(range.count) else { return nil }
            warmUp = Self.roundUp(Int(needed), to: Self.steps)
            // An odd number of cache lines, because lanes at a distance of a power of two would share cache sets.
            length = ((range.count - 1) / Self.lanes / Self.steps - 1 | 1) * Self.steps
            guard length >= 2 * Self.steps + warmUp else { return nil }
            self.columns = columns
            self.range = range
        }

        private static func roundUp(_ value: Int, to multiple: Int) -> Int {
            (value + multiple - 1) / multiple * multiple
        }

        /// Filters the range.
        func separate(_ gravity: inout OnePoleFilter) {
            guard var first = columns.firstUsable(in: range), first + 1 + Self.lanes * length <= range.upperBound else {
                columns.separate(range, &gravity)
                return
            }
            columns.separate(range.lowerBound..<first + 1, &gravity)
            first += 1
            var lanes = GravityLanes(gravity)
            lanes.place { first + $0 * length - ($0 == 0 ? 0 : warmUp) }
            // The first lane needs no warm-up; its state is set afterwards.
            lanes.begin(columns)
            lanes.warmUp(columns, warmUp)
            lanes[0] = gravity
            lanes.place { first + $0 * length }
            let starts = lanes
            lanes.run(columns, length)
            refilterBrokenSeams(starts, &lanes, first)
            gravity = lanes[Self.lanes - 1]
            columns.separate(first + Self.lanes * length..<range.upperBound, &gravity)
        }

        /// Filters again the segments that did not start from the state at the end of the previous one.
        private func refilterBrokenSeams(_ starts: GravityLanes, _ lanes: inout GravityLanes, _ first: Int) {
            for lane in 1..<Self.lanes where !lanes[lane - 1].isSame(as: starts[lane]) {
                var filter = lanes[lane - 1]
                columns.separate(first + lane * length..<first + (lane + 1) * length, &filter)
                lanes[lane] = filter
            }
        }
    }

    extension GravityColumns {
        /// The first sample of a range that the filter accepts.
        fileprivate func firstUsable(in range: Range<Int>) -> Int? {
            range.first { squaredLength(SIMD3(x[$0], y[$0], z[$0])) < .infinity }
        }
    }

    /// Sixteen filters in parallel.
    struct GravityLanes {
        private let timeConstantSeconds: Float
        private var values: (SIMD16<Float>, SIMD16<Float>, SIMD16<Float>)
        private var times: SIMD16<Int64>
        private var starts = SIMD16<Int>.zero

        /// All filters in the state of one that has a sample.
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

        /// Sets the first sample of each lane.
        mutating func place(_ start: (Int) -> Int) {
            for lane in 0..<starts.scalarCount { starts[lane] = start(lane) }
        }

        /// Sets the last stamp of each lane to that of the sample before its first one.
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

        /// Filters samples without output.
        mutating func warmUp(_ columns: GravityColumns, _ count: Int) {
            withMemory { starts, values, times, timeConstant in
                ck_gravity_warm_up_avx2(
                    columns.times, columns.x, columns.y, columns.z, starts, count, timeConstant, values, times)
            }
        }

        /// Filters samples and writes the results.
        mutating func run(_ columns: GravityColumns, _ count: Int) {
            withMemory { starts, values, times, timeConstant in
                ck_gravity_stretches_avx2(
                    columns.times, columns.x, columns.y, columns.z, starts, count, timeConstant, values, times,
                    columns.userSquared, columns.totalSquared)
            }
        }
    }
#endif
