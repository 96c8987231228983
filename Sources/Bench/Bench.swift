package import Binnacle
import PlainText

/// The parts of `binnacle bench`.
package enum BenchPart: String, Sendable, CaseIterable {
    /// Reading memory; a threshold with hysteresis; facing a bearing; gravity; the spectrum of a second; decoding scans.
    case limits, k1, k3, k4, k5, decode
    /// Detectors by themselves; from a FIFO, or from a file, to a delegate.
    case detectors, live, traces
}

/// The options of `binnacle bench`.
package struct BenchOptions: Sendable {
    package var parts: Set<BenchPart> = Set(BenchPart.allCases)
    /// Whether fewer and shorter passes suffice.
    package var isQuick = false
    /// Whether figures are written as JSON, one object per line.
    package var writesJSON = false

    /// All parts, in full, as tables.
    package init() {}
}

/// Why a measurement ended early.
package enum BenchError: Error, Equatable {
    case cancelled
    /// A kernel's result differs from the reference.
    case wrongResult(String)
    /// A requirement of the measurement is missing.
    case unavailable(String)
}

/// Measures the machine, the kernels on it, and the paths of samples.
package final class Bench {
    let options: BenchOptions
    let machine = Machine()
    let levels: [MemoryLevel]
    let arena: Arena
    var noise = NoiseMeter()
    private let indicator: ProgressIndicator
    private let isInterrupted: () -> Bool
    private let output: (String) -> Void

    /// Prepares a measurement, which can be cancelled between passes, and binds the calling thread to one processor.
    package init(
        _ options: BenchOptions, indicator: ProgressIndicator, isInterrupted: @escaping () -> Bool,
        output: @escaping (String) -> Void
    ) throws(BenchError) {
        self.options = options
        self.indicator = indicator
        self.isInterrupted = isInterrupted
        self.output = output
        levels = machine.levels(memoryFactor: options.isQuick ? 2 : 8)
        // Enough for a kernel's input and output.
        arena = try Arena(byteCount: 2 * (levels.last?.byteCount ?? 0))
    }

    /// Measures all parts; each is written when it is complete.
    package func run() throws(BenchError) {
        write(options.writesJSON ? [machine.object.text] : machine.lines)
        indicator.show()
        defer { indicator.hide() }
        let parts = BenchPart.allCases.filter(options.parts.contains)
        for (number, part) in parts.enumerated() {
            switch part {
            case .detectors: try measureDetectors()
            case .live: try measureLive()
            case .traces: try measureTraces()
            default: for kernel in Kernel.all where kernel.part == part { try measure(kernel) }
            }
            indicator.update(fraction: Double(number + 1) / Double(parts.count))
        }
        write(options.writesJSON ? [noise.object.text] : ["", noise.sentence])
    }

    func times(_ variants: [Variant], passNanoseconds: Int64 = 2_000_000) throws(BenchError) -> [Spread] {
        try Variant.measure(
            variants, passes: options.isQuick ? 5 : 9,
            passNanoseconds: options.isQuick ? passNanoseconds / 6 : passNanoseconds, isCancelled: isCancelled)
    }

    func isCancelled() -> Bool {
        if isInterrupted() { indicator.cancel() }
        return indicator.isCancelled
    }

    /// Writes rows, as a table with a title or as objects.
    func write(_ title: String, _ rows: [FigureRow]) {
        write(options.writesJSON ? rows.map(\.object.text) : ["", title] + FigureRow.table(rows))
    }

    private func write(_ lines: [String]) {
        let isShown = indicator.isShown
        indicator.hide()
        for line in lines { output(line) }
        if isShown { indicator.show() }
    }
}
