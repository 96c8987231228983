import Binnacle
import Glibc
import Station

private final class NoProgressView: ProgressView {
    func draw(fraction: Double?) {}
    func clear() {}
    var isVisible: Bool { false }
}

extension ProgressIndicator {
    /// A progress bar on standard error if that is a terminal.
    static func onTerminal(_ label: String, isWanted: Bool = true) -> ProgressIndicator {
        let isShown = isWanted && isatty(STDERR_FILENO) != 0
        return ProgressIndicator(
            view: isShown ? TerminalProgressView(descriptor: STDERR_FILENO, label: label) : NoProgressView())
    }
}
