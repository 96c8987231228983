import Glibc
import Handlers
import LinuxSystem
import Pictures
import PlainText

/// Draws frames on the whole terminal, and restores it at the end, also after a kill.
final class TerminalScreen {
    private let style: TerminalStyle
    /// The original settings; `nil` if standard input is not a terminal.
    private var before: termios?
    private var guardian: TerminalGuardian?
    private var isEntered = false

    /// The alternate screen without a cursor.
    private static let begin = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J"
    private static let end = "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

    /// The screen of standard output; `nil` if that is not a terminal, or one without cursor control.
    static func ofStandardOutput() -> TerminalScreen? {
        guard isatty(STDOUT_FILENO) != 0, let kind = variable("TERM"), kind != "dumb" else { return nil }
        var style = TerminalStyle()
        style.hasColour = variable("NO_COLOR") == nil
        let locale = variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? ""
        style.isUnicode = ["UTF-8", "utf8", "UTF8", "utf-8"].contains(where: locale.contains)
        return TerminalScreen(style)
    }

    private init(_ style: TerminalStyle) {
        self.style = style
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Switches to the alternate screen and unbuffered keys.
    func enter() throws(SystemError) {
        var settings = termios()
        if isatty(STDIN_FILENO) != 0, tcgetattr(STDIN_FILENO, &settings) == 0 { before = settings }
        guardian = TerminalGuardian()
        resume()
    }

    /// Switches to the alternate screen again after a stop.
    func resume() {
        if var settings = before {
            // Ctrl-C and Ctrl-Z remain signals.
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
        put(Self.begin)
        isEntered = true
    }

    /// Restores the terminal.
    func leave() {
        guard isEntered else { return }
        isEntered = false
        put(Self.end)
        if var settings = before { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
    }

    deinit {
        leave()
        guardian?.dismiss()
    }

    /// Draws a frame with one write; `false` if the terminal is gone.
    func draw(_ state: WatchState) -> Bool {
        let size = Terminal.size(of: STDOUT_FILENO) ?? (80, 24)
        let frame = WatchFrame(state, columns: size.columns, rows: size.rows, style: style)
        // Lines are overwritten and their rest erased, which does not flicker.
        return put("\u{1B}[H" + frame.lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[J")
    }

    /// Waits for keys or a readable descriptor; `nil` if the terminal is gone.
    func wait(_ descriptor: Int32, timeoutMilliseconds timeout: Int32) -> [UInt8]? {
        var entries = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: before == nil ? -1 : STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        ]
        guard waitOnce(for: &entries, milliseconds: timeout), entries[1].revents != 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        do throws(SystemError) {
            let count = try systemCallOnce("read") { read(STDIN_FILENO, &bytes, bytes.count) }
            return count == 0 ? nil : Array(bytes[..<(count ?? 0)])
        } catch {
            return nil
        }
    }

    @discardableResult
    private func put(_ text: String) -> Bool {
        do throws(SystemError) {
            try writeAll(Array(text.utf8), to: STDOUT_FILENO)
            return true
        } catch {
            return false
        }
    }
}

/// A process that restores the terminal if this one is killed, which it notices at a pipe.
private final class TerminalGuardian {
    private let program: HeldProgram

    /// If a shell has set its own modes for line editing by then, they stay: only ours have icrnl.
    private static let script = """
        trap '' INT QUIT TERM HUP TSTP TTIN TTOU
        exec 3>&1 2>/dev/null
        read -r word && exit
        sleep 0.2
        case $(stty -a <&3) in
        *-icrnl*) ;;
        *-icanon*) stty icanon echo <&3 ;;
        esac
        printf '\\033[0m\\033[?25h\\033[?1049l'
        """

    /// Starts the process; without a shell the terminal is not restored after a kill.
    init?() {
        guard let program = try? HeldProgram(["sh", "-c", Self.script]) else { return nil }
        self.program = program
    }

    func dismiss() { program.send("end\n") }
}
