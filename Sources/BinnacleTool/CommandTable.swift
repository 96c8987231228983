/// Every option there is, once: parsing and help are made from this table.
enum OptionName: String, CaseIterable {
    case bind, map, config, speed, batch, handlers, json, help, version

    /// What stands for the argument in the help; `nil` when the option takes none.
    var argument: String? {
        switch self {
        case .bind: "SENSOR=FILE[:KIND]"
        case .map: "TARGET=COLUMN[:UNIT],…"
        case .config: "FILE"
        case .speed: "X|max"
        case .batch: "N"
        case .handlers, .json, .help, .version: nil
        }
    }

    var letter: Character? {
        switch self {
        case .config: "c"
        case .help: "h"
        default: nil
        }
    }

    var isRepeatable: Bool { self == .bind || self == .map }

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
        case .config: "Take sensors, detectors and handlers from FILE instead of the defaults."
        case .speed: "Play X times as fast as recorded, or as fast as possible (max, the default)."
        case .batch: "Ask for at most N samples of a stream at once. Never changes the events."
        case .handlers: "Run the configured handlers that act on the world, too."
        case .json: "Write one JSON object a line instead of text."
        case .help: "Print this help."
        case .version: "Print the version."
        }
    }
}

/// Every subcommand there is, once.
enum CommandName: String, CaseIterable {
    case replay, check

    var operands: String {
        switch self {
        case .replay: "TRACE…"
        case .check: "FILE…"
        }
    }

    var summary: String {
        switch self {
        case .replay: "play recorded traces through the detectors and show the events"
        case .check: "validate configuration files without running anything"
        }
    }

    var details: String {
        switch self {
        case .replay:
            """
            Traces are CSV files with a header; columns and units are recognised. Without --config, one motion detector
            named motion looks at the first accelerometer, and one north detector named north at the first accelerometer
            and magnetometer. Events go to standard output, messages and the summary of a JSON replay to standard error.
            """
        case .check:
            """
            Prints every problem as FILE:LINE:COLUMN: message, and exits with 78 when there is one.
            """
        }
    }

    var options: [OptionName] {
        switch self {
        case .replay: [.bind, .map, .config, .speed, .batch, .handlers, .json, .help]
        case .check: [.help]
        }
    }
}
