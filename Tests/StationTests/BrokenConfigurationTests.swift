import Testing

/// Every message to the letter: where it is, what is wrong, and what would be right.
@Suite struct BrokenConfigurationTests {
    @Test(
        arguments: sensors + simulations + recordings + detectors + handlers + commands + circles + dropIns + brokers
            + topics + logins + stores + sockets + plotters + headings)
    func isAnsweredToTheLetter(_ broken: BrokenConfiguration) throws {
        let said = try broken.said()
        #expect(said == broken.messages)
    }

    @Test func noneIsThereTwice() {
        let all =
            Self.sensors + Self.simulations + Self.recordings + Self.detectors + Self.handlers + Self.commands
            + Self.circles + Self.dropIns + Self.brokers + Self.topics + Self.logins + Self.stores + Self.sockets
            + Self.plotters + Self.headings
        #expect(all.count >= 40)
        #expect(Set(all.map(\.files)).count == all.count)
        #expect(Set(all.map(\.name)).count == all.count)
    }

    static let box = "[sensor.box]\nsource = \"auto\"\n"
    static let moved = box + "[motion.moved]\naccelerometer = \"box\"\n"
    static let handler = moved + "[handler.h]\non = [\"shake\"]\n"
    static let command = handler + "command = [\"/bin/true\"]\n"

    static let sensors = [
        BrokenConfiguration(
            "unknown section", "[sensors.box]\nsource = \"auto\"\n",
            "DIR/t.toml:1:2: unknown table or key `sensors` (did you mean `sensor`?)"),
        BrokenConfiguration(
            "unknown source", "[sensor.box]\nsource = \"automatic\"\n",
            "DIR/t.toml:2:10: `source` cannot be `automatic` (did you mean `auto`?)"),
        BrokenConfiguration(
            "no source", "[sensor.box]\nmatch = { name = \"x\" }\n",
            "DIR/t.toml:1:1: [sensor.box] has no `source` (one of `auto`, `iio`, `evdev`, `trace`, `simulated`)"),
        BrokenConfiguration(
            "iio without match", "[sensor.box]\nsource = \"iio\"\n",
            "DIR/t.toml:1:1: [sensor.box] has no `match` (it says which device is meant, such as match = { "
                + "name = \"accel_3d\" })"),
        BrokenConfiguration(
            "auto with nothing to match", box + "match = {}\n",
            "DIR/t.toml:3:9: `match` is empty: any device would do (name at least one key)"),
        BrokenConfiguration(
            "auto with a recording", box + "file = \"day.csv\"\n",
            "DIR/t.toml:3:1: `file` has no meaning for source = \"auto\" (it is for `trace`)"),
        BrokenConfiguration(
            "auto with a loop", box + "loop = true\n",
            "DIR/t.toml:3:1: `loop` has no meaning for source = \"auto\" (it is for `trace`)"),
        BrokenConfiguration(
            "auto with a model", box + "model = \"walk\"\n",
            "DIR/t.toml:3:1: `model` has no meaning for source = \"auto\" (it is for `simulated`)"),
        BrokenConfiguration(
            "auto too slow", box + "rate_hz = 1\n", "DIR/t.toml:3:1: rate_hz (1.0) is not between 2 and 100000"),
        BrokenConfiguration(
            "evdev with a trigger", "[sensor.box]\nsource = \"evdev\"\nmatch = { name = \"x\" }\ntrigger = \"t\"\n",
            "DIR/t.toml:4:1: `trigger` has no meaning for source = \"evdev\" (it is for `auto` and `iio`)"),
        BrokenConfiguration(
            "unknown sensor key", box + "rate = 100\n",
            "DIR/t.toml:3:1: unknown key `rate` in [sensor.box] (did you mean `rate_hz`?)"),
    ]

    static let simulated = "[sensor.box]\nsource = \"simulated\"\n"

    static let simulations = [
        BrokenConfiguration(
            "unknown model", simulated + "model = \"run\"\n",
            "DIR/t.toml:3:9: `model` cannot be `run` (one of `still`, `walk`, `shake`, `tap`, `turn`, `drop`, `wash`, `screen`, `tumble`)"
        ),
        BrokenConfiguration(
            "model no string", simulated + "model = 3\n", "DIR/t.toml:3:9: `model`: expected a string, found an integer"
        ),
        BrokenConfiguration(
            "negative seed", simulated + "seed = -1\n",
            "DIR/t.toml:3:1: seed (-1) is not between 0 and 9223372036854775807"),
        BrokenConfiguration(
            "seed no integer", simulated + "seed = 1.5\n", "DIR/t.toml:3:8: `seed`: expected an integer, found a number"
        ),
        BrokenConfiguration(
            "rate beyond bounds", simulated + "rate_hz = 1e6\n",
            "DIR/t.toml:3:1: rate_hz (1000000.0) is not between 2 and 100000"),
        BrokenConfiguration(
            "simulated with a match", simulated + "match = { name = \"x\" }\n",
            "DIR/t.toml:3:1: `match` has no meaning for source = \"simulated\" (it is for `auto`, `iio` and "
                + "`evdev`)"),
        BrokenConfiguration(
            "simulated with polling", simulated + "polling = true\n",
            "DIR/t.toml:3:1: `polling` has no meaning for source = \"simulated\" (it is for `auto` and `iio`)"),
    ]

