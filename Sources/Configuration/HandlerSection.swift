package import Binnacle
package import Handlers

/// `[handler.NAME]`: what is done with which events.
package struct HandlerSection: Sendable {
    /// The handler's name.
    package let name: String
    /// The kinds of event it is for, each once; not empty.
    package let kinds: [EventKind]
    /// The detectors it is for, each once; `nil` is every detector.
    package let detectors: [String]?
    /// What it does.
    package let action: any HandlerAction
    /// What stands between the events and the action; the first sees an event first.
    package let decorators: [DecoratorSettings]

    /// Creates a section.
    package init(
        name: String, kinds: [EventKind], detectors: [String]?, action: any HandlerAction,
        decorators: [DecoratorSettings]
    ) {
        self.name = name
        self.kinds = kinds
        self.detectors = detectors
        self.action = action
        self.decorators = decorators
    }
}

extension HandlerSection: Equatable {
    /// Whether both say the same, wherever they stand.
    package static func == (left: HandlerSection, right: HandlerSection) -> Bool {
        left.name == right.name && left.kinds == right.kinds && left.detectors == right.detectors
            && left.action.isSame(as: right.action) && left.decorators == right.decorators
    }
}
