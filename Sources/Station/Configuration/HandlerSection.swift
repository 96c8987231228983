package import Binnacle

/// `[handler.NAME]`: what is done with which events.
package struct HandlerSection: Sendable, Equatable {
    /// The handler's name.
    package let name: String
    /// Where the section begins.
    package let position: SourcePosition
    /// The kinds of event it is for, each once; not empty.
    package let kinds: [EventKind]
    /// The detectors it is for, each once; `nil` is every detector.
    package let detectors: [String]?
    /// What it does.
    package let action: HandlerAction
    /// What stands between the events and the action; the first sees an event first.
    package let decorators: [DecoratorSettings]

    /// Creates a section.
    package init(
        name: String, position: SourcePosition, kinds: [EventKind], detectors: [String]?, action: HandlerAction,
        decorators: [DecoratorSettings]
    ) {
        self.name = name
        self.position = position
        self.kinds = kinds
        self.detectors = detectors
        self.action = action
        self.decorators = decorators
    }
}
