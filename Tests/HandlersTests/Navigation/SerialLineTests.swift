import Binnacle
import Foundation
import Handlers
import LinuxSystem
import TestSupport
import Testing

/// The other end of a serial line: a pseudo-terminal, and a name for it that stays when it is plugged in again.
private final class FakeLine {
    let path: String
    private let folder: TemporaryFolder
    private var master: Int32 = -1
    private(set) var text = ""

    init() throws {
        folder = try TemporaryFolder([:])
        path = folder.path + "/ttyUSB0"
        try plug()
    }

    deinit { unplug() }

    func plug() throws {
        // posix_openpt and its companions are not visible here; this is what they do.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        var (lock, number) = (Int32(0), Int32(0))
        try #require(master >= 0 && ioctl(master, 0x4004_5431, &lock) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/pts/\(number)")
    }

    func unplug() {
        if master >= 0 { close(master) }
        master = -1
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Waits for a text among what came since it was plugged in last.
    func wait(for wanted: String) throws {
        text = ""
        var bytes = [UInt8](repeating: 0, count: 65_536)
        try waitUntil("'\(wanted)'; so far \(text.suffix(200))") {
            let count = read(master, &bytes, bytes.count)
            if count > 0 { text += String(decoding: bytes[..<count], as: UTF8.self) }
            return text.contains(wanted)
        }
    }

    func say(_ text: String) { _ = write(master, text, text.utf8.count) }

    /// The settings of the line, which both ends share.
    var settings: termios {
        var settings = termios()
        tcgetattr(master, &settings)
        return settings
    }
}

/// Sentences on a serial line.
@Suite struct SerialLineTests {
    private func run(
        _ path: String, _ change: @escaping (inout NMEASettings, inout NavigationTimes) -> Void = { _, _ in }
    ) throws -> NavigationRun {
        try NavigationRun(.serial, host: path, port: 0, change: change)
    }

    @Test func sentencesComeAsTheyAre() throws {
        let line = try FakeLine()
        let run = try run(line.path) { settings, _ in settings.sending.baud = .b38400 }
        run.turn(to: 206.7)
        try line.wait(for: "$HCHDG,206.7,,,,*41\r\n$HCHDM,206.7,M*2A\r\n")
        let settings = line.settings
        #expect(
            settings.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8) && settings.c_cflag & tcflag_t(PARENB | CSTOPB) == 0)
        #expect(settings.c_oflag & tcflag_t(OPOST) == 0 && settings.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0)
        #expect(withUnsafePointer(to: settings, cfgetospeed) == speed_t(B38400))
        // What a plotter says is discarded.
        line.say("$ECRMB,A*00\r\n")
        run.turn(to: 10)
        try line.wait(for: "$HCHDM,10.0,M*18\r\n")
        #expect(run.end() && run.reports.all.isEmpty)
    }

    @Test func whoHasTheLineHasItAlone() throws {
        let line = try FakeLine()
        let first = try run(line.path)
        first.turn(to: 10)
        try line.wait(for: "$HCHDM,10.0,M*18\r\n")
        let second = try run(line.path)
        try waitUntil("a report") { !second.reasons.isEmpty }
        #expect(second.reasons == ["\(line.path): another program or handler has the line"])
        #expect(first.end())
        second.turn(to: 20)
        try line.wait(for: "$HCHDM,20.0,M*1B\r\n")
        try second.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
    }

    /// A program that has locked a line, and lets others open it.
    @Test func aLineThatIsRefusedStaysAsItWas() throws {
        let line = try FakeLine()
        let other = try Descriptor(path: line.path, flags: O_RDWR | O_NOCTTY | O_NONBLOCK)
        try #require(flock(other.raw, LOCK_EX | LOCK_NB) == 0)
        let run = try run(line.path)
        try waitUntil("a report") { !run.reasons.isEmpty }
        #expect(run.reasons == ["\(line.path): another program or handler has the line"])
        // TIOCGEXCL, which is not visible here.
        var isExclusive: Int32 = -1
        try #require(ioctl(other.raw, 0x8004_5440, &isExclusive) == 0)
        #expect(isExclusive == 0)
        #expect(run.end())
    }

    /// Also while nothing is to be sent.
    @Test(arguments: [true, false])
    func aLineThatIsUnpluggedIsToldAndComesBack(hasHeading: Bool) throws {
        let line = try FakeLine()
        let run = try run(line.path)
        run.turn(to: 10)
        try line.wait(for: "$HCHDM,10.0,M*18\r\n")
        if !hasHeading { run.handler.handle(event(kind: .headingLost)) }
        line.unplug()
        try waitUntil("two reports; so far \(run.reasons)") { run.reasons.count >= 2 }
        #expect(
            run.reasons == [
                "\(line.path): the line is gone",
                "\(line.path): there is no such device: it is not plugged in, or has another name",
            ])
        try line.plug()
        run.turn(to: 20)
        try line.wait(for: "$HCHDM,20.0,M*1B\r\n")
        try run.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
    }

    @Test func whatIsNoLineIsSaid() throws {
        let folder = try TemporaryFolder(["file": ""])
        for path in ["/dev/null", folder.path + "/file", folder.path] {
            let run = try run(path)
            try waitUntil("a report") { !run.reasons.isEmpty }
            #expect(run.reasons == ["\(path): it is no serial line"])
            #expect(run.end())
        }
    }

    /// The headings of a line that takes nothing are left out, and neither the event thread nor the end waits for it.
    @Test func aLineThatTakesNothingDelaysNothing() throws {
        let line = try FakeLine()
        let run = try run(line.path) { settings, _ in settings.sending.interval = .milliseconds(1) }
        run.turn(to: 10)
        try waitUntil("sentences that are left out") { run.statistics.skippedCount > 10 }
        run.turn(to: 20)
        // No sentence is cut where the line was full.
        try line.wait(for: "$HCHDM,20.0,M*1B\r\n")
        let whole = /(\$HCHD[GM],\d+\.\d,[M,]*\*[0-9A-F]{2}\r\n)+/
        #expect(
            line.text.prefix(through: line.text.lastIndex(of: "\r\n") ?? line.text.startIndex).wholeMatch(of: whole)
                != nil)
        #expect(run.end() && run.reports.all.isEmpty)
    }
}
