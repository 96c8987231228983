import Binnacle
import Handlers
import Testing

struct CommandEnvironmentTests {
    @Test func littleIsInherited() {
        let own = [
            "PATH": "/bin", "HOME": "/root", "LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC", "USER": "binnacle",
            "LOGNAME": "binnacle", "STATE_DIRECTORY": "/var/lib/binnacle", "RUNTIME_DIRECTORY": "/run/binnacle",
            "NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1", "LISTEN_FDS": "1", "LISTEN_PID": "1",
            "CREDENTIALS_DIRECTORY": "/run/x", "INVOCATION_ID": "1", "JOURNAL_STREAM": "1:2", "LD_PRELOAD": "/x.so",
            "SHELL": "/bin/sh", "BASH_ENV": "/x", "IFS": "x",
        ]
        let environment = CommandEnvironment(inheriting: { own[$0] })
        let inherited = environment.variables(for: event()).filter { !$0.hasPrefix("BINNACLE_") }
        #expect(
            inherited == [
                "HOME=/root", "LANG=C.UTF-8", "LC_ALL=C", "LOGNAME=binnacle", "PATH=/bin",
                "RUNTIME_DIRECTORY=/run/binnacle", "STATE_DIRECTORY=/var/lib/binnacle", "TZ=UTC", "USER=binnacle",
            ])
    }

    @Test func theEventSpeaksLastAndInUpperCase() {
        var event = Event(
            kind: .heading, detector: "bow", sensor: "compass", sequence: 7, timeNanoseconds: -5,
            figures: [
                Figure(.heading, .number(12.345, decimals: 1)), Figure(.field, .number(48, decimals: 1)),
                Figure(.axis, .text("+y")), Figure(.onset, .integer(3)),
            ])
        event.wallNanoseconds = 0
        event.isSimulated = true
        let further = ["PATH": "/opt/bin", "BINNACLE_SEQ": "1", "BINNACLE_PEAK_G": "9"]
        #expect(
            CommandEnvironment(inheriting: { _ in nil }, further: further).variables(for: event) == [
                "BINNACLE_AXIS=+y", "BINNACLE_DETECTOR=bow", "BINNACLE_FIELD_UT=48.0", "BINNACLE_HEADING_DEG=12.3",
                "BINNACLE_KIND=heading", "BINNACLE_ONSET_NS=3", "BINNACLE_PEAK_G=9", "BINNACLE_SENSOR=compass",
                "BINNACLE_SEQ=7", "BINNACLE_SIMULATED=1", "BINNACLE_TIME_NS=-5",
                "BINNACLE_WALL_TIME=1970-01-01T00:00:00.000000Z", "PATH=/opt/bin",
            ])
    }

    @Test func whatAnEventDoesNotHaveIsNotThere() {
        let bare = Event(kind: .sensorsNoneLeft, sequence: 1, timeNanoseconds: 2)
        #expect(
            CommandEnvironment(inheriting: { _ in nil }).variables(for: bare) == [
                "BINNACLE_KIND=sensors.none_left", "BINNACLE_SEQ=1", "BINNACLE_TIME_NS=2",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            ])
    }

    @Test func whatIsTooLongForAVariableIsLeftOut() {
        let variables = CommandEnvironment(inheriting: { _ in nil }).variables(for: largeEvent)
        #expect(!variables.contains { $0.hasPrefix("BINNACLE_REASON") })
        #expect(variables.contains("BINNACLE_SENSOR=chassis"))
    }
}
