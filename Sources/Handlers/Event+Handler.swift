package import Binnacle

extension Event {
    package init(handlerFailed name: String, because reason: String) {
        self.init(
            kind: .handlerFailed, timeNanoseconds: 0,
            figures: [Figure(.handler, .text(name)), Figure(.reason, .text(reason))])
    }

    package init(handlerRecovered name: String) {
        self.init(kind: .handlerRecovered, timeNanoseconds: 0, figures: [Figure(.handler, .text(name))])
    }

    /// Reports that a handler gets events, or gets none.
    package init(handler name: String, isArmed: Bool) {
        self.init(
            kind: isArmed ? .handlerArmed : .handlerDisarmed, timeNanoseconds: 0,
            figures: [Figure(.handler, .text(name))])
    }
}
