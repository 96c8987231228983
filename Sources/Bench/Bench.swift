package import Binnacle

/// Measures the machine, the kernels on it, and the ways that samples go.
package struct Bench {
    private let options: BenchOptions
    private let isInterrupted: () -> Bool
    private let output: (String) -> Void

    /// Prepares a measurement.
    ///
    /// - Parameters:
    ///   - options: What is measured, and how.
    ///   - isInterrupted: Asked again and again; `true` cancels.
    ///   - output: Takes a line of what came of it, at once.
    package init(_ options: BenchOptions, isInterrupted: @escaping () -> Bool, output: @escaping (String) -> Void) {
        self.options = options
        self.isInterrupted = isInterrupted
        self.output = output
    }

    /// Measures; the calling thread stays on one processor from then on.
    ///
    /// - Parameter indicator: Shows how far it has come.
    /// - Throws: ``BenchError``; what was measured by then is written.
    package func run(_ indicator: ProgressIndicator) throws(BenchError) {
        let machine = Machine.pinned()
        let measurements = BenchPart.allCases.filter(options.parts.contains).flatMap { $0.measurements(options) }
        let levels = MemoryLevel.all(machine.caches, memoryFactor: options.memoryFactor)
        let session = try Session(
            machine: machine, options: options, levels: levels,
            stepCount: measurements.reduce(0) { $0 + $1.stepCount(levels) },
            indicator: indicator, isInterrupted: isInterrupted, output: output)
        session.record(machine.object)
        session.say(machine.lines + options.lines)
        indicator.show()
        defer { indicator.hide() }
        for measurement in measurements { try measurement.run(session) }
        session.record(session.unrest.object)
        session.say(["", session.unrest.sentence])
    }
}

extension BenchPart {
    /// What is measured for this part, in the order in which it is shown.
    ///
    /// - Parameter options: A quick measurement leaves out what differs little from what it has.
    /// - Returns: The measurements.
    func measurements(_ options: BenchOptions) -> [any Measurement] {
        switch self {
        case .limits: [LimitMeasurement()]
        case .k1: KernelMeasurement.thresholds(options)
        case .k2: KernelMeasurement.scanThresholds(options)
        case .k3: KernelMeasurement.facing(options)
        case .k4: KernelMeasurement.gravity(options)
        case .decode: KernelMeasurement.decoding(options)
        case .live: [LiveMeasurement()]
        case .traces: [TraceMeasurement()]
        }
    }
}
