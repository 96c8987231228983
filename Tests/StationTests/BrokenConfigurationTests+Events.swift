extension BrokenConfigurationTests {
    static let stores = [
        BrokenConfiguration(
            "store no table", "store = true\n",
            "DIR/t.toml:1:9: [store]: expected a table, found a boolean (a section begins with [store])"),
        BrokenConfiguration(
            "store with a name", "[store.main]\npath = \"x\"\n",
            "DIR/t.toml:1:8: unknown key `main` in [store] (one of `path`, `synchronous`, `keep_days`, `keep_events`, "
                + "`keep_mb`, `enabled`)"),
        BrokenConfiguration(
            "unknown store key", "[store]\nkeep_hours = 3\n",
            "DIR/t.toml:2:1: unknown key `keep_hours` in [store] (one of `path`, `synchronous`, `keep_days`, "
                + "`keep_events`, `keep_mb`, `enabled`)"),
        BrokenConfiguration(
            "synchronous off", "[store]\nsynchronous = \"off\"\n",
            "DIR/t.toml:2:15: `synchronous` cannot be `off` (one of `normal`, `full`)"),
        BrokenConfiguration("empty store path", "[store]\npath = \"\"\n", "DIR/t.toml:2:8: `path` is empty"),
        BrokenConfiguration(
            "kept no time", "[store]\nkeep_days = 0\n",
            "DIR/t.toml:2:1: keep_days (0.0) is not between 0.001 and 100000.0"),
        BrokenConfiguration(
            "kept no number", "[store]\nkeep_days = \"1d\"\n",
            "DIR/t.toml:2:13: `keep_days`: expected a number, found a string"),
        BrokenConfiguration(
            "no events", "[store]\nkeep_events = 0\n",
            "DIR/t.toml:2:1: keep_events (0) is not between 1 and 1000000000"),
        BrokenConfiguration(
            "no room", "[store]\nkeep_mb = 0.5\n",
            "DIR/t.toml:2:1: keep_mb (0.5) is not between 1.0 and 1000000.0"),
    ]

    static let sockets = [
        BrokenConfiguration(
            "socket no table", "socket = \"/run/x\"\n",
            "DIR/t.toml:1:10: [socket]: expected a table, found a string (a section begins with [socket])"),
        BrokenConfiguration(
            "unknown socket key", "[socket]\nuser = \"anna\"\n",
            "DIR/t.toml:2:1: unknown key `user` in [socket] (did you mean `users`?)"),
        BrokenConfiguration(
            "mode in decimal", "[socket]\nmode = 660\n",
            "DIR/t.toml:2:8: `mode`: expected a string, found an integer"),
        BrokenConfiguration(
            "mode with letters", "[socket]\nmode = \"rw\"\n",
            "DIR/t.toml:2:8: `mode` cannot be `rw` (four octal digits, such as \"0660\")"),
        BrokenConfiguration(
            "mode with a sticky bit", "[socket]\nmode = \"1777\"\n",
            "DIR/t.toml:2:8: `mode` cannot be `1777` (four octal digits, such as \"0660\")"),
        BrokenConfiguration(
            "long path", "[socket]\npath = \"/\(String(repeating: "x", count: 107))\"\n",
            "DIR/t.toml:2:1: path is longer than 107 bytes, the longest a socket can have"),
        BrokenConfiguration(
            "users no list", "[socket]\nusers = \"anna\"\n",
            "DIR/t.toml:2:9: `users`: expected an array of strings, found a string"),
        BrokenConfiguration(
            "groups of numbers", "[socket]\ngroups = [100]\n",
            "DIR/t.toml:2:11: `groups`: expected a string, found an integer"),
        BrokenConfiguration(
            "no connections", "[socket]\nconnections = 0\n",
            "DIR/t.toml:2:1: connections (0) is not between 1 and 1000"),
    ]
}
