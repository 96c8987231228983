import Binnacle
import Calibration
import CommandRows
import Configuration
import Geomagnetism
import Glibc
import LinuxSystem
import PlainText
import Station
import Workbench

/// `binnacle calibrate`: computes the calibration of a magnetometer, an accelerometer or a gyroscope.
struct CalibrateCommand {
    private let options: CalibrateOptions
    private let path: String?
    private let replaces: Bool
    private let writesJSON: Bool

    private static let standardOutput = "-"

    init(_ arguments: Arguments) throws(StationError) {
        var options = CalibrateOptions()
        options.kind = try Self.kind(arguments.operands)
        options.traces = try arguments.traces(arguments.all(.trace))
        options.traces.processorCount = Processors.availableCount
        options.configurationPath = arguments.value(.config)
        options.root = arguments.value(.root)
        options.sensor = try arguments.onlyValue(.sensor, "--sensor: one sensor is calibrated at a time")
        guard options.traces.isEmpty || options.configurationPath == nil else {
            throw .usage("--trace (or --bind) does not go with --config: one of them says where the samples come from")
        }
        if options.traces.isEmpty {
            try arguments.refuse([.map, .rate, .from, .to], "is for --trace")
        } else {
            try arguments.refuse([.root], "does not go with --trace, which plays the sensor")
        }
        options.simulation = try arguments.simulated(.simulate)
        if options.simulation != nil {
            try arguments.refuse(
                [.config, .trace, .bind, .sensor, .root], "does not go with --simulate, which plays the sensor")
        }
        options.timeRange = try Self.timeRange(arguments)
        options.duration = try arguments.duration()
        guard options.duration == nil || options.traces.isEmpty else {
            throw .usage("--for is for sensors; use --to with --trace")
        }
        options.measuresNoise = arguments.has(.noise)
        if options.measuresNoise {
            try arguments.refuse([.model, .position, .field], "does not go with --noise, which fits nothing")
            if let duration = options.duration, duration < MeasuredStream.leastDuration {
                let least = Int(MeasuredStream.leastDuration / .seconds(1))
                throw .usage("--for is too short for --noise, which needs \(least) s")
            }
        }
        options.judge = try Self.judge(arguments, options.kind)
        path = arguments.value(.output)
        if path == "" { throw .usage("--output needs the name of a file") }
        replaces = arguments.has(.force)
        if path == nil { try arguments.refuse([.force], "is for --output") }
        writesJSON = arguments.has(.json)
        if writesJSON, path == Self.standardOutput {
            throw .usage("--json does not go with -o -: both would write to standard output")
        }
        self.options = options
    }

    private static func kind(_ operands: [String]) throws(StationError) -> SampleKind {
        let names = SensorCalibration.kinds.map(\.rawValue)
        guard let name = operands.first else { return .magnetometer }
        guard operands.count == 1 else { throw .usage("calibrate takes one kind of sensor at a time") }
        guard let kind = SampleKind(rawValue: name), SensorCalibration.kinds.contains(kind) else {
            throw .usage("calibrate takes no '\(name)' (\(Spelling.hint(for: name, among: names)))")
        }
        return kind
    }

    private static func timeRange(_ arguments: Arguments) throws(StationError) -> ClosedRange<Int64> {
        var ends = [Int64.min, Int64.max]
        for (place, option) in [OptionRow.from, .to].enumerated() {
            guard let text = arguments.value(option) else { continue }
            guard let seconds = Double(text), seconds.isFinite,
                let nanoseconds = Int64(exactly: (seconds * 1e9).rounded())
            else { throw .usage("--\(option.name) \(text): has to be a number of seconds") }
            ends[place] = nanoseconds
        }
        guard ends[0] <= ends[1] else { throw .usage("--from lies behind --to") }
        return ends[0]...ends[1]
    }

