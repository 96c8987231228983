import Glibc
import LinuxSystem

/// The bits a second of a serial line; the raw value is how the configuration and manuals say them.
package enum Baud: Int64, Sendable, CaseIterable {
    /// NMEA 0183.
    case b4800 = 4800
    case b9600 = 9600
    case b19200 = 19200
    /// NMEA 0183-HS.
    case b38400 = 38400
    case b57600 = 57600
    case b115200 = 115_200

    /// The number for termios.
    fileprivate var speed: speed_t {
        switch self {
        case .b4800: speed_t(B4800)
        case .b9600: speed_t(B9600)
        case .b19200: speed_t(B19200)
        case .b38400: speed_t(B38400)
        case .b57600: speed_t(B57600)
        case .b115200: speed_t(B115200)
        }
    }
}

/// Writes messages to a serial line: 8 data bits, no parity, 1 stop bit, no flow control.
///
/// The line is opened for this process alone. Nothing waits for it: while it is busy with earlier messages, new ones are left out and
/// counted, so that no old heading is sent.
final class SerialLine: NavigationTransport {
    private static let token: UInt64 = 0
    private let path: String
    private let line: Descriptor
    private let state: NavigationState
    /// What the driver has not accepted of the last messages.
    private var rest: ArraySlice<UInt8> = []
    private var hangUp: SystemError?
    private(set) var isProven = false

    init(_ settings: NavigationSettings, epoll: Epoll, state: NavigationState) throws(NavigationFailure) {
        path = settings.host
        self.state = state
        line = try mapError({ NavigationFailure(serial: settings.host, $0) }) { () throws(SystemError) in
            let line = try Self.open(settings.host, settings.baud)
            try epoll.add(line.raw, token: Self.token)
            return line
        }
    }

    private static func open(_ path: String, _ baud: Baud) throws(SystemError) -> Descriptor {
        // O_NONBLOCK: without it, opening would wait for the carrier of a modem.
        let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
        let line = Descriptor(owning: try systemCall("open", path: path) { Glibc.open(path, flags) })
        var settings = termios()
        try systemCall("tcgetattr", path: path) { tcgetattr(line.raw, &settings) }
        // For programs that may do everything, which the exclusive mode below does not keep out.
        try systemCall("flock", path: path) { flock(line.raw, LOCK_EX | LOCK_NB) }
        cfmakeraw(&settings)
        settings.c_cflag &= ~tcflag_t(CSIZE | PARENB | CSTOPB) & ~(tcflag_t(1) << 31)
        settings.c_cflag |= tcflag_t(CS8 | CREAD | CLOCAL)
        cfsetospeed(&settings, baud.speed)
        cfsetispeed(&settings, baud.speed)
        try systemCall("tcsetattr", path: path) { tcsetattr(line.raw, TCSANOW, &settings) }
        // Last: the mode stays with a line that another program has open when this attempt fails.
        try systemCall("ioctl", path: path) { ioctl(line.raw, UInt(TIOCEXCL)) }
        return line
    }

    func send(_ messages: [[UInt8]], at now: Int64) throws(NavigationFailure) {
        var waiting: Int32 = 0
        try flush()
        let raw = line.raw
        if rest.isEmpty {
            _ = try call { () throws(SystemError) in try systemCall("ioctl") { ioctl(raw, UInt(TIOCOUTQ), &waiting) } }
        }
        guard rest.isEmpty, waiting == 0 else { return state.update { $0.skippedCount += messages.count } }
        rest = ArraySlice(messages.joined())
        try flush()
        isProven = true
        state.update { $0.sentCount += messages.count }
    }

    /// Writes what the driver accepts of ``rest``.
    private func flush() throws(NavigationFailure) {
        let raw = line.raw
        while !rest.isEmpty {
            let count = try call { () throws(SystemError) in
                try systemCallOnce("write") { rest.withUnsafeBytes { write(raw, $0.baseAddress, $0.count) } }
            }
            guard let count, count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private func call<Value>(_ body: () throws(SystemError) -> Value) throws(NavigationFailure) -> Value {
        try mapError({ NavigationFailure(serial: path, $0) }, body)
    }

    /// Discards what the other end says, and finds out that the line is gone.
    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let raw = line.raw
        do throws(SystemError) {
            let count = try systemCall("read") { read(raw, &bytes, bytes.count) }
            if count == 0 || isHungUp { hangUp = SystemError(code: EIO, call: "read") }
        } catch {
            if isHungUp || error.code != EAGAIN { hangUp = error }
        }
    }

    func advance(to now: Int64) throws(NavigationFailure) {
        if let hangUp { throw NavigationFailure(serial: path, hangUp) }
    }
}

extension NavigationFailure {
    fileprivate init(serial path: String, _ error: SystemError) {
        let words =
            switch error.code {
            case ENOENT: "there is no such device: it is not plugged in, or has another name"
            case ENOTTY, EINVAL, ESPIPE, EISDIR: "it is no serial line"
            case EBUSY, EAGAIN: "another program or handler has the line"
            case EACCES: "\(error.reason): serial lines belong to a group, such as dialout"
            case EPERM: "\(error.reason): the service's unit has to allow the device"
            case EIO, ENXIO, ENODEV: "the line is gone"
            default: error.reason
            }
        // The handler's predecessor may still have it.
        self.init(reason: "\(path): \(words)", isPortTaken: error.code == EBUSY || error.code == EAGAIN)
    }
}
