/// What a person asks of the daemon.
package struct RunOptions: Sendable {
    /// The file, or the folder with its drop-ins, that says what to do.
    package var configurationPath: String?
    /// What is done without a configuration.
    package var embedded: EmbeddedConfiguration?
    /// Whether events are written to standard output as well.
    package var writesJSON = false
    /// The folder under which `/sys` and `/dev` lie; the machine's own without one.
    package var root: String?

    package init() {}
}
