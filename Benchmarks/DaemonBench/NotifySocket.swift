import BenchSupport
import Glibc
import LinuxSystem

/// The service manager's side of sd_notify(3).
final class NotifySocket {
    let path: String
    private let descriptor: Int32

    init(_ path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard UnixAddress(path: path)?.withPointer({ bind(descriptor, $0, $1) }) == 0 else { fail(path) }
    }

    deinit {
        close(descriptor)
    }

    /// Waits until the program says that it is ready; one that does not is no measurement.
    func waitForReady() {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while poll(&ready, 1, 10_000) > 0 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0, String(decoding: buffer[..<count], as: UTF8.self) == "READY=1" { return }
        }
        fail("waiting for READY=1")
    }
}
