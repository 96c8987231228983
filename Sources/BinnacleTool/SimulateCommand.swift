import Binnacle
import CommandRows
import Glibc
import LinuxSystem
import PlainText
import Station
import VirtualDevices
import Workbench

/// `binnacle simulate`: creates virtual devices in the kernel.
enum SimulateCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        var options = SimulateOptions(try Self.samples(arguments))
        options.file = try arguments.choice(.as, ["hub": .uhid, "evdev": .uinput]) ?? .uhid
        options.width = try arguments.choice(.bits, ["16": .bits16, "32": .bits32]) ?? .bits32
        options.hasTime = try arguments.choice(.time, ["hub": true, "kernel": false]) ?? true
        options.hasGyroscope = arguments.has(.gyroscope)
        options.waits = arguments.has(.wait)
        options.sensors = arguments.all(.sensor)
        options.name = try Self.name(arguments, options.file)
        options.node = arguments.value(.node)
        if options.file == .uinput { try arguments.refuse([.bits, .wait], "is for --as hub") }
        options.duration = try arguments.duration()
        let simulation = try DeviceSimulation(
            options, commands: STDIN_FILENO, output: console.output, errors: console.errors,
            interruption: console.signals.interruption)
        console.errors.report(simulation.notices)
        // In the background, reading commands from the terminal would stop the process.
        signal(SIGTTIN, SIG_IGN)
        console.signals.listen(waking: simulation.wakeDescriptor)
        try simulation.run()
        return .ok
    }

    private static func samples(_ arguments: Arguments) throws(StationError) -> SimulateOptions.Samples {
        let traces = try arguments.traces(arguments.all(.trace))
        guard arguments.has(.model) != !traces.isEmpty else {
            throw .usage(
                traces.isEmpty
                    ? "simulate needs --model MODEL or --trace FILE; see 'binnacle simulate --help'"
                    : "--trace does not go with --model: one of them says what the devices measure")
        }
        guard traces.isEmpty else {
            try arguments.refuse([.rateHz, .gyroscope], "is for --model; a trace has what was recorded")
            return .traces(traces, speed: try arguments.speed(), loops: arguments.has(.loop))
        }
        try arguments.refuse([.speed, .loop, .map, .rate, .sensor], "is for --trace")
        var settings = SimulationSettings()
        if let model = try arguments.simulated(.model) { settings.model = model }
        // From the lowest rate of a model to the highest rate of known devices.
        let rate = try arguments.number(.rateHz, in: 0.1...10_000, "a number from 0.1 to 10000")
        settings.rateHz = rate ?? settings.model.rateHz
        return .model(settings)
    }

    private static func name(_ arguments: Arguments, _ file: DeviceFile) throws(StationError) -> String? {
        guard let name = arguments.value(.name) else { return nil }
        let most = file == .uhid ? HubDescription.longestName : InputDevice.Description.longestName
        guard (1...most).contains(name.utf8.count), name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .usage("--name \(name.printable): has to be 1 to \(most) letters, digits, signs and spaces in ASCII")
        }
        return name
    }
}
