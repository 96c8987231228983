import Binnacle
import Glibc
import Station

extension ProgressIndicator {
    /// A progress bar on standard error if that is a terminal.
    static func onTerminal(_ label: String, isWanted: Bool = true) -> ProgressIndicator {
        let isShown = isWanted && isatty(STDERR_FILENO) != 0
        return ProgressIndicator(
            view: isShown ? TerminalProgressView(descriptor: STDERR_FILENO, label: label) : nil)
    }
}
