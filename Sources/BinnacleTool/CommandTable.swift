/// Every option there is, once: parsing and help are made from this table.
enum OptionName: String, CaseIterable {
    case bind, map, config, speed, batch, handlers, json
    case decodeScans = "decode-scans"
    case sensor, `for`, output, scans, force, guide, root
    case simulate, trace, loop
    case quick, kernel
    case kind, since, follow, after, once, socket, store
    case date, altitude
    case model, from, to, position, field
    case `as`, bits, time, gyroscope, wait, name, node
    case rateHz = "rate-hz"
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
        case .simulate: "MODEL"
        case .trace: "FILE"
        case .kernel: "NAME"
        case .kind: "KIND"
        case .since: "TIME"
        case .after: "SEQ"
        case .socket, .store: "PATH"
        case .date: "YYYY-MM-DD"
        case .altitude: "METRES"
        case .model: "sphere|ellipsoid"
        case .from, .to: "SECONDS"
        case .position: "LAT,LON"
        case .field: "MICROTESLA"
        case .as: "hub|evdev"
        case .bits: "16|32"
        case .time: "hub|kernel"
        case .rateHz: "HZ"
        case .name: "NAME"
        case .node: "PATH"
        case .decodeScans, .handlers, .json, .scans, .force, .guide, .loop, .quick, .follow, .once, .help, .version,
            .gyroscope, .wait:
            nil
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

    var isRepeatable: Bool { [.bind, .map, .sensor, .trace, .kernel, .kind].contains(self) }

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
        case .decodeScans:
            """
            Decode the samples again from the raw scans that record --scans has kept, instead of taking them as recorded.
            """
        case .json: "Write one JSON object a line instead of text."
        case .sensor:
            """
            Only the sensor of that name: the section's name where there is a configuration, else also a label, node or
            identity. May be repeated.
            """
        case .for: "Stop after TIME, a number with ms, s, m or h, as in 10s. Without it, Ctrl-C stops."
        case .output: "Write to FILE; - is standard output."
        case .scans:
            """
            Keep the raw scans of IIO devices, too, in a column 'scan' of an Arrow stream, so that they can be decoded again.
            """
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
        case .simulate:
            """
            Without a configuration: make samples up. MODEL is still, walk, shake, turn or drop. Every event says that it is
            simulated.
            """
        case .trace:
            """
            Without a configuration: take the samples from FILE; run plays it in real time. May be repeated; files play
            together.
            """
        case .loop: "Play the traces again and again."
        case .quick: "Measure less often and with less data: 20 seconds instead of minutes."
        case .kernel:
            """
            Only NAME: limits, k1 (threshold on columns), k2 (threshold on scans), k3 (facing a bearing), k4 (gravity
            filter), decode (scans into columns), live (pipe to delegate) or traces. May be repeated.
            """
        case .kind: "Only events of KIND, such as motion.began; any is all but repeated states. May be repeated."
        case .since:
            """
            Only events since TIME: a number with s, m, h or d before now, as in 10m, or a time in UTC, as in 2026-11-21 or
            2026-11-21T12:45.
            """
        case .follow: "Go on with the events that happen from now on, until Ctrl-C."
        case .after: "Begin behind the event with the number SEQ; 0 is the oldest that is kept. Without it, begin now."
        case .once: "End after the first event, with the exit status of COMMAND."
        case .socket:
            """
            Where the daemon listens. Without it that is /run/binnacle/binnacle.sock, or binnacle.sock in XDG_RUNTIME_DIR
            when there is only that.
            """
        case .store: "Read this store's file, and ask no daemon."
        case .date: "The day, in UTC. Without it, today."
        case .model: "Fit this, instead of what the samples allow; an ellipsoid that they do not allow is refused."
        case .from: "Leave out samples of the trace before this time, in the seconds that the trace has."
        case .to: "Leave out samples of the trace after this time, in the seconds that the trace has."
        case .position:
            """
            Where the device is, in degrees north and east: a field that is off the World Magnetic Model's by more than 15 % is
            refused.
            """
        case .field: "How strong the field is, in µT, where that is known: more than 15 % off is refused."
        case .as:
            """
            hub (the default): a HID sensor hub, whose sensors the kernel shows as IIO devices. evdev: an accelerometer
            among the input devices.
            """
        case .bits: "How wide a hub's axes are: 32 (the default) or 16."
        case .time:
            """
            hub (the default): samples carry the device's own time. kernel: their time is that of their arrival.
            """
        case .gyroscope: "The hub has a gyroscope, too."
        case .wait: "Begin with the first sample when the kernel wants one: when somebody reads a sensor of the hub."
        case .name: "What the kernel is to call the device."
        case .node: "The device file, where it is not /dev/uhid or /dev/uinput."
        case .rateHz: "How often the model is measured; 100 is the default."
        case .altitude: "Metres above the WGS 84 ellipsoid, -1000 to 850000. Without it, 0."
        case .help: "Print this help."
        case .version: "Print the version."
        }
    }
}

