/// Every option there is, once: parsing and help are made from this table.
enum OptionName: String, CaseIterable {
    case bind, map, config, speed, batch, handlers, json
    case sensor, `for`, output, force, guide, root
    case help, version

    /// What stands for the argument in the help; `nil` when the option takes none.
    var argument: String? {
        switch self {
        case .bind: "SENSOR=FILE[:KIND]"
        case .map: "TARGET=COLUMN[:UNIT],…"
        case .config: "PATH"
        case .speed: "X|max"
        case .batch: "N"
        case .sensor: "NAME"
        case .for: "TIME"
        case .output: "FILE"
        case .root: "DIR"
        case .handlers, .json, .force, .guide, .help, .version: nil
        }
    }

    var letter: Character? {
        switch self {
        case .config: "c"
        case .output: "o"
        case .help: "h"
        default: nil
        }
    }

    var isRepeatable: Bool { self == .bind || self == .map || self == .sensor }

    var help: String {
        switch self {
        case .bind:
            """
            Play FILE as the sensor SENSOR. KIND is accelerometer or magnetometer, and also says what bare x, y, z
            columns measure. May be repeated. Files that are not bound find their sensors by kind, in order.
            """
        case .map:
            """
            Name the columns and units of a file whose header does not. Targets are time, ax, ay, az, mx, my, mz; a
            column is its name or #1, #2, …; units are s, ms, us, ns, m/s2, g, mg, uT, nT, mT, gauss, mgauss.
            """
        case .config: "Take sensors, detectors and handlers from PATH, a file or a folder, instead of the defaults."
        case .speed: "Play X times as fast as recorded, or as fast as possible (max, the default)."
        case .batch: "Ask for at most N samples of a stream at once. Never changes the events."
        case .handlers: "Run the configured handlers that act on the world, too."
        case .json: "Write one JSON object a line instead of text."
        case .sensor:
            """
            Only the sensor of that name, label, node or identity; with --config, the section's name. May be repeated.
            """
        case .for: "Stop after TIME, a number with ms, s, m or h, as in 10s. Without it, Ctrl-C stops."
        case .output: "Write to FILE; - is standard output."
        case .force: "Write over FILE when it is there already."
        case .guide:
            """
            Ask for the device to be laid flat and then stood on each edge, and print the sign and the mount matrix that
            follow, for the configuration and for udev's hardware database.
            """
        case .root:
            """
            Look for IIO devices in DIR/sys/bus/iio/devices and DIR/dev, without udev: for containers and for tests. Such
            devices do not come and go.
            """
        case .help: "Print this help."
        case .version: "Print the version."
        }
    }
}

/// Every subcommand there is, once.
enum CommandName: String, CaseIterable {
    case replay, record, devices, doctor, check

    var operands: String {
        switch self {
        case .replay: "TRACE…"
        case .record, .devices, .doctor: ""
        case .check: "[PATH…]"
        }
    }

    var summary: String {
        switch self {
        case .replay: "play recorded traces through the detectors and show the events"
        case .record: "record sensors into a trace that replay plays"
        case .devices: "list the sensors of this machine"
        case .doctor: "say what would be used and why, or why not"
        case .check: "validate a configuration without running anything"
        }
    }

    var details: String {
        switch self {
        case .replay:
            """
            Traces are CSV files with a header, whose columns and units are recognised, or recordings of an accelerometer
            made with evemu-record. Without --config, one motion detector named motion looks at the first accelerometer,
            and one north detector named north at the first accelerometer and magnetometer. Events go to standard output,
            messages and the summary of a JSON replay to standard error.
            """
        case .record:
            """
            Writes CSV with a column for each axis of each sensor. After a kill everything up to the last second is there.
            What happens to a sensor meanwhile (it was unplugged, samples were lost) is said on standard error. Exits with
            69 when there is nothing to record, and with 77 when nothing may be opened.
            """
        case .devices:
            """
            Lists accelerometers and magnetometers, of the IIO subsystem and of the input layer, without changing anything.
            """
        case .doctor:
            """
            Looks at each sensor without changing anything. Exits with 0 when there is an accelerometer and a magnetometer
            that this user may read, with 69 when there is not.
            """
        case .check:
            """
            PATH is a file, or a folder with a binnacle.toml and a conf.d, whose *.toml complete it in the order of their
            names; without one it is /etc/binnacle. Prints every problem as FILE:LINE:COLUMN: message, and exits with 78
            when there is one.
            """
        }
    }

    var options: [OptionName] {
        switch self {
        case .replay: [.bind, .map, .config, .speed, .batch, .handlers, .json, .help]
        case .record: [.output, .for, .sensor, .config, .force, .root, .help]
        case .devices: [.json, .root, .help]
        case .doctor: [.guide, .sensor, .root, .help]
        case .check: [.help]
        }
    }
}
