/// Shows how far a long operation has come, and lets a person cancel it.
///
/// The indicator is the delegating object: what it looks like is its view's business, what a cancellation means is
/// its delegate's, which is the operation.
public final class ProgressIndicator {
    /// Told when the indicator is shown, hidden and cancelled; held weakly.
    public weak var delegate: (any ProgressIndicatorDelegate)?
    /// Whether the indicator is on show.
    public private(set) var isShown = false
    /// Whether somebody cancelled; stays so.
    public private(set) var isCancelled = false
    /// How far it has come, from 0 to 1; `nil` when nobody knows.
    public private(set) var fraction: Double?

    private let view: any ProgressView

    /// Creates a hidden indicator.
    public init(view: any ProgressView) {
        self.view = view
    }

    /// Shows the indicator and tells the delegate; does nothing while it is shown.
    public func show() {
        guard !isShown else { return }
        isShown = true
        view.draw(fraction: fraction)
        delegate?.progressIndicatorDidShow(self)
    }

    /// Takes note of how far the operation has come, and redraws while shown.
    public func update(fraction: Double?) {
        self.fraction = fraction.map { min(max($0, 0), 1) }
        if isShown { view.draw(fraction: self.fraction) }
    }

    /// Hides the indicator and tells the delegate; does nothing while it is hidden.
    public func hide() {
        guard isShown else { return }
        isShown = false
        view.clear()
        delegate?.progressIndicatorDidHide(self)
    }

    /// Cancels, once: hides the indicator, then tells the delegate, which ends the operation and keeps what was done.
    public func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        hide()
        delegate?.progressIndicatorDidCancel(self)
    }
}

/// What a ``ProgressIndicator`` is drawn on.
public protocol ProgressView: AnyObject {
    /// Draws how far it has come, from 0 to 1, or that nobody knows.
    func draw(fraction: Double?)
    /// Removes what was drawn.
    func clear()
}

/// What a ``ProgressIndicator`` tells its delegate; every method has an empty default.
public protocol ProgressIndicatorDelegate: AnyObject {
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
    public func progressIndicatorDidShow(_ indicator: ProgressIndicator) {}
    public func progressIndicatorDidHide(_ indicator: ProgressIndicator) {}
    public func progressIndicatorDidCancel(_ indicator: ProgressIndicator) {}
}
