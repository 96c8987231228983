import Glibc

/// A program under measurement.
final class Program {
    let identifier: pid_t

    /// What it used, after it has ended.
    struct Usage {
        let status: Int32
        let seconds: Double
        let wakeUps: Int
        let residentKilobytes: Int
    }

    init(_ words: [String], output: String? = nil) {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        if let output { posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY, 0) }
        var identifier: pid_t = 0
        guard posix_spawn(&identifier, words[0], &actions, nil, arguments, environ) == 0 else { fail(words[0]) }
        self.identifier = identifier
    }

    /// Asks it to end, and waits.
    func end() -> Usage {
        kill(identifier, SIGINT)
        return wait()
    }

    func wait() -> Usage {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(identifier, &status, 0, &usage) < 0, errno == EINTR {}
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        return Usage(
            status: status, seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            wakeUps: Int(usage.ru_nvcsw), residentKilobytes: Int(usage.ru_maxrss))
    }

    /// A figure from /proc/PID/status, such as VmRSS.
    func figure(_ name: String) -> Int {
        guard let file = fopen("/proc/\(identifier)/status", "r") else { return -1 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = line.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            guard text.hasPrefix(name + ":") else { continue }
            return Int(text.dropFirst(name.count + 1).split { !$0.isNumber }.first ?? "") ?? -1
        }
        return -1
    }
}

func run(_ words: [String]) -> Int32 { Program(words).wait().status }