    private static func judge(_ arguments: Arguments, _ kind: SampleKind) throws(StationError) -> MagnetometerJudge {
        if kind != .magnetometer { try arguments.refuse([.model, .position, .field], "is for magnetometers") }
        var judge = MagnetometerJudge()
        judge.model = try arguments.choice(.model, ["sphere": .sphere, "ellipsoid": .ellipsoid])
        if arguments.has(.field) {
            guard !arguments.has(.position) else {
                throw .usage("--field does not go with --position: both say how strong the field is")
            }
            let range = MagnetometerJudge.earthMicrotesla
            judge.expectedMicrotesla = try arguments.number(
                .field, in: range, "a number of µT from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
        if let text = arguments.value(.position) { judge.expectedMicrotesla = try field(at: text) }
        return judge
    }

    /// Today's field strength at a place, in µT.
    private static func field(at text: String) throws(StationError) -> Double {
        guard let place = GeographicText.position(text),
            let position = GeodeticPosition(latitudeDegrees: place.latitude, longitudeDegrees: place.longitude)
        else {
            throw .usage(
                "--position \(text): has to be LAT,LON in degrees, as in 54.32,10.14, 54.32N 10.14E or 54°19'N 10°8'E")
        }
        let model = GeomagneticModel.wmm2025
        return model.field(at: position, decimalYear: Day.today?.decimalYear ?? model.epoch).totalNanotesla / 1000
    }

    func run(_ console: Console) throws(StationError) -> ExitStatus {
        let (output, errors, signals) = (console.output, console.errors, console.signals)
        let file = try path.flatMap { path throws(StationError) -> CalibrationFile? in
            guard path != Self.standardOutput else { return nil }
            let file = try CalibrationFile(path: path, for: options.tableName, replacing: replaces)
            if file.replacesTable, !replaces { try askToReplace(path, errors) }
            return file
        }
        let isTerminal = isatty(STDERR_FILENO) != 0
        let guidance: any GuidanceView =
            isTerminal ? TerminalGuidanceView(descriptor: STDERR_FILENO) : LineGuidanceView(writer: errors)
        let calibration = try CalibrationRun(
            options, errors: errors, view: guidance, interruption: signals.interruption)
        if let path { try StationError.refuse(writing: path, over: calibration.input.inputs, option: "-o") }
        errors.report(calibration.input.notices)
        signals.listen(waking: calibration.wakeDescriptor)
        let indicator = calibration.input.isLive ? ProgressIndicator(view: guidance) : .onTerminal("calibrate")
        switch calibration.run(indicator) {
        case .cancelled: return signals.interruption.exitStatus
        case .failed(let error): throw error
        case .refused(let refusal):
            if writesJSON { output.write(json(refusal.figures, calibration, refusal: refusal)) }
            throw .data(
                "no \(what): \(refusal.description)"
                    + (path == nil ? "" : "\nnothing was written"))
        case .done(let result):
            do throws(StationError) {
                let written = try file?.write(result)
                report(result, calibration, written, console)
            } catch {
                // What took minutes to measure is shown at least.
                if !writesJSON { report(result, calibration, nil, console) }
                throw error
            }
            return .ok
        }
    }

    private var what: String {
        let kind = options.kind.rawValue
        return options.measuresNoise ? "measurement of the \(kind)'s noise" : "calibration of the \(kind)"
    }

    /// Before samples are taken, asks at a terminal whether a calibration of the same kind may be replaced.
    private func askToReplace(_ path: String, _ errors: LineWriter) throws(StationError) {
        guard isatty(STDIN_FILENO) != 0, isatty(STDERR_FILENO) != 0 else {
            throw .cannotCreate(
                "\(path.printable): has a \(what) already: name another file, or replace it with "
                    + "--force")
        }
        errors.write("\(path.printable) has a \(what) already. Replace it when there is a new one? [y/N]")
        errors.flush()
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw .cannotCreate("\(path.printable): is unchanged")
        }
    }

    private func report(
        _ result: CalibrationResult, _ calibration: CalibrationRun, _ file: CalibrationFile?, _ console: Console
    ) {
        let output = console.output
        if writesJSON {
            output.write(json(result.figures, calibration, refusal: nil))
            return
        }
        let isPiped = path == Self.standardOutput
        let words = isPiped ? console.errors : output
        let kind = options.kind.rawValue
        let name = calibration.sensorName
        // The default name of a sensor in a trace is its kind.
        words.write(name == kind ? kind : "\(kind) of \(name.printable)")
        for line in result.report { words.write(line) }
        for assumption in calibration.input.assumptions { words.write("assumed: \(assumption)") }
        guard let file, let path else {
            if !isPiped { words.write("not saved; -o FILE would save this:") }
            output.write(text: CalibrationFile.text(result))
            return
        }
        let kept = file.keptTables.map { " (its [\($0)] is kept)" }.joined()
        if !file.lost.isEmpty {
            words.write("\(path.printable): not kept, because it is no calibration: \(Spelling.list(file.lost))")
        }
        words.write("saved to \(path.printable)\(kept); in the sensor's section of the configuration:")
        words.write("    calibration = \(JSONObject.quoted(file.absolutePath))")
    }

    private func json(_ figures: JSONObject, _ calibration: CalibrationRun, refusal: CalibrationRefusal?) -> String {
        var object = JSONObject()
        object.add("kind", options.kind.rawValue)
        object.add("sensor", calibration.sensorName)
        object.add("is_accepted", raw: "\(refusal == nil)")
        object.add("refusal", refusal?.name)
        object.add("message", refusal?.description)
        object.add("file", refusal == nil ? path : nil)
        object.add("figures", raw: figures.text)
        object.add("assumptions", list: calibration.input.assumptions.map(JSONObject.quoted))
        return object.text
    }
}