    static let recordings = [
        BrokenConfiguration(
            "no recording", "[sensor.box]\nsource = \"trace\"\n",
            "DIR/t.toml:1:1: [sensor.box] has no `file` (it names the recording)"),
        BrokenConfiguration(
            "loop no boolean", "[sensor.box]\nsource = \"trace\"\nfile = \"a.csv\"\nloop = \"yes\"\n",
            "DIR/t.toml:4:8: `loop`: expected true or false, found a string"),
        BrokenConfiguration(
            "one loops",
            "[sensor.a]\nsource = \"trace\"\nfile = \"a.csv\"\n[sensor.b]\nsource = \"trace\"\nfile = \"b.csv\"\nloop = true\n",
            "DIR/t.toml:7:1: `loop` is true in [sensor.b] and false in [sensor.a] (all recordings play on "
                + "one timeline: set it in every section or in none)"),
        BrokenConfiguration(
            "the other loops",
            "[sensor.a]\nsource = \"trace\"\nfile = \"a.csv\"\nloop = true\n[sensor.b]\nsource = \"trace\"\nfile = \"b.csv\"\n",
            "DIR/t.toml:5:1: `loop` is false in [sensor.b] and true in [sensor.a] (all recordings play on "
                + "one timeline: set it in every section or in none)"),
        BrokenConfiguration(
            "recording with a rate", "[sensor.box]\nsource = \"trace\"\nfile = \"a.csv\"\nrate_hz = 10\n",
            "DIR/t.toml:4:1: `rate_hz` has no meaning for source = \"trace\" (it is for `auto`, `iio` and "
                + "`simulated`)"),
    ]

    static let detectors = [
        BrokenConfiguration(
            "no such sensor", box + "[motion.m]\naccelerometer = \"bxo\"\n",
            "DIR/t.toml:4:17: no sensor `bxo` (did you mean `box`?)"),
        BrokenConfiguration(
            "release above threshold", moved + "threshold_g = 0.1\nrelease_g = 0.2\n",
            "DIR/t.toml:6:1: release_g (0.2) is above threshold_g (0.1)"),
        BrokenConfiguration(
            "wrong type", moved + "quiet_s = \"1\"\n", "DIR/t.toml:5:11: `quiet_s`: expected a number, found a string"),
        BrokenConfiguration(
            "bearing", box + "[north.n]\naccelerometer = \"box\"\nmagnetometer = \"box\"\nbearing_deg = -90\n",
            "DIR/t.toml:6:1: bearing_deg (-90.0) has to be from 0 up to but not including 360"),
    ]

    static let tuned = moved + "threshold_g = 0.1\nrelease_g = 0.08\n"

