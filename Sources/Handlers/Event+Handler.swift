package import Binnacle

extension Event {
    /// The report of a handler that does not work.
    package init(handlerFailed name: String, because reason: String) {
        self.init(
            kind: .handlerFailed, timeNanoseconds: 0,
            figures: [Figure(.handler, .text(name)), Figure(.reason, .text(reason))])
    }

    /// The report of a handler that works again.
    package init(handlerRecovered name: String) {
        self.init(kind: .handlerRecovered, timeNanoseconds: 0, figures: [Figure(.handler, .text(name))])
    }
}
