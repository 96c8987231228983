package import Binnacle
package import Traces

/// What a person asks of a replay.
package struct ReplayOptions {
    /// How fast recorded time passes.
    package enum Speed: Equatable, Sendable {
        /// As fast as the machine goes.
        case maximum
        /// So many times real time.
        case times(Double)
    }

    /// One `--bind SENSOR=FILE[:kind]`.
    package struct Binding: Equatable, Sendable {
        package let sensor: String
        package let path: String
        package let kind: SampleKind?

        package init(sensor: String, path: String, kind: SampleKind?) {
            self.sensor = sensor
            self.path = path
            self.kind = kind
        }
    }

    /// The files, in the order given.
    package var paths: [String] = []
    /// Which file plays which sensor; the rest finds its sensors by kind.
    package var bindings: [Binding] = []
    package var map: ColumnMap?
    package var configurationPath: String?
    package var speed = Speed.maximum
    /// The most samples of one stream that are asked for at once; `nil` chooses by the speed.
    package var batch: Int?
    /// Whether handlers that act on the world run.
    package var runsHandlers = false
    package var writesJSON = false
    /// Whether samples are decoded again from raw scans that were recorded beside them.
    package var decodesScans = false

    package init() {}
}
