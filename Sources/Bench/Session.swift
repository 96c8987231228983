import Binnacle
import PlainText

/// What the parts of a measurement share: the machine, the memory, where figures go, and who may cancel.
final class Session {
    let machine: Machine
    let options: BenchOptions
    let rounds: Rounds
    let levels: [MemoryLevel]
    let arena: Arena
    /// How restless the machine was.
    var unrest: Unrest

    private let indicator: ProgressIndicator
    private let isInterrupted: () -> Bool
    private let output: (String) -> Void
    private let stepCount: Int
    private var stepsDone = 0

    init(
        machine: Machine, options: BenchOptions, levels: [MemoryLevel], stepCount: Int, indicator: ProgressIndicator,
        isInterrupted: @escaping () -> Bool, output: @escaping (String) -> Void
    ) throws(BenchError) {
        self.machine = machine
        self.options = options
        self.stepCount = stepCount
        self.indicator = indicator
        self.isInterrupted = isInterrupted
        self.output = output
        rounds = options.rounds
        self.levels = levels
        // What is read, and what some kernels write beside it.
        arena = try Arena(byteCount: 4 * (levels.map(\.byteCount).max() ?? 0))
        unrest = Unrest(processor: machine.processor)
    }

    /// Whether somebody cancelled.
    func isCancelled() -> Bool {
        if isInterrupted() { indicator.cancel() }
        return indicator.isCancelled
    }

    /// Shows that a step is done.
    func didStep() {
        stepsDone += 1
        indicator.update(fraction: Double(stepsDone) / Double(max(1, stepCount)))
    }

    /// Writes lines for a person.
    func say(_ lines: [String]) {
        guard !options.writesJSON else { return }
        write(lines)
    }

    /// Writes an object for a program.
    func record(_ object: JSONObject) {
        guard options.writesJSON else { return }
        write([object.text])
    }

    private func write(_ lines: [String]) {
        let isShown = indicator.isShown
        indicator.hide()
        for line in lines { output(line) }
        if isShown { indicator.show() }
    }
}
