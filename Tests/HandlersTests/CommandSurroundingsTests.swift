import Binnacle
import Foundation
import Handlers
import TestSupport
import Testing

extension CommandTests {
    /// What a program finds when it starts.
    struct CommandSurroundingsTests {
        private let reports = Reports()

        private func output(_ lines: String, _ arguments: [String] = [], _ event: Event = event()) throws -> String? {
            let handler = reports.shell(lines, arguments, settings { $0.outputLimit = 65_536 })
            handler.handle(event)
            return try reports.waitForEnds(1).first?.text(.output)
        }

        @Test func itInheritsNoDescriptor() throws {
            // Descriptors that were opened without O_CLOEXEC.
            let forgotten = (0..<10).map { _ in open("/dev/null", O_RDONLY) }
            defer { for descriptor in forgotten { close(descriptor) } }
            // The fourth is the one that ls reads the folder with.
            #expect(try output("exec ls /proc/self/fd") == "0\\u{a}1\\u{a}2\\u{a}3")
        }

        @Test func itStandsInTheRoot() throws {
            #expect(try output("pwd") == "/")
        }

        @Test func itHasASessionOfItsOwnAndNoTerminal() throws {
            let output = try output(
                "read -r pid name state parent group session tty rest < /proc/self/stat; echo $pid $group $session $tty"
            )
            let numbers = try #require(output).split(separator: " ")
            #expect(numbers.count == 4)
            #expect(Set(numbers.prefix(3)).count == 1)
            #expect(numbers.last == "0")
        }

        @Test func itsSignalsAreAsEverybodyExpects() throws {
            for signal in [SIGPIPE, SIGUSR1, SIGHUP] { Foundation.signal(signal, SIG_IGN) }
            defer { for signal in [SIGUSR1, SIGHUP] { Foundation.signal(signal, SIG_DFL) } }
            let text = try output("grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f 2 | tr '\\n' ' '")
            let masks = try #require(text).split(separator: " ").compactMap { UInt64($0, radix: 16) }
            // 32 and 33 are the C library's own, which it sets for no caller and hands on as it found them.
            #expect(masks.map { $0 & ~(0b11 << 31) } == [0, 0])
        }

        @Test func itsEnvironmentIsTheDocumentedOne() throws {
            let event = event([Figure(.peak, .number(1.5, decimals: 3))])
            let further = ["GREETING": "hello; $(reboot) \"'", "PATH": "/usr/bin:/bin"]
            let handler = reports.handler(
                "/usr/bin/env", [],
                settings {
                    $0.environment = further
                    $0.outputLimit = 65_536
                })
            handler.handle(event)
            let output = try reports.waitForEnds(1).first?.text(.output)
            let expected = CommandEnvironment(further: further).variables(for: event)
            #expect(expected.contains("BINNACLE_PEAK_G=1.500"))
            #expect(output == expected.joined(separator: "\\u{a}"))
        }

        @Test func argumentsArriveAsTheyAre() throws {
            let file = try TemporaryFile()
            let arguments = [
                "plain", "", " ", "a \"quoted\" 'word'", "two\nlines", "$(reboot)", "`reboot`", "; reboot", "-rf", "*",
                "~",
                "\\", "${PATH}", "%s%n", "ä😀",
            ]
            _ = try output("file=$1; shift; printf '%s\\0' \"$@\" > \"$file\"", [file.path] + arguments + ["a\0b"])
            let arrived = try file.text().split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
            #expect(arrived == arguments + ["a\u{FFFD}b", ""])
        }

        @Test func aReportIsAboutTheWorldOfItsEvent() throws {
            var simulated = event(3)
            simulated.isSimulated = true
            var live = event(4)
            live.wallNanoseconds = 1
            let handler = reports.handler("/bin/true")
            handler.handle(simulated)
            handler.handle(live)
            let ends = try reports.waitForEnds(2)
            #expect(ends.map(\.isSimulated) == [true, false])
            #expect(ends.map { $0.wallNanoseconds != nil } == [false, true])
            #expect(
                ends.map { $0.figures.map(\.name) }
                    == [[.handler, .program, .trigger, .status, .duration, .attempt]].flatMap { [$0, $0] })
            #expect(ends[0].text(.handler) == "alarm")
        }
    }
}

private func event(_ figures: [Figure]) -> Event { event(1, figures) }
