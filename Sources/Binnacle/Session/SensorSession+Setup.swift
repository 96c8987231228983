extension SensorSession {
    /// What a session is made of: its source, the detectors, and what takes events.
    ///
    /// It is used on the session's thread, by the closure that configures the session.
    public final class Setup {
        /// Where the samples come from.
        public let source: any SampleSource

        package let router = Router()
        private(set) var detectors: [any Detector] = []
        /// Detectors hold their delegates weakly.
        private var delegates: [AnyObject] = []

        init(source: any SampleSource) {
            self.source = source
        }

        /// Makes events of what a detector tells it; the delegate of a detector that is given none.
        ///
        /// A delegate that wants both, calls and events, passes them on to this one.
        public var eventDelegate:
            any MotionManagerDelegate & NorthDetectorDelegate & OrientationDetectorDelegate & HingeDetectorDelegate
        { router }

        /// Looks for motion, shakes, free falls and shocks in the samples of an accelerometer.
        ///
        /// - Parameters:
        ///   - name: The name that events carry.
        ///   - sensor: The sensor's name; `nil` takes the first accelerometer. Without one the detector tells *device not
        ///     available*.
        ///   - gyroscope: The name of the sensor whose gyroscope is used where the settings need one; `nil` takes the gyroscope of
        ///     the accelerometer's sensor, or else the first.
        ///   - settings: What to look for.
        ///   - delegate: Told what is found, in the place of ``eventDelegate``, and held by the session.
        /// - Returns: The detector, which the session starts.
        /// - Throws: The first of the settings' problems.
        @discardableResult
        public func detectMotion(
            name: String = "motion", sensor: String? = nil, gyroscope: String? = nil,
            settings: MotionSettings = MotionSettings(), delegate: (any MotionManagerDelegate)? = nil
        ) throws(SettingsProblem<MotionSettings>) -> MotionManager {
            if let problem = settings.problems().first { throw problem }
            let accelerometer = stream(of: .accelerometer, from: sensor)
            let manager = MotionManager(
                name: name, accelerometer: accelerometer,
                gyroscope: settings.usesGyroscope ? stream(turning: accelerometer, from: gyroscope) : nil,
                settings: settings)
            manager.delegate = delegate ?? router
            add(manager, owning: delegate)
            return manager
        }

        /// Looks for headings in the samples of an accelerometer and a magnetometer.
        ///
        /// - Parameters:
        ///   - name: The name that events carry.
        ///   - accelerometer: The sensor's name; `nil` takes the first accelerometer.
        ///   - magnetometer: The sensor's name; `nil` takes the first magnetometer.
        ///   - gyroscope: The sensor's name; `nil` takes the gyroscope of the accelerometer's sensor, or else the first. The
        ///     detector does without where the source has none.
        ///   - settings: What to look for.
        ///   - delegate: Told what is found, in the place of ``eventDelegate``, and held by the session.
        /// - Returns: The detector, which the session starts.
        /// - Throws: The first of the settings' problems.
        @discardableResult
        public func detectNorth(
            name: String = "north", accelerometer: String? = nil, magnetometer: String? = nil,
            gyroscope: String? = nil, settings: NorthSettings = NorthSettings(),
            delegate: (any NorthDetectorDelegate)? = nil
        ) throws(SettingsProblem<NorthSettings>) -> NorthDetector {
            if let problem = settings.problems().first { throw problem }
            let accelerometer = stream(of: .accelerometer, from: accelerometer)
            let detector = NorthDetector(
                name: name, accelerometer: accelerometer,
                magnetometer: stream(of: .magnetometer, from: magnetometer),
                gyroscope: stream(turning: accelerometer, from: gyroscope), settings: settings)
            detector.delegate = delegate ?? router
            add(detector, owning: delegate)
            return detector
        }

        /// Looks for the upper edge and the lean of a screen in the samples of an accelerometer.
        ///
        /// - Parameters:
        ///   - name: The name that events carry.
        ///   - sensor: The sensor's name; `nil` takes the first accelerometer. Without one the detector tells *device not
        ///     available*.
        ///   - hinge: Knows how the device is set up, for ``OrientationSettings/postures``.
        ///   - settings: When an edge is taken for the upper one.
        ///   - delegate: Told what is found, in the place of ``eventDelegate``, and held by the session.
        /// - Returns: The detector, which the session starts.
        /// - Throws: The first of the settings' problems.
        @discardableResult
        public func detectOrientation(
            name: String = "orientation", sensor: String? = nil, hinge: HingeDetector? = nil,
            settings: OrientationSettings = OrientationSettings(),
            delegate: (any OrientationDetectorDelegate)? = nil
        ) throws(SettingsProblem<OrientationSettings>) -> OrientationDetector {
            if let problem = settings.problems().first { throw problem }
            let detector = OrientationDetector(
                name: name, accelerometer: stream(of: .accelerometer, from: sensor), hinge: hinge,
                settings: settings)
            detector.delegate = delegate ?? router
            add(detector, owning: delegate)
            return detector
        }

        /// Looks for the angle of a hinge in the samples of two accelerometers.
        ///
        /// - Parameters:
        ///   - name: The name that events carry.
        ///   - screen: The name of the sensor in the screen.
        ///   - base: The name of the sensor in the base.
        ///   - settings: When a laptop is taken for set up otherwise.
        ///   - delegate: Told what is found, in the place of ``eventDelegate``, and held by the session.
        /// - Returns: The detector, which the session starts.
        /// - Throws: The first of the settings' problems.
        @discardableResult
        public func detectHinge(
            name: String = "hinge", screen: String, base: String, settings: HingeSettings = HingeSettings(),
            delegate: (any HingeDetectorDelegate)? = nil
        ) throws(SettingsProblem<HingeSettings>) -> HingeDetector {
            if let problem = settings.problems().first { throw problem }
            let detector = HingeDetector(
                name: name, screen: stream(of: .accelerometer, from: screen),
                base: stream(of: .accelerometer, from: base), settings: settings)
            detector.delegate = delegate ?? router
            add(detector, owning: delegate)
            return detector
        }

        /// Adds a detector behind those that are there.
        ///
        /// - Parameters:
        ///   - detector: Started by the session.
        ///   - delegate: Its delegate, which it holds weakly and the session keeps for it.
        public func add(_ detector: any Detector, owning delegate: AnyObject? = nil) {
            detectors.append(detector)
            if let delegate { delegates.append(delegate) }
        }

        /// Has a closure called for each event, on the session's thread.
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

        /// Makes one of the decorators that the library has.
        public func decorator(_ settings: DecoratorSettings) -> EventDecorator {
            settings.makeDecorator(in: DecoratorSettings.Context(router))
        }

        /// The gyroscope of a sensor, or that beside an accelerometer, or else the first.
        private func stream(turning accelerometer: SampleStream?, from sensor: String?) -> SampleStream? {
            let near = sensor == nil ? accelerometer.flatMap { stream(of: .gyroscope, from: $0.sensor.name) } : nil
            return near ?? stream(of: .gyroscope, from: sensor)
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
