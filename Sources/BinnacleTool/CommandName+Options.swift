/// What an option means to one command when that is not what it means to the others.
extension CommandName {
    /// What stands for an option's argument.
    func argument(of option: OptionName) -> String? {
        switch (self, option) {
        case (.simulate, .model): "still|walk|shake|turn|drop"
        case (.simulate, .speed): "X"
        default: option.argument
        }
    }

    /// What an option does.
    func help(for option: OptionName) -> String {
        switch (self, option) {
        case (.simulate, .model): "Measure a made-up movement: lies still, walks, is shaken, turns, or is dropped."
        case (.simulate, .trace):
            """
            Measure what FILE has recorded, in real time, to its end or with --loop again and again. May be repeated;
            files play together.
            """
        case (.simulate, .speed): "Play the trace X times as fast as recorded; 1 is the default."
        case (.simulate, .sensor):
            """
            Only the sensor of that name, where a trace has several; without it, the first of each kind. May be repeated.
            """
        case (.simulate, .for): "End after TIME, a number with ms, s, m or h, as in 10s."
        default: option.help
        }
    }
}
