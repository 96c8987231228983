import Binnacle

/// An option of the command line: the source of its parsing, help, completions and manual pages.
package struct OptionRow: Sendable, Equatable {
    package enum Completion: Sendable {
        case nothing
        case files
        case folders
        case words([String])

        /// Kinds of event, or all but repeated states.
        static var kinds: Completion { words(EventKind.words) }
    }

    /// Without dashes.
    package let name: String
    /// The one-letter form without its dash; `nil` for none.
    package let letter: Character?
    /// The argument in the help; `nil` for none.
    package let argument: String?
    package let isRepeatable: Bool
    /// The completion, where it does not follow from the argument; made on demand.
    private let given: @Sendable () -> Completion?
    package let help: String

    private init(
        _ name: String, _ argument: String? = nil, letter: Character? = nil, isRepeatable: Bool = false,
        takes completion: @autoclosure @escaping @Sendable () -> Completion? = nil, help: String
    ) {
        self.name = name
        self.letter = letter
        self.argument = argument
        self.isRepeatable = isRepeatable
        given = completion
        self.help = help
    }

    /// Given, or derived from the argument.
    package var completion: Completion {
        if let given = given() { return given }
        // Words in lower case, as in sphere|ellipsoid, are completed; capitals are placeholders.
        let words = (argument ?? "").split(separator: "|").filter { $0.allSatisfy { !$0.isUppercase } }
        return words.isEmpty ? .nothing : .words(words.map(String.init))
    }

    /// The same option with a description for one command.
    func meaning(_ argument: String? = nil, help: String) -> OptionRow {
        OptionRow(
            name, argument ?? self.argument, letter: letter, isRepeatable: isRepeatable,
            takes: argument == nil ? given() : nil, help: help)
    }

    /// Compares names only.
    package static func == (left: OptionRow, right: OptionRow) -> Bool { left.name == right.name }
}

