import CommandRows
import Station

/// `binnacle run`: the daemon.
enum RunCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        let signals = console.signals
        var options = RunOptions()
        let paths = arguments.configurationPaths
        guard paths.count <= 1 else {
            throw .usage("run takes one configuration: '\(paths[0])' or '\(paths[1])'")
        }
        options.configurationPath = paths.first
        options.embedded = try Self.embedded(arguments, traces: arguments.all(.trace), named: "--trace")
        options.settings = try arguments.settings()
        options.writesJSON = arguments.has(.json)
        options.root = arguments.value(.root)
        // A SIGHUP during the start is handled by the loop; by default it would end the process.
        signals.listenForReload()
        let daemon = try Daemon(options, interruption: signals.interruption)
        signals.listen(waking: daemon.wakeDescriptor)
        if let failure = daemon.run() { throw failure }
        return .ok
    }

    /// Sources that replace the sensors, those of the configuration if there is one.
    static func embedded(
        _ arguments: Arguments, traces: [String], named option: String
    ) throws(StationError) -> EmbeddedConfiguration? {
        guard traces.isEmpty || !arguments.has(.simulate) else {
            throw .usage("\(option) does not go with --simulate: one of them plays the sensors")
        }
        if traces.isEmpty {
            try arguments.refuse([.loop], "is for \(option); in a configuration it is a key of the sensor")
            try arguments.refuse([.speed], "is for \(option)")
        }
        if let model = try arguments.simulated(.simulate) { return .simulated(model) }
        let speed = try arguments.speed()
        return traces.isEmpty ? nil : .traces(traces, loops: arguments.has(.loop), speed: speed)
    }
}