/// Every subcommand there is, once.
enum CommandName: String, CaseIterable {
    case run, replay, record, convert, devices, doctor, check, status, events, on, calibrate, declination, simulate,
        bench

    var operands: String {
        switch self {
        case .replay: "TRACE…"
        case .convert: "TRACE… -o FILE"
        case .run, .record, .devices, .doctor, .status, .events, .simulate, .bench: ""
        case .on: "KIND… [-- COMMAND…]"
        case .check: "[PATH…]"
        case .calibrate: "[magnetometer|accelerometer]"
        case .declination: "LAT LON"
        }
    }

    var summary: String {
        switch self {
        case .run: "watch the sensors and hand events to handlers, until it is ended"
        case .replay: "play recorded traces through the detectors and show the events"
        case .record: "record sensors into a trace that replay plays"
        case .convert: "write traces anew, in another format or as one"
        case .devices: "list the sensors of this machine"
        case .doctor: "say what would be used and why, or why not"
        case .check: "validate a configuration without running anything"
        case .status: "ask the running daemon how it is"
        case .events: "show the events that the daemon has kept"
        case .on: "run a command, as yourself, for each event of the daemon"
        case .calibrate: "find what a magnetometer or an accelerometer measures wrongly, and save it"
        case .declination: "say by how much magnetic north differs from true north at a place"
        case .simulate: "play sensors for the kernel, from a recording or a made-up movement"
        case .bench: "measure the detection loops against the limits of this machine"
        }
    }

