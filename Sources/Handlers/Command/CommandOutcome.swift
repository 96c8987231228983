/// What became of a program.
struct CommandOutcome: Sendable, Equatable {
    /// How it ended.
    enum End: Sendable, Equatable {
        /// By itself, with an exit status.
        case exited(status: Int32)
        /// By a signal.
        case signalled(number: Int32)
        /// In a way that the kernel did not keep.
        case unknown
        /// Not at all, because it never began; the reason is the system's.
        case notStarted(reason: String)
    }

    /// Why it was not left to end by itself.
    enum Interruption: Sendable, Equatable {
        /// It took longer than it may.
        case timeout(Duration)
        /// Whoever runs it stops, for this reason.
        case stop(reason: String)
    }

    /// How it ended.
    var end: End
    /// Why it was made to end, when it was.
    var interruption: Interruption?
    /// From its start to its end.
    var durationNanoseconds: Int64 = 0
    /// The end of what it wrote, fit for a terminal; it begins with `…` when there was more.
    var output = ""
    /// How many bytes it wrote.
    var outputByteCount: Int64 = 0

    /// Whether it did what it should.
    var isSuccess: Bool { interruption == nil && end == .exited(status: 0) }

    /// Whether nobody knows what it would have done, had it been left to end by itself.
    var isCutShort: Bool {
        if case .stop = interruption { return true }
        return end == .unknown
    }

    /// What went wrong, in words.
    var reason: String {
        switch (interruption, end) {
        case (.timeout(let limit), _): "killed after \(limit)"
        case (.stop(let reason), _): "killed, because \(reason)"
        case (nil, .exited(let status)): "exit status \(status)"
        case (nil, .signalled(let number)): "ended by signal \(number)"
        case (nil, .unknown): "its end is not known"
        case (nil, .notStarted(let reason)): "cannot be run: \(reason)"
        }
    }
}
