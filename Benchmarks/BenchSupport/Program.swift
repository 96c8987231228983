package import Glibc
import LinuxSystem

/// A program under measurement.
package final class Program {
    package let identifier: pid_t

    /// What it used, after it has ended.
    package struct Usage {
        package let status: Int32
        package let seconds: Double
        package let wakeUps: Int
        package let residentKilobytes: Int
    }

    /// Starts a program, `words` with its path first; output and messages go to files, and nowhere without one.
    package init(_ words: [String], output: String? = nil, errors: String? = nil, environment: [String] = []) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output ?? "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, errors ?? "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let added: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
        defer { for variable in added { free(variable) } }
        var variables = added
        var place = environ
        while let variable = place.pointee {
            variables.append(variable)
            place += 1
        }
        variables.append(nil)
        var identifier: pid_t = 0
        guard posix_spawn(&identifier, words[0], &actions, nil, &arguments, &variables) == 0 else { fail(words[0]) }
        self.identifier = identifier
    }

    /// Asks it to end, and waits.
    package func end() -> Usage {
        kill(identifier, SIGTERM)
        return wait()
    }

    /// Waits for its end.
    @discardableResult
    package func wait() -> Usage {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(identifier, &status, 0, &usage) < 0, errno == EINTR {}
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        return Usage(
            status: status, seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            wakeUps: Int(usage.ru_nvcsw), residentKilobytes: Int(usage.ru_maxrss))
    }

    /// The processor time that it has used so far, in nanoseconds.
    package var processorNanoseconds: Int64 {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(identifier, &clock) == 0, clock_gettime(clock, &time) == 0 else { return -1 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// A figure from /proc/PID/status, such as VmRSS.
    package func figure(_ name: String) -> Int { Self.figure(name, of: "/proc/\(identifier)/status") }

    /// How often its threads have waited.
    package var wakeUpCount: Int {
        guard let folder = opendir("/proc/\(identifier)/task") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard Int(name) != nil else { continue }
            count += max(0, Self.figure("voluntary_ctxt_switches", of: "/proc/\(identifier)/task/\(name)/status"))
        }
        return count
    }

    private static func figure(_ name: String, of path: String) -> Int {
        let lines = (SmallFile.kernelText(path) ?? "").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(name + ":") }) else { return -1 }
        return Int(line.dropFirst(name.count + 1).split { !$0.isNumber }.first ?? "") ?? -1
    }
}
