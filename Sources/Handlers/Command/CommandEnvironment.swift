package import Binnacle
import Glibc

/// The variables that a command gets: few of our own, those of its configuration, and what its event says.
///
/// Nothing else is handed on. What a service manager tells this process (`NOTIFY_SOCKET`, `WATCHDOG_USEC`, `LISTEN_FDS`,
/// `CREDENTIALS_DIRECTORY`, `INVOCATION_ID`, `JOURNAL_STREAM`) is about this process, and a command that believed it
/// would speak in its name.
package struct CommandEnvironment: Sendable, Equatable {
    /// The variables of our own that a command gets when they are set.
    package static let inheritedNames = [
        "PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "STATE_DIRECTORY", "RUNTIME_DIRECTORY",
    ]
    /// Where programs are looked for when we do not know: systemd's own default.
    package static let defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    /// The longest value of a variable that tells of the event.
    ///
    /// A longer one is left out, and is on the standard input alone: the kernel starts no program with a variable of
    /// 128 KiB.
    package static let longestValue = 4096

    private let common: [String: String]

    /// Creates the part that is the same for each event.
    ///
    /// - Parameters:
    ///   - own: What is inherited from, by name.
    ///   - further: The variables of the configuration, which go before those inherited.
    package init(inheriting own: (String) -> String? = Self.ownValue, further: [String: String] = [:]) {
        var common = ["PATH": Self.defaultPath]
        for name in Self.inheritedNames { common[name] = own(name) ?? common[name] }
        common.merge(further) { $1 }
        self.common = common
    }

    /// The variables for an event, each as `NAME=value`, in the order of their names.
    ///
    /// Those of the event go before all others. There is none for what the event does not have.
    package func variables(for event: Event) -> [String] {
        var variables = common
        for (name, value) in EventVariables.all(of: event) where value.utf8.count <= Self.longestValue {
            variables[name] = value
        }
        return variables.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// A variable of this process.
    package static func ownValue(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
