package import Binnacle
package import LinuxSystem

/// Where a handler runs, as far as that differs between a replay and a live run.
package struct HandlerContext {
    /// The handler's name.
    package let name: String
    /// Where log handlers write, and others say what went wrong.
    package let log: LineWriter
    /// Standard output; `nil` where it is taken, as in a replay, which writes every event to it.
    package let output: LineWriter?
    /// The journal, when it takes what is logged.
    package let journal: JournalSocket?
    /// Called before something slow is done about an event, so that what was written about it can be seen by then.
    package let willRun: () -> Void
    /// Asked while something slow is done; `true` gives it up.
    package let isCancelled: () -> Bool
    /// Takes the events that tell of the handler itself, on any thread.
    package let report: @Sendable (Event) -> Void

    /// Creates a context.
    package init(
        name: String, log: LineWriter, output: LineWriter? = nil, journal: JournalSocket? = nil,
        willRun: @escaping () -> Void = {},
        isCancelled: @escaping () -> Bool = { false }, report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.name = name
        self.log = log
        self.output = output
        self.journal = journal
        self.willRun = willRun
        self.isCancelled = isCancelled
        self.report = report
    }
}
