package import Binnacle
package import TableReading

/// The action of a handler: the keys of its section, and its work.
///
/// To add an action, add a conforming type in a file of its own, and list it in ``HandlerActions``.
package protocol HandlerAction: Sendable, Equatable {
    /// The keys and their documentation.
    static var row: HandlerRow { get }
    /// An example of the first key, for messages.
    static var example: String { get }
    /// Whether it has effects outside this process.
    ///
    /// A replay omits such handlers unless they are requested. They never get the events about handlers, because a handler that
    /// fails would be run for its own failure.
    static var actsOnTheWorld: Bool { get }
    /// The kinds of event about one detector's heading; `nil` for an action whose section lists the kinds.
    ///
    /// The section lists no decorators either: one that delays `heading.lost` would keep the last heading in use.
    static var headingKinds: [EventKind]? { get }

    /// Reads the keys of a section, which has ``key`` at `entry`; `nil` when they are invalid, which is then reported.
    init?(reading table: TableReader, at entry: TOMLEntry)

    /// The same action with the detectors and events that its handler gets, for an action that depends on them.
    func told(of detectors: [HandledDetector], _ events: HandledEvents) -> Self

    func work(for name: String) -> HandlerWork

    /// Warnings, each a sentence.
    var notices: [String] { get }

    /// The warnings of a handler whose events pass these decorators first; by default ``notices``.
    func notices(behind decorators: [DecoratorSettings]) -> [String]

    /// Why a library that it needs cannot be loaded; `nil` if it can, or none is needed.
    var missingLibrary: String? { get }

    /// Resources that only one handler should use: the description of each, the key that names it, a text that identifies it
    /// among those of the description, and the remedy, by default another value of the key.
    var exclusivePlaces: [(words: String, key: String, name: String, hint: String?)] { get }

    var writtenFile: String? { get }
}

/// A detector that a handler listens to, and which of the handler's kinds it reports.
package struct HandledDetector: Sendable, Equatable {
    package let name: String
    /// The sensor of its events.
    package let sensor: String
    package let kinds: Set<EventKind>
    /// Whether no detector before it finds the same at the sensor.
    package let isFirst: Bool

    package init(name: String, sensor: String, kinds: Set<EventKind>, isFirst: Bool = true) {
        self.name = name
        self.sensor = sensor
        self.kinds = kinds
        self.isFirst = isFirst
    }
}

/// What a configuration changes for a handler when it applies.
package struct HandledChange: Sendable {
    package var detectors: [HandledDetector] = []
    /// The names of the detectors that run on with what they know.
    package var kept: Set<String> = []
    /// The names of sensors that there are no more.
    package var gone: Set<String> = []
    /// The names of sensors that begin again.
    package var renewed: Set<String> = []
    /// The handlers by name, and whether each gets events; empty for a handler that does not get these reports.
    package var handlers: [String: Bool] = [:]
    /// The number of the last event before the change.
    package var sequence: UInt64 = 0

    package init() {}
}

package struct HandledEvents: Sendable, Equatable {
    package let kinds: Set<EventKind>
    /// The names of the detectors; `nil` for all.
    package let detectors: Set<String>?
    /// The names of all handlers that can be disarmed.
    package let handlers: [String]
    /// The kinds of samples that the detectors use, where they are there.
    package var samples: Set<SampleKind> = []
    /// Whether the detectors know true north, because the place is known.
    package var hasTrueNorth = false

    package init(kinds: Set<EventKind>, detectors: Set<String>?, handlers: [String] = []) {
        self.kinds = kinds
        self.handlers = handlers
        self.detectors = detectors
    }

    /// Whether an event is among them.
    package func accepts(_ event: Event) -> Bool {
        kinds.contains(event.kind) && (detectors.map { event.detector.map($0.contains) ?? false } ?? true)
    }
}

/// The documentation of an action, and its keys.
package struct HandlerRow: Sendable {
    /// The name of its section in the reference file.
    package let shown: String
    /// The kinds of event in that section; `nil` when it names none.
    package let kinds: String?
    /// The description, as paragraphs.
    package let text: String
    package let key: Key
    package let further: [Key]

    package init(shown: String, kinds: String?, _ text: String, key: Key, further: [Key] = []) {
        self.shown = shown
        self.kinds = kinds
        self.text = text
        self.key = key
        self.further = further
    }
}

extension HandlerAction {
    /// The name of the key that chooses the action.
    package static var key: String { row.key.name }

    package static var furtherKeys: [String] { row.further.map(\.name) }

    package static var headingKinds: [EventKind]? { nil }
    package func told(of detectors: [HandledDetector], _ events: HandledEvents) -> Self { self }
    package var notices: [String] { [] }
    package func notices(behind decorators: [DecoratorSettings]) -> [String] { notices }
    package var exclusivePlaces: [(words: String, key: String, name: String, hint: String?)] { [] }
    package var missingLibrary: String? { nil }
    package var writtenFile: String? { nil }

    /// Whether another action has the same effect.
    package func isSame(as other: any HandlerAction) -> Bool { other as? Self == self }
}
