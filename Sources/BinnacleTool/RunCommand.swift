import Binnacle
import CommandRows
import PlainText
import Station

/// `binnacle run`: the daemon.
struct RunCommand {
    private let options: RunOptions

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("run")
        var options = RunOptions()
        options.configurationPath = arguments.value(.config)
        options.embedded = try Self.embedded(arguments)
        options.writesJSON = arguments.has(.json)
        options.root = arguments.value(.root)
        self.options = options
    }

    func run(_ signals: SignalListener) throws(StationError) -> ExitStatus {
        // A SIGHUP during the start is handled when the loop runs; by default it would end the process.
        signals.listenForReload()
        let daemon = try Daemon(options, interruption: signals.interruption)
        signals.listen(waking: daemon.wakeDescriptor)
        if let failure = daemon.run() { throw failure }
        return .ok
    }

    private static func embedded(_ arguments: Arguments) throws(StationError) -> EmbeddedConfiguration? {
        let traces = arguments.all(.trace)
        let chosen = [OptionRow.config, .simulate, .trace].filter(arguments.has)
        guard chosen.count <= 1 else {
            throw StationError(
                .usage, "--\(chosen[1].name) does not go with --\(chosen[0].name): one of them says what to do")
        }
        guard !arguments.has(.loop) || !traces.isEmpty else {
            throw StationError(.usage, "--loop is for --trace; in a configuration it is a key of the sensor")
        }
        if let name = arguments.value(.simulate) {
            guard let model = SimulationSettings.Model(rawValue: name) else {
                let names = SimulationSettings.Model.allCases.map(\.rawValue)
                throw StationError(
                    .usage, "--simulate \(name): no such model (\(Spelling.hint(for: name, among: names)))")
            }
            var settings = SimulationSettings()
            settings.model = model
            return .simulated(settings)
        }
        return traces.isEmpty ? nil : .traces(traces, loops: arguments.has(.loop))
    }
}
