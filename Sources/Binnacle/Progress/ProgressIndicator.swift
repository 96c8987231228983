/// Shows how far a long operation has come, and lets a person cancel it.
///
/// The indicator is the delegating object: what it looks like is its view's business, what a cancellation means is
/// its delegate's, which is the operation.
package final class ProgressIndicator {
    /// Told when the indicator is shown, hidden and cancelled; held weakly.
    package weak var delegate: (any ProgressIndicatorDelegate)?
    /// Whether the indicator is on show.
    package private(set) var isShown = false
    /// Whether it was cancelled; stays so.
    package private(set) var isCancelled = false
    /// The progress, from 0 to 1; `nil` when it is not known.
    package private(set) var fraction: Double?

    /// Whether anybody can see it, so that it is worth an update.
    package var isVisible: Bool { view != nil }

    private let view: (any ProgressView)?

    package init(view: (any ProgressView)?) {
        self.view = view
    }

    /// Shows the indicator and tells the delegate; does nothing while it is shown.
    package func show() {
        guard !isShown else { return }
        isShown = true
        view?.draw(fraction: fraction)
        delegate?.progressIndicatorDidShow(self)
    }

    /// Stores the progress, from 0 to 1, `nil` when it is not known, and redraws while shown; `detail` is made only then.
    package func update(fraction: Double?, detail: () -> String = { "" }) {
        self.fraction = fraction.map { min(max($0, 0), 1) }
        guard isShown else { return }
        view?.describe(detail)
        view?.draw(fraction: self.fraction)
    }

    /// Hides the indicator and tells the delegate; does nothing while it is hidden.
    package func hide() {
        guard isShown else { return }
        isShown = false
        view?.clear()
        delegate?.progressIndicatorDidHide(self)
    }

    /// Cancels, once: hides the indicator, then tells the delegate, which ends the operation and keeps what was done.
    package func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        hide()
        delegate?.progressIndicatorDidCancel(self)
    }
}

/// What a ``ProgressIndicator`` is drawn on.
package protocol ProgressView: AnyObject {
    /// Draws the progress, from 0 to 1, or that it is not known.
    func draw(fraction: Double?)
    /// Sets what the next drawing says besides; without an implementation it says nothing.
    func describe(_ detail: () -> String)
    /// Removes what was drawn.
    func clear()
}

extension ProgressView {
    // A view has no room for words unless it says otherwise.
    package func describe(_ detail: () -> String) {}
}

/// What a ``ProgressIndicator`` tells its delegate; every method has an empty default.
package protocol ProgressIndicatorDelegate: AnyObject {
    /// Tells the delegate that the indicator is on show.
    func progressIndicatorDidShow(_ indicator: ProgressIndicator)
    /// Tells the delegate that the indicator is hidden.
    func progressIndicatorDidHide(_ indicator: ProgressIndicator)
    /// Tells the delegate that a person cancelled; called once, after the indicator was hidden.
    func progressIndicatorDidCancel(_ indicator: ProgressIndicator)
}

// A method that a conforming type leaves out does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension ProgressIndicatorDelegate {
    package func progressIndicatorDidShow(_ indicator: ProgressIndicator) {}
    package func progressIndicatorDidHide(_ indicator: ProgressIndicator) {}
    package func progressIndicatorDidCancel(_ indicator: ProgressIndicator) {}
}