    static let dropIns = [
        BrokenConfiguration(
            "a fault in a drop-in", main: moved, dropIn: "\n[motion.moved]\nquiet_s = -1\n",
            "DIR/conf.d/50.toml:3:1: quiet_s (-1.0) is negative"),
        BrokenConfiguration(
            "a fault in the file", main: moved + "quiet_s = -1\n", dropIn: "",
            "DIR/binnacle.toml:5:1: quiet_s (-1.0) is negative"),
        BrokenConfiguration(
            "a fault in both", main: moved + "quiet_s = -1\n", dropIn: "[sensor.box]\nseed = 1\n",
            "DIR/binnacle.toml:5:1: quiet_s (-1.0) is negative",
            "DIR/conf.d/50.toml:2:1: `seed` has no meaning for source = \"auto\" (it is for `simulated`)"),
        BrokenConfiguration(
            "an override that is too low", main: tuned, dropIn: "[motion.moved]\nthreshold_g = 0.05\n",
            "DIR/conf.d/50.toml:2:1: release_g (0.08) is above threshold_g (0.05) (`release_g` is at "
                + "DIR/binnacle.toml:6)"),
        BrokenConfiguration(
            "an override of a default", main: box + "[north.n]\naccelerometer = \"box\"\nmagnetometer = \"box\"\n",
            dropIn: "[north.n]\nheading_axis = \"-z\"\n",
            "DIR/conf.d/50.toml:2:1: upright_axis lies along heading_axis (-z): both would be vertical at once"),
        BrokenConfiguration(
            "another source", main: box + "match = { name = \"x\" }\n",
            dropIn: "[sensor.box]\nsource = \"simulated\"\n",
            "DIR/conf.d/50.toml:2:1: `match` has no meaning for source = \"simulated\" (it is for `auto`, "
                + "`iio` and `evdev`; `match` is at DIR/binnacle.toml:3)"),
        BrokenConfiguration(
            "a source that needs more", main: box, dropIn: "[sensor.box]\nsource = \"iio\"\n",
            "DIR/conf.d/50.toml:2:1: [sensor.box] has no `match` (it says which device is meant, such as "
                + "match = { name = \"accel_3d\" })"),
        BrokenConfiguration(
            "a second action", main: handler + "log = true\n", dropIn: "[handler.h]\ncommand = [\"/bin/true\"]\n",
            "DIR/conf.d/50.toml:2:1: [handler.h] has both `log` and `command` (a handler does one thing; "
                + "make two handlers; `log` is at DIR/binnacle.toml:7)"),
        BrokenConfiguration(
            "an action for reports", main: moved + "[handler.h]\non = [\"handler.failed\"]\n",
            dropIn: "[handler.h]\ncommand = [\"/bin/true\"]\n",
            "DIR/conf.d/50.toml:2:1: `handler.failed` reports on handlers, and cannot be for `command` (one "
                + "that fails would be run for its own failure; such events are for handlers with log = true or "
                + "stdout = true; `on` is at DIR/binnacle.toml:6)"),
        BrokenConfiguration(
            "http to another machine", main: handler, dropIn: "[handler.h]\nhttp = \"http://ntfy.example/x\"\n",
            "DIR/conf.d/50.toml:2:8: http:// sends the events to `ntfy.example` for every machine on the way to read "
                + "(https:// encrypts them; `plain_http = true` allows it in a network that you trust)"),
        BrokenConfiguration(
            "a host that begins like this machine", main: handler,
            dropIn: "[handler.h]\nhttp = \"http://127.0.0.1.example/x\"\n",
            "DIR/conf.d/50.toml:2:8: http:// sends the events to `127.0.0.1.example` for every machine on the way to read "
                + "(https:// encrypts them; `plain_http = true` allows it in a network that you trust)"),
        BrokenConfiguration(
            "a secret that there is none of", main: handler,
            dropIn: "[handler.h]\nhttp = \"https://ha.example/api/webhook/{secret}\"\n",
            "DIR/conf.d/50.toml:2:8: `http` has {secret}, and there is none (password_file or password_credential names it)"
        ),
        BrokenConfiguration(
            "a login in a header", main: handler,
            dropIn: "[handler.h]\nhttp = \"https://[::1]:1\"\nheaders = { authorization = \"x\" }\n",
            "DIR/conf.d/50.toml:3:13: the header `authorization` is not for a configuration (a login is said with `user`, "
                + "and `password_file` or `password_credential`)"),
        BrokenConfiguration(
            "two bodies", main: handler,
            dropIn: "[handler.h]\nhttp = \"https://a.example\"\npayload = \"x\"\njson = { a = 1 }\n",
            "DIR/conf.d/50.toml:4:1: [handler.h] has both `payload` and `json` (a request has one body)"),
        BrokenConfiguration(
            "a duration without an end", main: moved + "[handler.h]\non = [\"shake\"]\nlog = true\n",
            dropIn: "[handler.h]\ndecorate = [{ min_duration = { for_s = 1 } }]\n",
            "DIR/conf.d/50.toml:2:1: `min_duration` has no effect on these kinds of event (it is for the begin of what "
                + "ends, such as \"motion.began\" in `on`)"),
        BrokenConfiguration(
            "an action without a key's meaning", main: handler + "timeout_s = 3\n", dropIn: "[handler.h]\nlog = true\n",
            "DIR/conf.d/50.toml:2:1: `timeout_s` has no meaning for `log` (it is for `command` or `http`; `timeout_s` "
                + "is at DIR/binnacle.toml:7)"),
        BrokenConfiguration(
            "a loop of one",
            main:
                "[sensor.a]\nsource = \"trace\"\nfile = \"a.csv\"\n[sensor.b]\nsource = \"trace\"\nfile = \"b.csv\"\n",
            dropIn: "[sensor.a]\nloop = true\n",
            "DIR/conf.d/50.toml:2:1: `loop` is true in [sensor.a] and false in [sensor.b] (all recordings "
                + "play on one timeline: set it in every section or in none)"),
        BrokenConfiguration(
            "a name taken", main: moved,
            dropIn: "[north.moved]\naccelerometer = \"box\"\nmagnetometer = \"box\"\n",
            "DIR/conf.d/50.toml:1:8: two detectors are named `moved` (the other one is at DIR/binnacle.toml:3)"),
        BrokenConfiguration(
            "a section that is none", main: moved, dropIn: "motion.moved = 3\n",
            "DIR/conf.d/50.toml:1:16: [motion.moved]: expected a table, found an integer (a section begins "
                + "with [motion.NAME])"),
        BrokenConfiguration(
            "a kind of section that is none", main: moved, dropIn: "sensor = []\n",
            "DIR/conf.d/50.toml:1:10: `sensor`: expected tables such as [sensor.NAME], found an array"),
        BrokenConfiguration(
            "a reference to nothing", main: moved, dropIn: "[motion.moved]\naccelerometer = \"bix\"\n",
            "DIR/conf.d/50.toml:2:17: no sensor `bix` (did you mean `box`?)"),
    ]
}
