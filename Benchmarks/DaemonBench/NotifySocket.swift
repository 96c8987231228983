import BenchSupport
import Glibc

/// The service manager's side of sd_notify(3).
final class NotifySocket {
    let path: String
    private let descriptor: Int32

    init(_ path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { fail(path) }
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
