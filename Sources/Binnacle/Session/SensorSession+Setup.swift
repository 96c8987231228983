extension SensorSession {
    /// What a session is made of: its source, the detectors, and what takes events.
    ///
    /// It is used on the session's thread, by the closure that configures the session.
    public final class Setup {
        /// Where the samples come from.
        package let source: any SampleSource

        package let router = Router()
        package private(set) var detectors: [any DrivenDetector] = []
        /// Detectors hold their delegates weakly.
        private var delegates: [AnyObject] = []
        private var takesNotice: [(String) -> Void] = []
        /// Whether the session's thread may wait for a reader.
        var mayWait: () -> Bool = { false }

        package init(source: any SampleSource) {
            self.source = source
        }

        /// Adds a detector behind those that are there.
        ///
        /// - Parameters:
        ///   - detector: Started by the session.
        ///   - delegate: Its delegate, which it holds weakly and the session keeps for it.
        public func add(_ detector: any SampleDetector, owning delegate: AnyObject? = nil) {
            add(driven: OwnDetector(detector), owning: delegate)
        }

        private func add(driven detector: any DrivenDetector, owning delegate: AnyObject?) {
            detectors.append(detector)
            if let delegate { delegates.append(delegate) }
        }

        /// Adds a detector, which makes events when it has no delegate.
        ///
        /// - Throws: That another one has its name, by which decorators and readers of events tell detectors apart.
        package func add<Added: EventDetector>(_ detector: Added, owning delegate: AnyObject? = nil) throws -> Added {
            guard !detectors.contains(where: { $0 is any EventDetector && $0.name == detector.name }) else {
                throw SetupProblem(
                    "two detectors are named '\(detector.name)', so that their events would not be told apart: give one of them "
                        + "another `name`")
            }
            detector.report(to: router)
            add(driven: detector, owning: delegate)
            return detector
        }

        /// Calls a closure for each event, on the session's thread.
        ///
        /// - Parameters:
        ///   - kinds: The kinds that are wanted; `nil` is all but those that repeat an ongoing state.
        ///   - decorators: What stands before the closure; the first is the first that an event meets.
        ///   - body: Called in the order of the samples. What takes long belongs to another thread.
        public func onEvent(
            of kinds: Set<EventKind>? = nil, decorators: [EventDecorator] = [], _ body: @escaping (Event) -> Void
        ) {
            let chain = HandlerChain(handler: ClosureHandler(body), kinds: kinds)
            for decorator in decorators { chain.append(decorator) }
            router.add(chain)
        }

        /// Calls a closure with what the source leaves out, assumes, or reads in another way than requested, on the session's thread.
        ///
        /// - Parameter body: Called with each notice once: a sentence for the user, with the file and the line, or the device.
        public func onNotice(_ body: @escaping (String) -> Void) { takesNotice.append(body) }

        /// Calls these closures with the notices of a source that has any.
        func tellNotices() {
            guard !takesNotice.isEmpty, let source = source as? any NoticingSource else { return }
            for notice in source.takeNotices() {
                for take in takesNotice { take(notice) }
            }
        }

        /// Makes one of the decorators that the library has.
        ///
        /// - Parameter settings: Which one. A time is longer than 0 s, a number of events from 1 to 1000000, and a minute of the day
        ///   from 0 to 1439; quiet hours begin and end at different minutes.
        /// - Returns: The decorator, for one handler.
        /// - Throws: What of this the settings are not.
        public func decorator(_ settings: DecoratorSettings) throws -> EventDecorator {
            try settings.check()
            return settings.makeDecorator(in: DecoratorSettings.Context(router, isNow: true))
        }

        /// The gyroscope of a sensor, or that beside an accelerometer, or else the first.
        package func stream(turning accelerometer: SampleStream?, named sensor: String?) throws -> SampleStream? {
            let near = sensor == nil ? accelerometer.flatMap { stream(of: .gyroscope, from: $0.sensor.name) } : nil
            return try near ?? stream(of: .gyroscope, named: sensor)
        }

        /// The stream of the sensor that the caller names, or else the first.
        ///
        /// A source has its streams also while their devices are absent, so a name that it does not have is a mistake.
        package func stream(of kind: SampleKind, named sensor: String?) throws -> SampleStream? {
            let found = stream(of: kind, from: sensor)
            if sensor != nil, found == nil {
                throw missing(kind, sensor, among: source.streams.filter { $0.kind == kind })
            }
            return found
        }

        /// The stream of the sensor that the caller names, or else the first; the source may not lack it.
        func requiredStream(of kind: SampleKind, named sensor: String?) throws -> SampleStream {
            if let found = try stream(of: kind, named: sensor) { return found }
            throw missing(kind, nil, among: source.streams)
        }

        private func missing(_ kind: SampleKind, _ sensor: String?, among streams: [SampleStream]) -> SetupProblem {
            let names = streams.map { "'\($0.sensor.name)'" }.joined(separator: ", ")
            let wanted = sensor.map { " '\($0)'" } ?? ""
            return SetupProblem(
                "there is no \(kind.rawValue)\(wanted): the source has \(names.isEmpty ? "none" : names)")
        }

        /// The first stream of a kind, in the source's order.
        ///
        /// - Parameters:
        ///   - kind: What it measures.
        ///   - sensor: The name of its sensor; `nil` takes any.
        /// - Returns: The stream; `nil` when there is none.
        public func stream(of kind: SampleKind, from sensor: String? = nil) -> SampleStream? {
            source.streams.first { $0.kind == kind && (sensor == nil || $0.sensor.name == sensor) }
        }
    }
}

/// What a session, a detector or a decorator cannot be made of, as one sentence.
package struct SetupProblem: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A stream that a source has twice.
package struct RepeatedStream: Error, CustomStringConvertible {
    package let sensor: String
    package let kind: SampleKind

    /// The first one among the streams of a source; `nil` when each is there once.
    package init?(_ streams: [SampleStream]) {
        var known: Set<StreamID> = []
        guard let stream = streams.first(where: { !known.insert($0.id).inserted }) else { return nil }
        (sensor, kind) = (stream.sensor.name, stream.kind)
    }

    package var description: String { "the source has the \(kind.rawValue) of sensor '\(sensor)' twice" }
}
