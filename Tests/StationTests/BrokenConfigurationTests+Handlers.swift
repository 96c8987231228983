extension BrokenConfigurationTests {
    static let handlers = [
        BrokenConfiguration(
            "nothing to do", handler,
            "DIR/t.toml:5:1: [handler.h] does nothing (give it log = true, stdout = true, command = "
                + "[\"/path/to/program\"], http = \"https://ntfy.example/alarms\", mqtt = \"mqtts://broker.example\", nmea = "
                + "\"udp://192.168.1.255\", signalk = \"udp://127.0.0.1:55557\" or file = \"/var/log/binnacle/events.jsonl\")"
        ),
        BrokenConfiguration(
            "a directory as a file", handler + "file = \"/dev\"\n",
            "DIR/t.toml:7:8: `/dev` is a directory (the path of a file in it, such as /dev/events.jsonl)"),
        BrokenConfiguration(
            "a device as a file", handler + "file = \"/dev/null\"\n",
            "DIR/t.toml:7:8: `/dev/null` is no regular file (events are appended to a regular file, or to a new one)"),
        BrokenConfiguration(
            "a link as a file", handler + "file = \"/proc/self/exe\"\n",
            "DIR/t.toml:7:8: `/proc/self/exe` is a symbolic link (it is not written through: name the file that it leads to)"
        ),
        BrokenConfiguration(
            "an empty path", handler + "file = \"\"\n", "DIR/t.toml:7:8: `file` is empty"),
        BrokenConfiguration(
            "a foreign key for a file", handler + "file = \"a.jsonl\"\nretries = 1\n",
            "DIR/t.toml:8:1: `retries` has no meaning for `file` (it is for `command` or `http`)"),
        BrokenConfiguration(
            "two things to do", handler + "log = true\nstdout = true\n",
            "DIR/t.toml:8:1: [handler.h] has both `log` and `stdout` (a handler does one thing; make two "
                + "handlers)"),
        BrokenConfiguration(
            "three things to do", handler + "stdout = true\ncommand = [\"/bin/true\"]\nlog = true\n",
            "DIR/t.toml:8:1: [handler.h] has both `stdout` and `command` (a handler does one thing; make two "
                + "handlers)",
            "DIR/t.toml:9:1: [handler.h] has both `stdout` and `log` (a handler does one thing; make two "
                + "handlers)"),
        BrokenConfiguration(
            "stdout false", handler + "stdout = false\n",
            "DIR/t.toml:7:10: `stdout` can only be true (leave it out otherwise)"),
        BrokenConfiguration(
            "stdout no boolean", handler + "stdout = 1\n",
            "DIR/t.toml:7:10: `stdout`: expected true or false, found an integer"),
        BrokenConfiguration(
            "unknown level", handler + "log = true\nlevels = { shake = \"loud\" }\n",
            "DIR/t.toml:8:20: `shake` cannot be `loud` (one of `emerg`, `alert`, `crit`, `err`, `warning`, "
                + "`notice`, `info`, `debug`)"),
        BrokenConfiguration(
            "misspelt level", handler + "log = true\nlevels = { shake = \"warn\" }\n",
            "DIR/t.toml:8:20: `shake` cannot be `warn` (did you mean `warning`?)"),
        BrokenConfiguration(
            "level of no kind", handler + "log = true\nlevels = { shakes = \"info\" }\n",
            "DIR/t.toml:8:12: `shakes` is no kind of event (did you mean `shake`?)"),
        BrokenConfiguration(
            "level no string", handler + "log = true\nlevels = { shake = 3 }\n",
            "DIR/t.toml:8:20: `shake`: expected a string, found an integer"),
        BrokenConfiguration(
            "levels no table", handler + "log = true\nlevels = \"info\"\n",
            "DIR/t.toml:8:10: `levels`: expected a table of levels, found a string"),
        BrokenConfiguration(
            "kind without quotes", handler + "log = true\nlevels = { motion.began = \"notice\" }\n",
            "DIR/t.toml:8:12: `motion` is no kind of event (quotes keep its name together, as in "
                + "\"motion.began\")"),
        BrokenConfiguration(
            "levels of a command", command + "levels = { shake = \"info\" }\n",
            "DIR/t.toml:8:1: `levels` has no meaning for `command` (it is for `log`)"),
        BrokenConfiguration(
            "time-out of a log", handler + "log = true\ntimeout_s = 3\n",
            "DIR/t.toml:8:1: `timeout_s` has no meaning for `log` (it is for `command` or `http`)"),
        BrokenConfiguration(
            "every event", moved + "[handler.h]\non = \"*\"\nlog = true\n",
            "DIR/t.toml:6:6: `on`: expected an array of strings, found a string"),
        BrokenConfiguration(
            "unknown event", moved + "[handler.h]\non = [\"command.fail\"]\nlog = true\n",
            "DIR/t.toml:6:7: `on` cannot be `command.fail` (did you mean `command.failed`?)"),
        BrokenConfiguration(
            "unknown handler key", handler + "log = true\nlevel = \"info\"\n",
            "DIR/t.toml:8:1: unknown key `level` in [handler.h] (did you mean `levels`?)"),
    ]

    static let commands = [
        BrokenConfiguration(
            "program not absolute", handler + "command = [\"alarm\"]\n",
            "DIR/t.toml:7:12: the program `alarm` has no folder, and none is searched (such as /usr/local/bin/alarm, or "
                + "./alarm beside this file)"),
        BrokenConfiguration(
            "misspelt placeholder", handler + "command = [\"/bin/true\", \"{wall_tim}\"]\n",
            "DIR/t.toml:7:25: unknown placeholder `{wall_tim}` (did you mean `wall_time`?; write `{{` and "
                + "`}}` for braces)"),
        BrokenConfiguration(
            "no time", command + "timeout_s = 0\n", "DIR/t.toml:8:1: timeout_s has to be longer than 0 s"),
        BrokenConfiguration(
            "negative patience", command + "kill_after_s = -1\n", "DIR/t.toml:8:1: kill_after_s (-1.0) is negative"),
        BrokenConfiguration(
            "none at a time", command + "concurrent = 0\n", "DIR/t.toml:8:1: concurrent (0) is not between 1 and 64"),
        BrokenConfiguration(
            "too many at a time", command + "concurrent = 65\n",
            "DIR/t.toml:8:1: concurrent (65) is not between 1 and 64"),
        BrokenConfiguration(
            "no queue", command + "queue = 0\n", "DIR/t.toml:8:1: queue (0) is not between 1 and 100000"),
        BrokenConfiguration(
            "half a retry", command + "retries = 0.5\n",
            "DIR/t.toml:8:11: `retries`: expected an integer, found a number"),
        BrokenConfiguration(
            "too many retries", command + "retries = 101\n", "DIR/t.toml:8:1: retries (101) is not between 0 and 100"),
        BrokenConfiguration(
            "long pause", command + "retries = 1\nretry_s = 61\n",
            "DIR/t.toml:9:1: retry_s is longer than 60 s, the longest pause there is"),
        BrokenConfiguration(
            "pause without retries", command + "retry_s = 5\n",
            "DIR/t.toml:8:1: retry_s has no effect without `retries` (such as retries = 3)"),
        BrokenConfiguration(
            "too much output", command + "output_bytes = 65537\n",
            "DIR/t.toml:8:1: output_bytes (65537) is not between 0 and 65536"),
        BrokenConfiguration(
            "environment no table", command + "environment = [\"A=1\"]\n",
            "DIR/t.toml:8:15: `environment`: expected a table of strings, found an array"),
        BrokenConfiguration(
            "variable with a dash", command + "environment = { A-B = \"1\" }\n",
            "DIR/t.toml:8:17: `A-B` cannot be a variable's name (letters, digits and _, not beginning with a "
                + "digit)"),
        BrokenConfiguration(
            "variable with a digit first", command + "environment = { 1A = \"1\" }\n",
            "DIR/t.toml:8:17: `1A` cannot be a variable's name (letters, digits and _, not beginning with a "
                + "digit)"),
        BrokenConfiguration(
            "variable without a name", command + "environment = { \"\" = \"1\" }\n",
            "DIR/t.toml:8:17: `` cannot be a variable's name (letters, digits and _, not beginning with a digit)"),
        BrokenConfiguration(
            "variable of the event", command + "environment = { BINNACLE_KIND = \"1\" }\n",
            "DIR/t.toml:8:17: `BINNACLE_KIND` is taken (variables that begin with BINNACLE_ describe the event)"),
        BrokenConfiguration(
            "variable no string", command + "environment = { A = 1 }\n",
            "DIR/t.toml:8:21: `A`: expected a string, found an integer"),
        BrokenConfiguration(
            "variable with NUL", command + "environment = { A = \"x\\u0000y\" }\n",
            "DIR/t.toml:8:21: `A` holds a NUL character"),
    ]

    /// Events about handlers, in `on` of a handler that could cause more of them.
    static let circles = ["command.finished", "command.failed", "events.dropped", "handler.failed"].map { kind in
        BrokenConfiguration(
            "\(kind) for a command",
            moved + "[handler.h]\non = [\"shake\", \"\(kind)\"]\ncommand = [\"/bin/true\"]\n",
            "DIR/t.toml:6:16: `\(kind)` reports on handlers, and cannot be for `command` (one that fails would be run for "
                + "its own failure; such events are for handlers with log = true or stdout = true)")
    }
}
