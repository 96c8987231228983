import Binnacle

/// A subcommand: the source of its parsing, help, completions and manual pages.
package struct CommandRow: Sendable {
    package enum Name: String, Sendable {
        case run, replay, sweep, score, plot, record, convert, devices, doctor, check, status, reset, arm, disarm,
            metrics, events, samples, watch,
            web, serve, on, monitor
        case calibrate, declination, simulate, bench
    }

    package let name: Name
    /// The operands in the help; empty for none.
    package let operands: String
    package var completion: OptionRow.Completion { taken() }
    /// One line.
    package let summary: String
    /// Paragraphs.
    package let details: String
    /// In the order of the help.
    package var options: [OptionRow] { given() + [.help] }

    // Made on demand: a start needs those of one command.
    private let taken: @Sendable () -> OptionRow.Completion
    private let given: @Sendable () -> [OptionRow]

    private init(
        _ name: Name, operands: String = "",
        takes completion: @autoclosure @escaping @Sendable () -> OptionRow.Completion = .nothing, summary: String,
        details: String, options: @autoclosure @escaping @Sendable () -> [OptionRow]
    ) {
        self.name = name
        self.operands = operands
        taken = completion
        self.summary = summary
        self.details = details
        given = options
    }

    /// In the order of the help.
    package static let all: [CommandRow] = [
        CommandRow(
            .run, operands: "[PATH]", takes: .files,
            summary: "watch the sensors and hand events to handlers, until it is ended",
            details: """
                The daemon. Reads /etc/binnacle/binnacle.toml and /etc/binnacle/conf.d/*.toml, or PATH, which --config
                names as well: a file, or a folder with those names in it. Without any configuration it watches the
                sensors that it finds, with one motion detector and, where there is a magnetometer, one north detector,
                and logs what they find. Run by another account than root it keeps the events then, and answers status, events
                and on, in folders of your own: XDG_RUNTIME_DIR and XDG_STATE_HOME (~/.local/state).

                With --simulate or --trace it needs no hardware: without --config one sensor is played, with it all
                sensors of the configuration, in place of its devices. Everything else is as configured: handlers run
                commands and send messages, and events go to the store. --set changes a key for this run, which a reload
                keeps.

                SIGHUP reads the configuration again: what has not changed keeps running. SIGTERM, Ctrl-C, and a terminal
                that is closed, end it within a second. Under systemd the log goes to the journal with its fields kept apart, else to standard
                error. Exits with 78 when the configuration is wrong, and without one with 69 when there is no sensor.
                """,
            options: [
                .config, .set, .simulate, .trace, .loop,
                .speed.meaning("X", help: "Play the traces X times as fast as recorded; 1 is the default."), .json,
                .root,
            ]),
        CommandRow(
            .replay, operands: "TRACE…", takes: .files,
            summary: "play recorded traces through the detectors and show the events",
            details: """
                Traces are Arrow streams (.arrows), CSV files with a header, whose columns and units are recognised, bags of ROS 2
                (.mcap), or recordings of an accelerometer made with evemu-record; - is standard input. Without --config, one motion detector named
                motion looks at the first accelerometer, and one north detector named north at the first accelerometer
                and magnetometer; --set changes their keys, too, as in --set motion.motion.threshold_g=0.1. Events go to
                standard output, messages and the summary of a JSON replay to standard error.
                """,
            options: OptionRow.ofTraces + [
                OptionRow.config, .set, .playFrom, .playTo, .speed, .batch, .decodeScans, .handlers, .json, .arrow,
                .each, .report, .force,
            ]),
        CommandRow(
            .sweep, operands: "RECORDING…", takes: .files,
            summary: "count the events of recordings for several values of a key",
            details: """
                Replays each RECORDING (a file, a folder or a zip archive) by itself for each value of --set, and for all combinations
                of several, and writes a table: a row for each, with the number of events of each kind. With --labels, which
                name what really happened and when, each row also has how many of these were found, how many events were
                false, precision, recall, and the error of the onset; several recordings then have a further row for all of them.
                No handler runs. A recording that cannot be read has the exit status of its error at the end, 65 for its content.
                """,
            options: [
                .map, .rate, .config, .sweptSet, .playFrom, .playTo, .decodeScans, .labels, .tolerance, .scoredKind,
                .json, .csv, .tableArrow,
            ]),
        CommandRow(
            .score, operands: "EVENTS LABELS", takes: .files, summary: "compare events with the labels of a recording",
            details: """
                EVENTS are the JSON lines of 'binnacle replay --json' or of --each; - is standard input. LABELS is a CSV file with
                a line for each thing that really happened: its time as time_s (in seconds, as in the recording), time_ns, or
                time (UTC, as in 2026-11-21T12:45:03.5Z); its kind of event, without which --kind says it; and its recording, where
                there are several. Each label gets the nearest event of its kind within --tolerance that is not nearer to
                another label; labels without one are missed, and events without one are false. Precision is found / (found +
                false), recall is found / labels; the onset's error is the time from the label to the event. An event counts where what
                it reports began or ended, as its onset_ns and duration_s say, and without them at its own stamp.
                """,
            options: [.tolerance, .scoredKind, .json, .csv, .tableArrow]),
        CommandRow(
            .plot, operands: "TRACE… -o FILE", takes: .files,
            summary: "draw recorded traces with the detectors' limits and events",
            details: """
                Plays traces as replay does, and writes a page (FILE.html) that every browser opens without a network, or a
                drawing for print and mail (FILE.svg): acceleration with the limits and their hysteresis, headings with
                their accuracy or the reason why there is none, field, turn rate, what is missing, and the events. The page
                zooms and moves by mouse and keyboard, has a table of the events and a spectrum of vibrations, and shows
                the least and the greatest value of each pixel's time. --set tries another threshold. The page has no
                settings of handlers, which may be secret. Handlers are not run.
                """,
            options: [OptionRow.output] + OptionRow.ofTraces + [
                OptionRow.config, .set, .playFrom, .playTo, .batch, .decodeScans, .format, .force,
            ]),
        CommandRow(
            .record, summary: "record sensors into a trace that replay plays",
            details: """
                Writes an Arrow stream when FILE ends in .arrows, MCAP for ROS 2 when it ends in .mcap, and else CSV with a
                column for each axis of each sensor. After a kill everything up to the last second is there. What happens to a sensor meanwhile
                (unplugged, samples lost) is reported on standard error. Exits with 69 when there is nothing to record,
                with 73 when FILE ends in .arrow, .feather, .ipc, .parquet, .gz, .zip or .zst, which are not written, and with
                77 when nothing may be opened.
                """,
            options: [
                .output, .for, .sensor, .config,
                .simulate.meaning(
                    help: "Record a motion model in place of sensors: \(SimulationSettings.Model.names)."),
                .scans, .force, .root,
            ]),
        CommandRow(
            .convert, operands: "TRACE… -o FILE", takes: .files,
            summary: "convert traces to another format, or join several",
            details: """
                Reads what replay reads, - for standard input, and writes what record writes: an Arrow stream when FILE ends in .arrows, MCAP
                for ROS 2 when it ends in .mcap, else CSV. Stamps and values stay exactly the same; several traces are merged by their stamps. What a replay
                would skip is left out and reported on standard error. Exits with 73 when FILE ends in .arrow, .feather, .ipc,
                .parquet, .gz, .zip or .zst, which are not written.
                """,
            options: [OptionRow.output] + OptionRow.ofTraces + [OptionRow.force]),
        CommandRow(
            .devices, summary: "list the sensors of this machine",
            details: """
                Lists accelerometers, magnetometers and gyroscopes, of IIO and of the input layer, without changing
                anything.
                """,
            options: [.json, .root]),
        CommandRow(
            .doctor, summary: "report which sensors would be used, and why or why not",
            details: """
                Looks at each sensor without changing anything, and says which uses are possible. Exits with 0 when what
                the configuration needs is there and may be read by this user, with 69 when it is not. The configuration
                is /etc/binnacle, or what --config names; without one an accelerometer is enough.

                With --measure it reads all sensors, or the one of --sensor, and says "pass", "FAIL", or "-" where there is nothing
                to judge by; nothing may move them meanwhile. The noise is the one-sided density that data sheets state, the bias
                instability and the random walk come from the Allan deviation (IEEE 952), whose points --json has. It exits with 1
                when something fails.
                """,
            options: [
                .guide, .measure, .sensor, .config, .json,
                .simulate.meaning(
                    help: "Measure a motion model in place of sensors: \(SimulationSettings.Model.names)."),
                .root,
            ]),
        CommandRow(
            .check, operands: "[PATH…]", takes: .files, summary: "validate a configuration without running anything",
            details: """
                PATH, which --config names as well, is a file, or a folder with a binnacle.toml and a conf.d, whose *.toml
                complete it in the order of their names; without one it is /etc/binnacle. Prints every problem as
                FILE:LINE:COLUMN: message. An error makes the configuration unusable: the exit status is 78. A warning
                reports a setting that is valid but probably not intended, as far as this machine shows it: no handler, a
                program, file, folder, account or library that is missing, an event that no detector makes, a threshold
                beyond the range of the connected sensor.
                """,
            options: [.config, .set, .strict, .root]),
        CommandRow(
            .status, summary: "show the state of the running daemon",
            details: """
                Shows the state of sensors, handlers, store and socket of the running daemon. Exits with 0 when all is
                well, with 1 when something does not work, with 69 when no daemon answers, and with 77 when you may not
                ask.
                """,
            options: [.json, .socket]),
        CommandRow(
            .reset, operands: "NAME",
            summary: "make a detector of the running daemon forget what it has learned or counted",
            details: """
                NAME is that of a [steps.NAME], which then counts from 0, or of a [vibration.NAME] with learn_days, which then
                learns from the beginning what is normal. Who may ask for events may do this; the daemon logs who did it, and
                'binnacle status' shows the total and how much is learned. Exits with 69 when no daemon answers, or when it has no
                such detector or one that keeps nothing, and with 77 when you may not ask it.
                """,
            options: [.socket]),
        CommandRow(
            .arm, operands: "NAME", summary: "let a handler of the running daemon get events again",
            details: """
                NAME is that of a [handler.NAME] that 'binnacle disarm' has disarmed. It gets what happens from now on; a motion
                that has begun before is not reported to it. Exits as 'binnacle disarm'.
                """,
            options: [.socket]),
        CommandRow(
            .disarm, operands: "NAME", summary: "keep events from a handler of the running daemon",
            details: """
                NAME is that of a [handler.NAME], such as an alarm that is not wanted while you are there. Detection, the store
                and all other handlers go on, nothing is delivered later, and what it does at the moment goes on. It stays
                disarmed over reloads and restarts, until 'binnacle arm NAME'. "handler.disarmed" and "handler.armed" say so in
                the log, on the bus and to other handlers, and it gets these itself when its section asks for them: a siren can
                end at "handler.disarmed". A handler with nmea or signalk cannot be disarmed. Who may ask for events may do this;
                the daemon logs who did it, and 'binnacle status' shows it. Exits with 69 when no daemon answers or when it has no
                such handler, with 74 when it is done and cannot be written for the next start, and with 77 when you may not ask it.
                """,
            options: [.socket]),
        CommandRow(
            .metrics, summary: "print the state of the running daemon for Prometheus",
            details: """
                Asks the running daemon for its status, and prints it in the text format 0.0.4 of Prometheus: sensors with
                their samples, losses and gaps, events by detector and kind, valid headings, handlers with their queues,
                failures and the duration of commands, the store, the socket, and the process. --file writes it for
                node_exporter's textfile collector. With --http it answers one request, from standard input to standard output;
                binnacle-metrics.socket starts it so for each scrape, on the loopback address, so the daemon itself needs no
                network. It answers requests for the address at which it is asked and the names of --host, or with the token of
                --token-file. Exits with 69 when no daemon answers, and with 77 when you may not ask; --http answers 503 then,
                and the file of --file has binnacle_up 0 alone.
                """,
            options: [.metricsFile, .http, .tokenFile, .host, .socket]),
        CommandRow(
            .events, summary: "show the events that the daemon has kept",
            details: """
                Asks the running daemon; where none answers, it reads the store's file, which root, its owner and,
                after a proper stop, its group may.
                Events go to standard output, one a line, with local time; missed events are reported on standard error.
                Exits with 66 when there is neither, with 69 when a daemon has the file of --store open, which answers without
                --store, and with 77 when you may not ask, or not read the file.
                """,
            options: [
                .since, .until, .last, .kind, .sensor, .follow, .json, .utc, .kinds, .socket, .store,
            ]),
        CommandRow(
            .samples, summary: "print the samples of the daemon's sensors as they come",
            details: """
                Asks the running daemon, which reads each sensor once for all its clients. Samples go to standard output as CSV,
                one a line: time_ns (the monotonic clock), sensor, kind, x, y and z, in m/s², µT or rad/s, in the device's frame,
                with the sensor's calibration. Beginning and end are those of this command: nothing is kept. A reader that is too
                slow loses the oldest samples; how many is reported on standard error.

                Exits with 69 when no daemon answers, or when it has no such sensor, and with 77 when you may not ask.
                """,
            options: [
                .sensor,
                .kind.meaning(
                    "accelerometer|magnetometer|gyroscope", help: "Only samples of this kind. May be repeated."), .raw,
                .json,
                .socket,
            ]),
        CommandRow(
            .watch, operands: "[TRACE…]", takes: .files,
            summary: "show sensors and detectors live in the terminal",
            details: """
                Shows what the sensors measure, what detectors compare with their limits, headings with their accuracy or the
                reason why there is none, rates, losses and the last events, ten times a second. Bars have marks at the
                limits: ┃ where something begins, ╎ where it ends, ◆ the greatest value of the last three seconds.

                Asks the running daemon. Where none answers, and with --simulate, --config, --set, --root or a TRACE, which
                is played in real time, it reads the sensors itself, with the detectors of the configuration; then no handler
                runs, and nothing is kept.

                With one sensor chosen, its events and those of no sensor are shown. When no reading has come for 3 s, the
                first line says for how long.

                Keys: ← → choose a sensor, + and - the scale, 0 the usual one, p forgets peaks, the space bar holds the
                picture and then shows the events that came meanwhile, q ends. Where standard output is no terminal, or TERM
                is dumb, a line a second is printed. NO_COLOR turns colours off.
                """,
            options: [
                .simulate, .config, .set, .loop,
                .speed.meaning("X", help: "Play the traces X times as fast as recorded; 1 is the default."), .sensor,
                .for.meaning(
                    help:
                        "Stop after TIME, a number with ms, s, m or h, as in 10s. Without it, q stops, or Ctrl-C, which exits with 130."
                ),
                .utc, .socket, .root,
            ]),
        CommandRow(
            .web, summary: "serve a page with live readings, the kept events and the daemon's state",
            details: """
                Serves http://127.0.0.1:9478/: instruments and curves of what the daemon measures, drawn as by plot, the events of
                the store for a range of days, the calibration of a magnetometer, an accelerometer or a gyroscope while it is turned
                or held still, and the state of the daemon, which it asks at its Unix socket; so the daemon itself needs no
                network. Nothing can be changed through it, except that --calibrations lets the page save a calibration. With --http it answers one request, from standard
                input to standard output; binnacle-web.socket starts it so for each connection, on the loopback address.

                With --token-file it answers only requests with that token, wherever they come from, at
                http://HOST:PORT/?token=TOKEN; other addresses than the loopback one need it, and so does a proxy that other
                machines reach. Without it, it answers requests for localhost, 127.0.0.1, [::1] and the names of --host alone. It
                uses HTTP without encryption: across a network that others use, put it behind a proxy that has TLS, or a tunnel
                of ssh.
                """,
            options: [.listen, .tokenFile, .host, .calibrations, .http, .socket]),
        CommandRow(
            .serve, operands: "[TRACE…]", takes: .files,
            summary: "serve sensors or recordings to the programs of IIO, as iiod does",
            details: """
                Listens at 127.0.0.1:30431 and speaks the text protocol of libiio 0.2x: iio_info, iio_attr, iio_readdev,
                IIO Oscilloscope, GNU Radio and pylibiio read the sensors of the running daemon, which reads each once for all
                of them, or the sensors of TRACE, for each client from its beginning. Nothing can be changed through it: every
                WRITE is refused. With --stdio it serves one client on standard input and output; binnacle-serve.socket starts
                it so for each connection, on the loopback address.

                A device is what a sensor measures, as in lid-accel, lid-anglvel and lid-magn, or the attitude of an
                [attitude.NAME], as in hull-rot. Scans have 32 bits for an axis, 16 for each number of a quaternion and 64 for the
                stamp in nanoseconds. The values are IIO's, raw · scale: m/s², rad/s and Gauss, in the device's frame and with the
                sensor's calibration; an axis without a number is -2147483648.

                A client that is too slow loses the daemon's oldest samples: a gap in the stamps, and a message. There is no
                password: name another address only in a network where every machine may read.
                """,
            options: [
                .listen.meaning(help: "The address to listen at, 127.0.0.1:30431 by default. There is no password."),
                .stdio,
            ] + OptionRow.ofTraces + [
                .speed.meaning(
                    "X|max",
                    help: """
                        Play the traces X times as fast as recorded, or as fast as the client reads (max); 1 is the default.
                        """),
                .loop, .socket,
            ]),
        CommandRow(
            .on, operands: "KIND… [-- COMMAND…]", takes: .kinds,
            summary: "run a command, as yourself, for each event of the daemon",
            details: """
                KIND is a kind of event, such as motion.began, a group such as motion.*, or any; both leave out repeated
                states. COMMAND runs once for
                each event, one after the other, with your environment, directory, output and terminal. It gets the
                event as a line of JSON on its standard input and in variables such as BINNACLE_PEAK_G; {peak_g} in an
                argument stands for that figure, {{ and }} for braces. There is no shell: write sh -c where you want
                one. Without COMMAND the events are printed.

                A daemon that is away is waited for; events that happened meanwhile come afterwards, when the daemon has
                a store. With --once, exits with the status of COMMAND, and with 69 when no daemon answers. Exits with
                77 when you may not ask it, and with 66 when there is no such COMMAND. Ctrl-C and SIGTERM reach COMMAND,
                too, and are waited for.
                """,
            options: [.sensor, .after, .once, .json, .utc, .socket]),
        CommandRow(
            .monitor, summary: "show what desktops get from the sensors",
            details: """
                Claims sensors of net.hadess.SensorProxy on the system bus, as a desktop does, and prints what it gets: the lines
                of monitor-sensor, which the package binnacle-sensorproxy removes with iio-sensor-proxy. It works with either of
                the two, and waits for one. Without an option it shows all four sensors. While it runs, they are read.

                Exits with 69 when there is no system bus, and with 77 when a claim is refused: polkit lets active sessions
                claim, and root.
                """,
            options: [.accel, .light, .proximity, .compass, .allSensors]),
        CommandRow(
            .calibrate, operands: "[magnetometer|accelerometer|gyroscope]",
            takes: .words(SensorCalibration.kinds.map(\.rawValue)),
            summary: "determine the calibration of a magnetometer, an accelerometer or a gyroscope, and save it",
            details: """
                A magnetometer is turned slowly through all directions, while standard error says which are missing; it
                ends when there are enough, or with Ctrl-C. A sphere corrects hard iron (magnets that turn with the
                sensor), an ellipsoid soft iron as well. An accelerometer is held still for a second with each of its
                six sides up. A gyroscope lies still for ten seconds, which gives its offset; without --config it is a
                device by itself. Without --config a device is read with the mount matrix and the sign of its section in
                /etc/binnacle; the file states them, and a section with others refuses it. With --trace the samples come from recordings.

                Prints a verdict, with figures before and after. With -o the result is saved in a file that
                'calibration' names in a [sensor.NAME] of the configuration; a file may hold one of each kind, and keeps
                the others. One of the same kind is replaced when you agree, or with --force. An unusable result is refused with exit status 65, and nothing is written: too few
                directions, as after a flat spin; samples that fit no sphere or ellipsoid; a field that the Earth does
                not have; a side that was missing, or not held still; a device that was not still.

                With --noise the sensor lies still for a minute, or for --for, and its noise is kept beside the calibrations: the
                density that 'binnacle doctor --measure' finds on the noisiest axis. Where it is more than is assumed, it widens the
                accuracy of headings (magnetometer, gyroscope) and raises the noise floor of [vibration.NAME] (accelerometer).
                """,
            options: [
                OptionRow.output, .force, .noise, .model,
                .trace.meaning(help: "Take the samples from the recording FILE. May be repeated; files play together."),
            ] + OptionRow.ofTraces + [
                OptionRow.from, .to, .sensor, .config,
                .simulate.meaning(
                    help: "Calibrate a motion model, to try it: tumble turns as is asked, and its sensors have errors."),
                .for, .position, .field, .json, .root,
            ]),
        CommandRow(
            .declination, operands: "LAT LON",
            summary: "print the magnetic declination at a place",
            details: """
                LAT and LON are degrees north and east; south and west are below zero. Letters do as well: 54.32N 10.14E,
                or "54°19'N 10°8'E". Prints what the World Magnetic
                Model gives for the place: the declination (true heading = magnetic heading + declination) with its
                standard uncertainty, the dip, and the strength of the field. Near the magnetic poles, in the blackout
                zone, there is no declination.
                """,
            options: [.date, .altitude, .json]),
        CommandRow(
            .simulate, summary: "simulate sensor hardware for the kernel, from a recording or a motion model",
            details: """
                Creates devices that the kernel and every program see as hardware, through /dev/uhid and /dev/uinput: to
                try a configuration before the sensors arrive. They vanish when it ends: with Ctrl-C, after --for, a
                second after the last sample of a trace, or on command. Their readers use the kernel's own drivers,
                which for a hub are the modules hid-sensor-hub, hid-sensor-accel-3d, hid-sensor-magn-3d and
                hid-sensor-gyro-3d.

                Obeys commands on standard input, a line each, and reports each on standard output:
                  unplug         removes the devices; time goes on meanwhile
                  plug           brings them back
                  stall SECONDS  the devices neither send nor answer, and then deliver late what they measured
                  gap SECONDS    the samples of that time are left out
                  count          prints how many samples the kernel has taken
                  quit           ends

                Exits with 69 when the kernel has no such devices, and with 77 when you may not make any; both print a
                remedy.
                """,
            options: [
                OptionRow.model.meaning(
                    SimulationSettings.Model.allCases.map(\.rawValue).joined(separator: "|"),
                    help:
                        "Play a motion model: the device lies still, walks, turns, is shaken, tapped, dropped or tumbled, a screen or a washing machine."
                ),
                .rateHz, .gyroscope,
                .trace.meaning(
                    help: """
                        Play the recording FILE in real time, to its end, or repeatedly with --loop. May be repeated;
                        files play together.
                        """),
            ] + OptionRow.ofTraces + [
                OptionRow.sensor.meaning(
                    help: """
                        Only the sensor of that name, where a trace has several; without it, the first of each kind. May
                        be repeated.
                        """),
                .speed.meaning("X", help: "Play the trace X times as fast as recorded; 1 is the default."),
                .loop, .as, .bits, .time, .wait, .name,
                .for.meaning(help: "End after TIME, a number with ms, s, m or h, as in 10s."),
                .node,
            ]),
        CommandRow(
            .bench, summary: "measure the detection loops against the limits of this machine",
            details: """
                Measures, on one processor: how fast the machine reads memory at each level of its caches; every loop
                that detection is made of, in each form (scalar reference, baseline, and what the processor has
                besides), at each level and for several rates of events, as nanoseconds a sample and as a share of
                reading alone; the way of live samples from a pipe to a delegate; and whole recordings. Forms take
                turns, each is measured several times, and the median is printed with the spread. Before it is measured
                each form has to find what the reference finds. Says at the end whether the machine was too busy with
                other things for the figures to be trusted.

                Takes up to a few minutes and up to 1 GiB of memory; --quick takes 20 seconds. Exits with 70 when a form
                is wrong.
                """,
            options: [.quick, .kernel, .json]),
    ]
}