    var details: String {
        switch self {
        case .run:
            """
            The daemon. Reads /etc/binnacle/binnacle.toml and /etc/binnacle/conf.d/*.toml, or what --config names: a file, or a
            folder with those names in it. Without any configuration it watches the sensors that it finds, with one motion
            detector and, where there is a magnetometer, one north detector, and logs what they find.

            SIGHUP reads the configuration anew: what has not changed runs on. SIGTERM and Ctrl-C end it within a second. Under
            systemd the log goes to the journal with its fields kept apart, else to standard error. Exits with 78 when the
            configuration is wrong, and without one with 69 when there is no sensor.
            """
        case .replay:
            """
            Traces are Arrow streams (.arrows), CSV files with a header, whose columns and units are recognised, or
            recordings of an accelerometer made with evemu-record. Without --config, one motion detector named motion looks
            at the first accelerometer, and one north detector named north at the first accelerometer and magnetometer.
            Events go to standard output, messages and the summary of a JSON replay to standard error.
            """
        case .record:
            """
            Writes an Arrow stream when FILE ends in .arrows, and else CSV with a column for each axis of each sensor. After
            a kill everything up to the last second is there. What happens to a sensor meanwhile (it was unplugged, samples were lost) is said on standard error. Exits with
            69 when there is nothing to record, and with 77 when nothing may be opened.
            """
        case .convert:
            """
            Reads what replay reads, and writes what record writes: an Arrow stream when FILE ends in .arrows, else CSV.
            Stamps and values stay exactly the same; several traces are merged by their stamps. What a replay would pass
            over is left out, and said on standard error.
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
        case .status:
            """
            Says how sensors, handlers, store and socket of the running daemon are. Exits with 0 when all is well, with 1 when
            something does not work, with 69 when no daemon answers, and with 77 when you may not ask.
            """
        case .events:
            """
            Asks the running daemon; where none answers, it reads the store's file, which root and its owner may. Events go to
            standard output, one a line; what was missed is said on standard error. Exits with 66 when there is neither, and
            with 77 when you may not ask.
            """
        case .on:
            """
            KIND is a kind of event, such as motion.began, or any for all but repeated states. COMMAND runs once for each
            event, one after the other, with your environment, directory, output and terminal. It gets the event as a line
            of JSON on its standard input and in variables such as BINNACLE_PEAK_G; {peak_g} in an argument stands for that
            figure, {{ and }} for braces. There is no shell: write sh -c where you want one. Without COMMAND the events are
            printed.

            A daemon that is away is waited for; events that happened meanwhile come afterwards, when the daemon has a
            store. With --once, exits with the status of COMMAND, and with 69 when no daemon answers. Exits with 77 when you
            may not ask it, and with 66 when there is no such COMMAND. Ctrl-C and SIGTERM reach COMMAND, too, and are waited
            for.
            """
        case .calibrate:
            """
            A magnetometer is turned slowly through all directions, while standard error says which are missing; it ends when
            there are enough, or with Ctrl-C. A sphere undoes magnets that turn with the sensor, an ellipsoid soft iron as
            well. An accelerometer is held still for a second with each of its six sides up. With --trace the samples come from
            recordings.

            Says in words what the result is worth, with figures before and after. With -o it is saved in a file that
            'calibration' names in a [sensor.NAME] of the configuration; a file may hold one of each kind, and keeps the other.
            What nobody should use is refused with exit status 65, and then nothing is written: too few directions, as after
            a flat spin; samples that fit no sphere or ellipsoid; a field that the Earth does not have; a side that was
            missing, or not held still.
            """
        case .declination:
            """
            LAT and LON are degrees north and east; south and west are below zero. Prints what the World Magnetic Model says of
            the place: the declination, which a magnetic heading needs added to become a true one, with its standard
            uncertainty; the dip; and the strength of the field. Near the magnetic poles, in the blackout zone, there is no
            declination to be had.
            """
        case .simulate:
            """
            Makes devices that the kernel, and so everybody, takes for hardware, through /dev/uhid and /dev/uinput: to try
            rules before the sensors arrive. They vanish when it ends: with Ctrl-C, after --for, a second after the last sample
            of a trace, or on command. Whoever reads them meets the kernel's own drivers, which for a hub are the modules
            hid-sensor-hub, hid-sensor-accel-3d, hid-sensor-magn-3d and hid-sensor-gyro-3d.

            Obeys commands on standard input, a line each, and says on standard output what was done:
              unplug         takes the devices away; time goes on meanwhile
              plug           brings them back
              stall SECONDS  the devices say and answer nothing, and then hand over late what they measured meanwhile
              gap SECONDS    the samples of that time are left out
              count          says how many samples the kernel has taken
              quit           ends

            Exits with 69 when the kernel has no such devices, and with 77 when you may not make any; both say what to do.
            """
        case .bench:
            """
            Measures, on one processor: how fast the machine reads memory at each level of its caches; every loop that detection
            is made of, in each form (scalar reference, baseline, and what the processor has besides), at each level and for
            several rates of events, as nanoseconds a sample and as a share of reading alone; the way of live samples from a
            pipe to a delegate; and whole recordings. Forms take turns, each is measured several times, and the median is
            printed with the spread. Before it is measured each form has to find what the reference finds. Says at the end
            whether the machine was too busy with other things for the figures to be trusted.

            Takes up to a few minutes and up to 1 GiB of memory; --quick takes 20 seconds. Exits with 70 when a form is wrong.
            """
        }
    }

    var options: [OptionName] {
        switch self {
        case .run: [.config, .simulate, .trace, .loop, .json, .root, .help]
        case .replay: [.bind, .map, .config, .speed, .batch, .decodeScans, .handlers, .json, .help]
        case .record: [.output, .for, .sensor, .config, .scans, .force, .root, .help]
        case .convert: [.output, .map, .force, .help]
        case .devices: [.json, .root, .help]
        case .doctor: [.guide, .sensor, .root, .help]
        case .check: [.help]
        case .status: [.json, .socket, .help]
        case .events: [.since, .kind, .sensor, .follow, .json, .socket, .store, .help]
        case .calibrate:
            [
                .output, .force, .model, .trace, .map, .from, .to, .sensor, .config, .for, .position, .field, .json,
                .root, .help,
            ]
        case .declination: [.date, .altitude, .json, .help]
        case .simulate:
            [
                .model, .rateHz, .gyroscope, .trace, .map, .sensor, .speed, .loop, .as, .bits, .time, .wait, .name,
                .for,
                .node, .help,
            ]
        case .bench: [.quick, .kernel, .json, .help]
        case .on: [.sensor, .after, .once, .json, .socket, .help]
        }
    }
}
