/// What a handler does with an event.
package enum HandlerAction: Sendable, Equatable {
    /// It writes the event to the log.
    case log
    /// It runs a program.
    case command(CommandTemplate)
}
