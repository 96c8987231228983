import Binnacle
import CommandRows
import Glibc
import LinuxSystem
import Station
import Traces
import Workbench

/// `binnacle sweep`: counts the events of recordings for several values of a key.
enum SweepCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let (errors, signals) = (console.errors, console.signals)
        let form = try arguments.tableForm()
        guard !arguments.operands.isEmpty else {
            throw .usage("sweep needs a recording; see 'binnacle sweep --help'")
        }
        var keys: [Sweep.Key] = []
        for text in arguments.all(.set) {
            guard let key = Sweep.Key(text) else {
                throw .usage("--set \(text): has to be KEY=A,B,C, as in motion.motion.threshold_g=0.05,0.1,0.2")
            }
            guard !keys.contains(where: { $0.name == key.name }) else {
                throw .usage("--set \(key.name) is given twice: one list has all values, as in KEY=A,B,C")
            }
            keys.append(key)
        }
        var options = try ReplayOptions(arguments, of: .sweep, needsTrace: false)
        options.settings = []
        let kinds = try arguments.scoredKinds()
        let labels = try arguments.value(.labels).map { path throws(StationError) in
            try EventLabels(path: path, kinds: kinds, tolerance: try arguments.tolerance())
        }
        if labels == nil { try arguments.refuse([.tolerance], "is for --labels") }
        let sweep = try Sweep(arguments.operands, keys, options, kinds: kinds, labels: labels)
        errors.report(labels?.notices ?? [])
        signals.listen()
        let result = try sweep.run(
            signals.interruption, indicator: { .onTerminal("sweep") }, report: { errors.report($0) })
        guard let result else { return signals.interruption.exitStatus }
        try result.table.write(form)
        return result.failure?.status ?? .ok
    }
}

/// `binnacle score`: compares events with labels.
enum ScoreCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let form = try arguments.tableForm()
        guard arguments.operands.count == 2 else {
            throw .usage("score takes events and labels, as in 'binnacle score events.json labels.csv'")
        }
        let labels = try EventLabels(
            path: arguments.operands[1], kinds: try arguments.scoredKinds(), tolerance: try arguments.tolerance())
        let (table, notices) = try labels.table(scoring: arguments.operands[0])
        console.errors.report(notices)
        try table.write(form)
        return .ok
    }
}

extension ResultTable {
    /// Writes to standard output.
    fileprivate func write(_ form: Form) throws(StationError) {
        try mapError({ StationError($0) }) { () throws(TraceError) in
            let file = try RecordingFile(path: "-", replacing: true)
            do throws(TraceError) {
                try file.write(bytes(form))
            } catch {
                if !file.isReaderGone { throw error }
            }
        }
    }
}

extension Arguments {
    fileprivate func tableForm() throws(StationError) -> ResultTable.Form {
        let forms = [(OptionRow.json, ResultTable.Form.json), (.csv, .csv), (.arrow, .arrow)].filter { has($0.0) }
        guard forms.count <= 1 else {
            throw .usage("--json, --csv and --arrow are forms of the same output: choose one")
        }
        guard forms.first?.1 != .arrow || isatty(STDOUT_FILENO) == 0 else {
            throw .usage("an Arrow stream is binary: redirect it to a file or a pipe")
        }
        return forms.first?.1 ?? .text
    }

    fileprivate func tolerance() throws(StationError) -> Duration {
        try duration(.tolerance) ?? .seconds(1)
    }

    /// The kinds of `--kind`; `nil` without it.
    fileprivate func scoredKinds() throws(StationError) -> Set<EventKind>? {
        has(.kind) ? try KindWords.kinds(all(.kind), of: "--kind") : nil
    }
}
