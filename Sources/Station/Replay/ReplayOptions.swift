/// What a person asks of a replay.
package struct ReplayOptions {
    /// How fast recorded time passes.
    package enum Speed: Equatable, Sendable {
        /// As fast as the machine goes.
        case maximum
        /// So many times real time.
        case times(Double)
    }

    /// What is played; without any, the recordings that the configuration names.
    package var traces = TraceSet()
    package var configurationPath: String?
    package var speed = Speed.maximum
    /// The most samples of one stream that are asked for at once; `nil` chooses by the speed.
    package var batch: Int?
    /// Whether handlers that act on the world run.
    package var runsHandlers = false
    package var writesJSON = false

    package init() {}
}
