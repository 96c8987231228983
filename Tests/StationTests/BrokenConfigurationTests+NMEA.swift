import TestSupport

extension BrokenConfigurationTests {
    private static let helm = NMEAActionTests.bow + "[handler.h]\n"
    private static let nmea = helm + "nmea = \"udp://a\"\n"
    private static let example = "(such as udp://192.168.1.255:10110)"
    private static let line = "(such as udp://192.168.1.255:10110, or /dev/ttyUSB0 for a serial line)"

    private static func place(_ name: String, _ url: String, _ message: String) -> BrokenConfiguration {
        BrokenConfiguration(name, helm + "nmea = \"\(url)\"\n", "DIR/t.toml:7:8: `nmea` " + message)
    }

    private static func more(_ name: String, _ lines: String, _ messages: String...) -> BrokenConfiguration {
        BrokenConfiguration(name, text: nmea + lines + "\n", messages.map { "DIR/t.toml:" + $0 })
    }

    static let plotters = [
        place("plotter without a scheme", "192.168.1.255", "begins neither with udp:// nor with tcp:// " + line),
        place("plotter at a relative path", "ttyUSB0", "begins neither with udp:// nor with tcp:// " + line),
        place("plotter without a host", "udp://", "names no host " + example),
        place("plotter with a path", "udp://a:1/x", "has something after the port " + example),
        place("plotter with a user", "tcp://me@a", "names a user (NMEA 0183 knows none)"),
        place("plotter with port 0", "tcp://0.0.0.0:0", "has a port that is not between 1 and 65535 " + example),
        place(
            "plotter of IPv6 without brackets", "tcp://::1",
            "has a port that is not between 1 and 65535 (an address of IPv6 stands in brackets, such as "
                + "udp://[2001:db8::1]:10110)"),
        place(
            "datagrams to everywhere", "udp://0.0.0.0",
            "has no address to send to (a broadcast address, such as 192.168.1.255, reaches all machines of a network)"),
        place(
            "datagrams to everywhere by IPv6", "udp://[::]:10110",
            "has no address to send to (a broadcast address, such as 192.168.1.255, reaches all machines of a network)"),
        BrokenConfiguration(
            "plotter no string", helm + "nmea = 10110\n",
            "DIR/t.toml:7:8: `nmea`: expected a string, found an integer"),
        more("no sentence", "sentences = []", "8:13: `sentences` is empty (leave it out to mean every sentence)"),
        more(
            "a sentence of another kind", "sentences = [\"HDG\", \"GGA\"]",
            "8:21: `sentences` cannot be `GGA` (one of `HDG`, `HDM`, `HDT`, `PASHR`, `ROT`, `XDR`)"),
        more("a sentence twice", "sentences = [\"HDG\", \"HDG\"]", "8:21: `sentences` names this twice"),
        more(
            "sentence no array", "sentences = \"HDG\"",
            "8:13: `sentences`: expected an array of strings, found a string"),
        more(
            "talker in small letters", "talker = \"hc\"",
            "8:10: `talker` is not two capital letters (HC is a magnetic compass, HE a gyro, II an integrated system)"),
        more(
            "talker with a comma", "talker = \"H,\"",
            "8:10: `talker` is not two capital letters (HC is a magnetic compass, HE a gyro, II an integrated system)"),
        more(
            "talker of a manufacturer", "talker = \"PH\"",
            "8:10: `talker` begins with P (sentences of manufacturers begin with it, and these are none)"),
        more("sentences without a pause", "interval_s = 0", "8:1: interval_s (0.0) is not between 0.02 and 10.0"),
        more("sentences too seldom", "interval_s = 11", "8:1: interval_s (11.0) is not between 0.02 and 10.0"),
        more(
            "kinds for a plotter", "on = [\"heading\"]",
            "8:1: `on` has no meaning for `nmea` (it always gets the headings and their loss)"),
        more(
            "decorators for a plotter", "decorate = [{ rate_limit = { per_minute = 6 } }]",
            "8:1: `decorate` has no meaning for `nmea` (`interval_s` says how often it sends)"),
        more(
            "a topic for a plotter", "topic = \"t\"", "8:1: `topic` has no meaning for `nmea` (it is for `mqtt`)"),
        more(
            "nmea and log", "log = true",
            "8:1: [handler.h] has both `nmea` and `log` (a handler does one thing; make two handlers)"),
        BrokenConfiguration(
            "plotter at a directory", helm + "nmea = \"/dev\"\n",
            "DIR/t.toml:7:8: `/dev` is no serial line (a device, such as /dev/ttyUSB0, or one of /dev/serial/by-id)"),
        more(
            "bits of a network", "baud = 4800",
            "8:1: `baud` has no meaning for a network (it is for the path of a serial line)"),
        BrokenConfiguration(
            "bits that no line has", helm + "nmea = \"/dev/ttyUSB0\"\nbaud = 4801\n",
            "DIR/t.toml:8:8: `baud` cannot be 4801 (one of 4800, 9600, 19200, 38400, 57600 or 115200)"),
        BrokenConfiguration(
            "a Signal K server without a port", helm + "signalk = \"udp://a\"\n",
            "DIR/t.toml:7:11: `signalk` names no port (such as udp://127.0.0.1:55557)"),
        BrokenConfiguration(
            "lines of a format that is none", handler + "file = \"/tmp/lines.none\"\nformat = \"xml\"\n",
            "DIR/t.toml:8:10: `format` cannot be `xml` (one of `json`, `influx`)"),
        BrokenConfiguration(
            "sentences of a log", handler + "log = true\nsentences = [\"HDG\"]\n",
            "DIR/t.toml:8:1: `sentences` has no meaning for `log` (it is for `nmea`)"),
    ]

    private static let stern = "[north.stern]\naccelerometer = \"box\"\nmagnetometer = \"box\"\n"

    static let headings = [
        BrokenConfiguration(
            "a heading that nothing finds", moved + "[handler.h]\nnmea = \"udp://a\"\n",
            "DIR/t.toml:6:1: `nmea` is for headings, which nothing finds (add a section [north.NAME] or "
                + "[attitude.NAME])"),
        BrokenConfiguration(
            "a heading of two detectors", nmea + stern,
            "DIR/t.toml:7:1: `nmea` is for the headings of one detector, and there are `bow`, `stern` (name one, such as "
                + "detector = [\"bow\"])"),
        BrokenConfiguration(
            "a heading of two detectors that are named", nmea + "detector = [\"stern\", \"bow\"]\n" + stern,
            "DIR/t.toml:8:12: `nmea` is for the headings of one detector, and there are `stern`, `bow` (name one, such "
                + "as detector = [\"stern\"])"),
        BrokenConfiguration(
            "a heading of a movement", nmea + "detector = [\"moved\"]\n[motion.moved]\naccelerometer = \"box\"\n",
            "DIR/t.toml:8:12: `nmea` is for headings, which `moved` does not find (one of `bow`)"),
        BrokenConfiguration(
            "a heading of nobody", nmea + "detector = [\"bows\"]\n",
            "DIR/t.toml:8:13: no detector `bows` (did you mean `bow`?)"),
    ]
}
