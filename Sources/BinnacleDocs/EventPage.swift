import Binnacle
import PlainText

/// binnacle-events(7): the kinds of event, their figures, and the protocol of the socket.
enum EventPage {
    static var page: String {
        var page = ManualPage(
            "binnacle-events", section: 7, summary: "the events of Binnacle, and the socket's protocol")
        page.section("DESCRIPTION")
        page.paragraphs(
            """
            An event is one JSON object on one line, with its keys in the order below. A number has a fixed count of \
            decimals, so that equal events are equal bytes. The same lines are printed by "binnacle replay --json", "binnacle \
            events --json" and "binnacle on --json", are written by handlers, are the messages at an MQTT broker, and come \
            from the socket. A program of a handler finds each key as a variable, too: BINNACLE_ and the key in capitals.
            """)
        page.list(
            """
            Cm seq  The number of the event. It rises, with a store also over restarts, and may jump: numbers are \
            reserved ahead, and not used again after an end that was not proper.
            Cm kind  The kind of event.
            Cm detector  The detector's name in the configuration; null when the event is about a sensor itself.
            Cm sensor  The sensor's name, for headings the magnetometer's; null when the event is about all.
            Cm time_ns  The deciding sample's stamp in nanoseconds: as recorded, and in a live run on the monotonic \
            clock.
            Cm wall_time  When that was, in UTC; only in a live run.
            Cm simulated  true when no device measured it; otherwise the key is not there.
            Cm identity  The count that seq belongs to: that of the store, or of a run without one; not in a replay. \
            identity and seq together are the key of an event, by which a repeated delivery is known; kinds that \
            repeat a state have the number of the event before them, and also need kind and time_ns.
            """)
        page.paragraphs("The figures of the kind follow.")
        page.section("KINDS")
        page.paragraphs("Each kind has a level in the log and a MESSAGE_ID in the journal, and some of the figures.")
        page.list(
            EventKind.allCases.map { kind in
                let figures = kind.row.figures.map(\.rawValue).joined(separator: ", ")
                let always = kind.row.isAlwaysLogged ? ", in the daemon's log also without a log handler" : ""
                return (
                    "Cm \(kind.rawValue)",
                    plain(kind.text) + (figures.isEmpty ? "" : "\n\nFigures: \(figures).")
                        + "\n\nLevel \(kind.row.level.name)\(always); MESSAGE_ID=\(kind.row.messageID)."
                )
            })
        page.section("FIGURES")
        page.paragraphs("The end of a figure's name is its unit.")
        page.list(Figure.Name.allCases.map { ("Cm \(ManualPage.escaped($0.rawValue))", plain($0.text)) })
        page.section("THE TABLE")
        page.paragraphs(
            """
            binnacle replay --arrow writes an Arrow stream: one row for each event and, with --each, one for each recording \
            behind its events. A column has one type for all kinds, and is null where a kind has no such figure. Numbers \
            have the same decimals as in JSON. A batch is written when it has 8192 rows or, with --each, when no further \
            recording is named yet. Columns are found by their names: later versions may add some.
            """)
        page.list(
            """
            Cm recording  utf8; the recording as it was named, with --each.
            Cm seq , time_ns  int64; null in the row of a recording. The schema says to pandas, by way of pyarrow, that int64 \
            columns are integers also where a row has none (Int64).
            Cm kind , detector  utf8.
            Cm sensor  dictionary of utf8 by int32; each batch may have another dictionary.
            Cm simulated  bool; true or null.
            Figures as double  \(columns(of: "double"))
            Figures as int64  \(columns(of: "int64"))
            Figures as utf8  \(columns(of: "utf8"))
            Cm samples , skipped , events , seconds  int64, map of utf8 to int64, int64, double; only in the rows of \
            recordings, whose kind is recording.replayed or recording.failed, beside status and reason.
            """)
        page.section("THE SOCKET")
        page.paragraphs(
            """
            With [socket] in the configuration the daemon listens at a Unix socket, /run/binnacle/binnacle.sock. A client \
            sends one line with a request of at most 64 KiB, within 10 s, and reads lines. Nothing may follow the request, but \
            the sending direction may be shut down. A client ignores keys that it does not know.

            A subscription; every key is optional:
            """)
        page.literal(
            """
            {"subscribe":{"kinds":["motion.began"],"sensors":["lid"],"after":123,
              "identity":"...","since_ns":...,"follow":true}}
            """)
        page.paragraphs("The answer, after which each event comes as its JSON line:")
        page.literal("{\"subscribed\":{\"identity\":\"...\",\"seq\":130,\"after\":123}}")
        page.list(
            """
            Cm after  The number of the event behind which to begin; 0 begins with the oldest that is kept. Without \
            it and since_ns, a subscription that follows begins now.
            Cm since_ns  Begins with the first event since this time, in nanoseconds since 1970; what follows it comes \
            whatever its time, because a clock may be set back.
            Cm identity  The identity of the store in which after counts, as in an earlier answer.
            Cm follow  false ends behind the last event that is kept.
            Cm readings  Live readings beside the events, as below. With it, kinds may be [], for readings alone.
            Cm samples  Samples beside the events, as below; kinds may be [] as well, and follow may not be false.
            """)
        page.paragraphs("The status of the daemon, after which it closes the connection:")
        page.literal(
            """
            {"status":{}}
            {"status":{...}}
            """)
        page.paragraphs(
            "Makes a detector forget what it has learned or counted, as binnacle reset does; the answer is the same line, or an error:"
        )
        page.literal(
            """
            {"reset":{"detector":"walked"}}
            """)
        page.paragraphs(
            """
            Keeps events from a handler, and lets it get them again, as binnacle disarm and binnacle arm do; the answer is the same \
            line, with problem beside handler when a restart will not know of it, or an error:
            """
        )
        page.literal(
            """
            {"disarm":{"handler":"siren"}}
            {"arm":{"handler":"siren"}}
            """)
        page.paragraphs("Other lines of the server:")
        page.list([
            (
                ManualPage.escaped("{\"missed\":{\"count\":12,\"from\":5,\"through\":16,\"reason\":\"...\"}}"),
                "Replaces events that cannot be sent; unknown members are left out."
            ),
            (ManualPage.escaped("{\"end\":{}}"), "Follows the last event when follow is false."),
            (
                ManualPage.escaped("{\"error\":{\"message\":\"...\",\"column\":24}}"),
                "Refuses the request; then the connection is closed. column is the byte of the request that is wrong, if one "
                    + "is. busy is there, and true, when there are too many connections: a later attempt may succeed."
            ),
        ])
        page.paragraphs(
            """
            A slow subscriber delays no other: it gets what it wants from the last 1024 events in memory, then from \
            the store; without a store it gets the numbers that it missed. \
            \(EventKind.allCases.filter(EventKind.repeated.contains).map(\.rawValue).joined(separator: " and ")) are never \
            kept, and come only to those who name them.
            """)
        page.section("LIVE READINGS")
        page.paragraphs(
            """
            Present values of sensors and detectors, for views: not kept, and computed only while a client subscribes. \
            interval_s is 0.03 to 60, 0.1 without it; sensors names some, without it all are meant:
            """)
        page.literal("{\"subscribe\":{\"kinds\":[],\"readings\":{\"interval_s\":0.1,\"sensors\":[\"lid\"]}}}")
        page.paragraphs("For each interval comes a line:")
        page.literal(
            """
            {"readings":{"time_ns":1600235906278,"interval_s":0.1,"skipped":0,
              "streams":[{"sensor":"lid","kind":"accelerometer","unit":"m/s²",
                "active":true,"samples":10,"rate_hz":100.0,"age_s":0.008,
                "losses":0,"lost_samples":0,"gaps":0,
                "x":[-0.03,0.04,0.01],"y":[...],"z":[...],"length":[...]}],
              "detectors":[{"detector":"moved","kind":"motion","sensors":["lid"],
                "running":true,"state":"still",
                "measures":[{"name":"user_g","span":[0.001,0.012,0.004]}],
                "limits":[{"name":"motion","of":"user_g","side":"above",
                  "begin":0.05,"end":0.025,"always_shown":true}],"figures":{}}]}}
            """)
        page.list(
            """
            Cm time_ns  The end of the interval, on the monotonic clock.
            Cm interval_s  How long it was. Intervals are whole ones of the shortest that any client has subscribed \
            to.
            Cm skipped  The number of intervals without a line, because the client had not read those before. This \
            line covers them as well, so no extreme is missing.
            Cm x , y , z , length , span  The least, the greatest and the last value; null, or not there, without a \
            sample. Lengths are those of the vector. unit is m/s², µT or °/s.
            Cm samples , rate_hz , age_s  The samples of the interval; samples a second by their own stamps, null \
            when there is none; the age of the last sample.
            Cm losses , lost_samples , gaps  Counted since the start of the daemon.
            Cm running , waiting  Whether the detector looks at samples; waiting is there, and true, when it does not because \
            the machine lacks a sensor that may be missing.
            Cm state  moving, rotating, still or sleeping; facing or away; heeled, pitched, level or known; the edge of the \
            screen that points up; the posture; calm or disturbed (taps); walking or standing; moving or stationary; idle, \
            running, spinning, calm, vibrating or not measured; near or far. null when it is not known. A detector that does not run has no state, measures and figures.
            Cm active  Of a stream, whether samples can be expected; of a detector, there and true while its state is one that it \
            waits for, such as a motion.
            Cm measures  What a detector finds in each sample and, for most, compares with limits, as far as it looks \
            at it. Motion: user_g, linear_g, total_g, rate_dps. North: accuracy_deg, strength_uT (of the field). \
            Attitude: roll_deg, pitch_deg, yaw_accuracy_deg, and yaw_deg without a magnetometer. Screen: turn_deg (away \
            from the present edge), lean_deg. Hinge: angle_deg. Taps: impulse_g. Steps: swing_g, swing_rms_g. Rest: \
            change_g. Vibration: each band's, its name with _mm_s or _g behind it, once a second.
            Cm limits  The value of a measure or figure above or below which something begins, and that at which it \
            ends, which differs by the hysteresis. always_shown is there for those that a view always shows.
            Cm figures  Figures as in events, at the end of the interval: a heading with its accuracy, its age when \
            it is held, and in reason why there is none.
            Cm lanes  The drawing of the detector over time: curves and a direction by the names of their values, rows of \
            states, and sectors with their ends and the margin to leave them. The first line of a subscription has it; a \
            later line has it only for a detector that the line before did not have, or had with other lanes.
            Cm spectrum  Of a vibration detector, for a client that asked with spectrum: true; in a line only when it is new. \
            values are g, the root mean square of a sine alone, the greatest in steps of step_hz from from_hz on; none when \
            the second time_ns was not measured, or, with time_ns 0, before the first. Each of bands has its name, the measure of its root mean square, \
            from_hz and to_hz, the noise in floor, and in scale what 1 of its unit is in g at both ends: there a sine \
            alone reaches a limit.
            """)
        page.section("SAMPLES")
        page.paragraphs(
            """
            The samples of sensors, from the one reader that the daemon has of each: not kept, and copied only while a client \
            subscribes. Every key is optional:
            """)
        page.literal(
            """
            {"subscribe":{"kinds":[],"samples":{"sensors":["lid"],
              "kinds":["accelerometer"],"raw":false,"interval_s":0}}}
            """)
        page.list(
            """
            Cm sensors  Those of these names; without it all, also those that a reload adds. A name that the daemon does not \
            have is refused with the names that it has, at a reload, too.
            Cm kinds  accelerometer, magnetometer, gyroscope; without it all.
            Cm raw  true leaves out the calibration of the sensor. Scale, offset and mount matrix are applied when a sample is \
            read, so they are in raw samples as well.
            Cm interval_s  How long samples are collected for one line, 0 to 1; 0 sends what is read at once.
            """)
        page.paragraphs("Each line has up to 128 consecutive samples of one stream, as columns:")
        page.literal(
            """
            {"samples":{"sensor":"lid","kind":"accelerometer","unit":"m/s²",
              "frame":"device","raw":false,"lost":0,
              "time_ns":[1600235906278,1600245906278],
              "x":[0.0153,0.0148],"y":[...],"z":[...]}}
            """)
        page.list(
            """
            Cm unit  m/s², µT or rad/s.
            Cm frame  device: x to the right, y to the top, z out of the screen.
            Cm lost  The number of samples of this stream before these that the client did not read in time. It may be 8192 \
            behind; then it loses the oldest. A client that reads slowly delays neither the daemon nor other clients. What the \
            daemon itself did not get of a device is reported by the event \(EventKind.samplesLost.rawValue).
            Cm time_ns  The stamps in nanoseconds, on the monotonic clock for a device; they never fall within a stream.
            Cm x , y , z  The axes, with as many digits as tell 32-bit numbers apart; null for what is no finite number.
            Cm simulated  true when no device measured them; otherwise the key is not there.
            """)
        page.section("SEE ALSO")
        page.line(
            ".Xr binnacle 1 ,\n.Xr binnacle-events 1 ,\n.Xr binnacle-on 1 ,\n.Xr binnacle-samples 1 ,\n.Xr journalctl 1 ,\n.Xr binnacle.toml 5"
        )
        return page.text
    }

    /// Names of the figures whose columns have an Arrow type.
    private static func columns(of type: String) -> String {
        let figures = Figure.Name.allCases.filter { figure in
            switch figure.row.type {
            case .number: type == "double"
            case .integer, .stamp: type == "int64"
            case .word, .text: type == "utf8"
            }
        }
        return figures.map(\.rawValue).joined(separator: ", ") + "."
    }

    /// Removes the backticks around keys.
    private static func plain(_ text: String) -> String { text.replacing("`", with: "") }
}