extension OptionRow {
    private static var models: Completion { .words(SimulationSettings.Model.allCases.map(\.rawValue)) }
    package static let bind = OptionRow(
        "bind", "SENSOR=FILE[:KIND]", isRepeatable: true,
        help: """
            Play FILE as the sensor SENSOR. KIND is accelerometer, magnetometer or gyroscope, and also says what bare
            x, y, z columns measure. May be repeated. Files that are not bound find their sensors by kind, in order.
            """)
    package static let map = OptionRow(
        "map", "TARGET=COLUMN[:UNIT],…", isRepeatable: true,
        help: """
            Name the columns and units of a file whose header does not. Targets are time, ax, ay, az, mx, my, mz, gx,
            gy, gz; a column is its name or #1, #2, …, with a minus to turn the axis about; units are s, ms, us, ns,
            min, h, days, m/s2, cm/s2, mm/s2, g, mg, uT, nT, mT, T, gauss, mgauss, rad/s, mrad/s, deg/s, mdps, or a scale
            such as g/256 for counts, and for a time dmy, mdy or ymd, the order of dates.
            acceleration=gravity is for recordings in which the axis that points down reads positive,
            acceleration=linear for those without gravity, in which movements and shakes are found.
            """)
    package static let rate = OptionRow(
        "rate", "HZ",
        help: "The samples a second of files without times, or whose times do not say when each sample was taken.")
    /// Options of every command that reads recordings.
    package static let ofTraces = [bind, map, rate]
    package static let config = OptionRow(
        "config", "PATH", letter: "c", takes: .files,
        help: "Take sensors, detectors and handlers from PATH, a file or a folder, instead of the defaults.")
    package static let set = OptionRow(
        "set", "KEY=VALUE", isRepeatable: true,
        help: """
            Set a key of the configuration, as in motion.moved.threshold_g=0.1, after all files: KEY is section, name and
            key, VALUE is TOML or a bare word. A relative path is relative to the working directory. May be repeated.
            """)
    package static let speed = OptionRow(
        "speed", "X|max",
        help: "Play X times as fast as recorded, or as fast as possible (max, the default).")
    package static let batch = OptionRow(
        "batch", "N",
        help: "Ask for at most N samples of a stream at once. Never changes the events.")
    package static let handlers = OptionRow(
        "handlers", help: "Run the configured handlers that act on the outside world, too.")
    package static let each = OptionRow(
        "each",
        help: """
            Play each recording whose path is a line of standard input, one after the other and each by itself; paths may
            end with NUL instead, as find -print0 writes them. Standard output gets JSON lines (or, with --arrow, rows)
            that name their "recording", and one of the kind recording.replayed or recording.failed for each recording,
            with its status and reason. A recording that fails ends nothing, nor does one whose device has no calibration
            where the configuration asks for {device}.
            """)
    package static let report = OptionRow(
        "report", "FILE", takes: .files,
        help: """
            Write the result of the replay to FILE as one JSON object: the status, the reason of a failure, and the
            numbers of samples, of skipped places by their cause, and of events. A replay that cannot begin, as when a
            file is missing or empty, writes none.
            """)
    package static let json = OptionRow("json", help: "Write one JSON object a line instead of text.")
    package static let arrow = OptionRow(
        "arrow",
        help: """
            Write the events as an Arrow stream with a column for each figure, as in binnacle-events(7), for a file or a
            pipe. With --each it also has a row for the result of each recording.
            """)
    package static let csv = OptionRow("csv", help: "Write CSV instead of text.")
    package static let sweptSet = set.meaning(
        "KEY=A,B,C",
        help: """
            Set a key of the configuration to one value after the other, as in motion.motion.threshold_g=0.05,0.1,0.2; several
            keys give all combinations. Commas in brackets and quotes belong to a value. May be repeated.
            """)
    package static let tableArrow = arrow.meaning(help: "Write the table as an Arrow stream.")
    package static let labels = OptionRow(
        "labels", "FILE", takes: .files,
        help: "Score the events of each row by the labels of FILE, as 'binnacle score' does.")
    package static let tolerance = OptionRow(
        "tolerance", "TIME",
        help: "How far an event may be from its label, as in 500ms or 2s; 1s is the default.")
    package static let scoredKind = kind.meaning(help: "Count and score events of KIND alone. May be repeated.")
    package static let decodeScans = OptionRow(
        "decode-scans",
        help: """
            Decode the samples again from the raw scans that record --scans has kept, instead of taking them as
            recorded.
            """)
    package static let sensor = OptionRow(
        "sensor", "NAME", isRepeatable: true,
        help: """
            Only the sensor of that name: the section's name where there is a configuration, else also a label, node or
            identity; at a daemon, the name that 'binnacle status' has. May be repeated where several are meant.
            """)
    package static let `for` = OptionRow(
        "for", "TIME",
        help: "Stop after TIME, a number with ms, s, m or h, as in 10s. Without it, Ctrl-C stops.")
    package static let output = OptionRow(
        "output", "FILE", letter: "o", takes: .files,
        help: "Write to FILE; - is standard output.")
    package static let scans = OptionRow(
        "scans",
        help: """
            Keep the raw scans of IIO devices, too, in a column 'scan' of an Arrow stream, so that they can be decoded
            again.
            """)
    package static let format = OptionRow(
        "format", "html|svg", help: "Write this format, whatever the name of FILE ends with.")
    package static let force = OptionRow("force", help: "Overwrite FILE if it exists.")
    package static let guide = OptionRow(
        "guide",
        help: """
            Ask for the device to be laid flat and then stood on each edge, and print the sign and the mount matrix that
            follow, for the configuration and for udev's hardware database.
            """)
    package static let measure = OptionRow(
        "measure", "TIME",
        help: """
            Read the sensors for TIME, as in 60s, while nothing moves them, and judge rate, stamps, gaps, rest, noise and range
            against what their drivers and data sheets say.
            """)
    package static let root = OptionRow(
        "root", "DIR", takes: .folders,
        help: """
            Look for IIO devices in DIR/sys/bus/iio/devices and DIR/dev, without udev: for containers and for tests.
            Such devices do not come and go.
            """)
    package static let simulate = OptionRow(
        "simulate", "MODEL", takes: models,
        help: """
            Simulate a sensor or, with --config, every sensor of the configuration, under its name. MODEL is one of
            \(SimulationSettings.Model.names). Every event is marked as simulated.
            """)
    package static let trace = OptionRow(
        "trace", "FILE", isRepeatable: true, takes: .files,
        help: """
            Take the samples from FILE, which run plays in real time; with --config, in place of those of every sensor of
            the configuration, which keep their names. May be repeated; files play together.
            """)
    package static let loop = OptionRow("loop", help: "Play the traces again and again.")
    package static let quick = OptionRow(
        "quick", help: "Measure less often and with less data: 20 seconds instead of minutes.")
    package static let kernel = OptionRow(
        "kernel", "NAME", isRepeatable: true,
        takes: .words(["limits", "k1", "k3", "k4", "k5", "decode", "detectors", "live", "traces"]),
        help: """
            Only NAME: limits, k1 (threshold on columns), k3 (facing a bearing), k4 (gravity filter), k5 (spectrum of a
            second), decode (scans into columns), detectors, live (pipe to delegate) or traces. May be repeated.
            """)
    package static let kind = OptionRow(
        "kind", "KIND", isRepeatable: true, takes: .kinds,
        help: """
            Only events of KIND, such as motion.began; motion.* is all kinds that begin so, any is all; both leave out
            repeated states. May be repeated.
            """)
    package static let raw = OptionRow(
        "raw", help: "Leave out the calibrations; scale, offset and mount matrix are always applied.")
    package static let kinds = OptionRow("kinds", help: "List the kinds of event, with a line for each, and end.")
    package static let since = OptionRow(
        "since", "TIME",
        help: """
            Begin with the first event since TIME: a number with s, m, h or d before now, as in 10m, or a local time, as
            in 2026-11-21 or 2026-11-21T12:45; with a Z behind it, or with --utc, in UTC.
            """)
    package static let until = OptionRow(
        "until", "TIME", help: "Only events until TIME, which is written as for --since.")
    package static let last = OptionRow("last", "N", letter: "n", help: "Only the last N events.")
    package static let utc = OptionRow("utc", help: "Show and read times in UTC instead of local time.")
    package static let follow = OptionRow(
        "follow", help: "Then print new events as they happen, until Ctrl-C.")
    package static let after = OptionRow(
        "after", "SEQ",
        help: "Begin behind the event with the number SEQ; 0 is the oldest that is kept. Without it, begin now.")
    package static let once = OptionRow("once", help: "End after the first event, with the exit status of COMMAND.")
    package static let accel = OptionRow("accel", help: "Show the orientation and the tilt of the screen.")
    package static let light = OptionRow("light", help: "Show the ambient light.")
    package static let proximity = OptionRow("proximity", help: "Show whether an object is near.")
    package static let compass = OptionRow("compass", help: "Show the magnetic heading; -1 is none.")
    package static let allSensors = OptionRow("all", letter: "a", help: "Show all of them.")
    package static let socket = OptionRow(
        "socket", "PATH", takes: .files,
        help: """
            Where the daemon listens. Without it that is your own daemon, at binnacle.sock in XDG_RUNTIME_DIR, if that is a
            folder of yours, or else in XDG_STATE_HOME/binnacle (~/.local/state/binnacle), and where none answers the
            service, at /run/binnacle/binnacle.sock.
            """)
    package static let metricsFile = OptionRow(
        "file", "PATH", takes: .files,
        help: """
            Write to PATH, which is replaced at once, so that a reader never sees half of it. Exits with 73 when that is a link,
            a pipe or a device, or cannot be written.
            """)
    package static let http = OptionRow("http", help: "Answer one HTTP request on standard input and output.")
    package static let stdio = OptionRow("stdio", help: "Serve one client on standard input and output.")
    package static let listen = OptionRow(
        "listen", "ADDRESS:PORT",
        help:
            "The address to listen at, 127.0.0.1:9478 by default. Addresses other than loopback need --token-file.")
    package static let tokenFile = OptionRow(
        "token-file", "FILE", takes: .files,
        help: """
            Answer requests alone that carry the first line of FILE, at least 16 letters and digits, as token: as ?token=TOKEN in
            the address, or as Authorization: Bearer TOKEN. FILE must not be readable by all users.
            """)
    package static let calibrations = OptionRow(
        "calibrations", "FOLDER", takes: .files,
        help: """
            Let the page save the calibrations of a sensor, as SENSOR.toml in FOLDER. Needs --token-file.
            """)
    package static let host = OptionRow(
        "host", "NAME", isRepeatable: true,
        help: """
            Also answer requests for NAME, without a port, where there is no token: a name of this machine, or that of a proxy
            in front of it. May be repeated.
            """)
    package static let store = OptionRow(
        "store", "PATH", takes: .files, help: "Read this store's file, and ask no daemon.")
    package static let date = OptionRow("date", "YYYY-MM-DD", help: "The day, in UTC. Without it, today.")
    package static let altitude = OptionRow(
        "altitude", "METRES",
        help: "Metres above the WGS 84 ellipsoid, -1000 to 850000. Without it, 0.")
    package static let model = OptionRow(
        "model", "sphere|ellipsoid",
        help: "Fit this model instead of choosing by the samples; an ellipsoid that they do not allow is refused.")
    package static let noise = OptionRow(
        "noise",
        help: """
            Measure the noise of a sensor that nothing moves, for a minute, for --for, or of a recording, in place of a calibration.
            """)
    package static let playFrom = from.meaning(
        "TIME",
        help: """
            Begin TIME after the recording's first sample, as in 500ms, 10s, 1.5m or 1h, as if the recording began there;
            or at a time in UTC, as in 2026-11-21T12:45, where the stamps are wall-clock times.
            """)
    package static let playTo = to.meaning(
        "TIME",
        help: "End TIME after the recording's first sample, or at a time in UTC, as for --from.")
    package static let from = OptionRow(
        "from", "SECONDS",
        help: "Leave out samples of the trace before this time, in the seconds that the trace has.")
    package static let to = OptionRow(
        "to", "SECONDS",
        help: "Leave out samples of the trace after this time, in the seconds that the trace has.")
    package static let position = OptionRow(
        "position", "LAT,LON",
        help: """
            Where the device is, in degrees north and east, as in 54.32,10.14 or "54°19'N 10°8'E": a field that is off the World Magnetic Model's by more than
            15 % is refused.
            """)
    package static let field = OptionRow(
        "field", "MICROTESLA",
        help: "The strength of the field in µT, if it is known: a result more than 15 % off is refused.")
    package static let `as` = OptionRow(
        "as", "hub|evdev",
        help: """
            hub (the default): a HID sensor hub, whose sensors the kernel shows as IIO devices. evdev: an accelerometer
            among the input devices.
            """)
    package static let bits = OptionRow("bits", "16|32", help: "Bits of a hub's axes: 32 (the default) or 16.")
    package static let time = OptionRow(
        "time", "hub|kernel",
        help: """
            hub (the default): samples carry the device's own time. kernel: their time is that of their arrival.
            """)
    package static let gyroscope = OptionRow("gyroscope", help: "The device has a gyroscope, too.")
    package static let wait = OptionRow(
        "wait",
        help: "Send the first sample only when a program begins to read a sensor of the hub.")
    package static let name = OptionRow("name", "NAME", help: "The device's name in the kernel.")
    package static let node = OptionRow(
        "node", "PATH", takes: .files,
        help: "The device file, where it is not /dev/uhid or /dev/uinput.")
    package static let rateHz = OptionRow(
        "rate-hz", "HZ", help: "Samples a second of the model; 400 for tap and 100 for others by default.")
    package static let strict = OptionRow("strict", help: "Treat warnings as errors: exit with 78 when there is one.")
    package static let help = OptionRow("help", letter: "h", help: "Print this help.")
    package static let version = OptionRow("version", letter: "V", help: "Print the version.")
}
