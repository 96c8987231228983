import TestSupport

extension BrokenConfigurationTests {
    private static let mqtt = handler + "mqtt = \"mqtts://b\"\n"
    private static let plain = handler + "mqtt = \"mqtt://b\"\n"

    private static func broker(_ name: String, _ url: String, _ message: String) -> BrokenConfiguration {
        BrokenConfiguration(name, handler + "mqtt = \"\(url)\"\n", "DIR/t.toml:7:8: `mqtt` " + message)
    }

    private static func more(_ name: String, _ lines: String, _ message: String) -> BrokenConfiguration {
        BrokenConfiguration(name, mqtt + lines + "\n", "DIR/t.toml:" + message)
    }

    static let brokers = [
        broker(
            "broker without a scheme", "broker.example",
            "begins neither with mqtts:// nor with mqtt:// (such as mqtts://broker.example:8883)"),
        broker(
            "broker of another scheme", "tcp://broker.example",
            "begins neither with mqtts:// nor with mqtt:// (such as mqtts://broker.example:8883)"),
        broker("broker without a host", "mqtts://", "names no host (such as mqtts://broker.example:8883)"),
        broker("port without a host", "mqtts://:8883", "names no host (such as mqtts://broker.example:8883)"),
        broker(
            "host with a blank", "mqtts://a b", "names a host that cannot be (such as mqtts://broker.example:8883)"),
        broker(
            "broker with a path", "mqtts://b/fleet",
            "has something after the port (such as mqtts://broker.example:8883)"),
        broker(
            "broker with a user", "mqtts://me:secret@b",
            "names a user (that is said with `user`, and `password_file` or `password_credential`)"),
        broker(
            "broker with port 0", "mqtts://b:0",
            "has a port that is not between 1 and 65535 (such as mqtts://broker.example:8883)"),
        broker(
            "broker with a large port", "mqtts://b:65536",
            "has a port that is not between 1 and 65535 (such as mqtts://broker.example:8883)"),
        broker(
            "broker with a signed port", "mqtts://b:+1",
            "has a port that is not between 1 and 65535 (such as mqtts://broker.example:8883)"),
        broker(
            "IPv6 without brackets", "mqtts://2001:db8::1",
            "has a port that is not between 1 and 65535 (an address of IPv6 stands in brackets, such as "
                + "mqtts://[2001:db8::1]:8883)"),
        broker("half a bracket", "mqtts://[2001:db8::1", "lacks a `]`"),
        BrokenConfiguration(
            "broker no string", handler + "mqtt = true\n",
            "DIR/t.toml:7:8: `mqtt`: expected a string, found a boolean"),
        BrokenConfiguration("empty broker", handler + "mqtt = \"\"\n", "DIR/t.toml:7:8: `mqtt` is empty"),
        BrokenConfiguration(
            "mqtt and command", mqtt + "command = [\"/bin/true\"]\n",
            "DIR/t.toml:8:1: [handler.h] has both `mqtt` and `command` (a handler does one thing; make two handlers)"),
    ]

    static let topics = [
        more(
            "waiting for a subscriber without acknowledgements", "qos = 0\nwait_for_subscriber = true",
            "9:23: with `qos = 0` an acknowledgement does not report whether there is a subscriber (with qos = 1 it does)"
        ),
        more("empty topic", "topic = \"\"", "8:9: `topic` is empty"),
        more(
            "topic with a wildcard", "topic = \"fleet/#\"",
            "8:9: the topic holds `#`, which is for subscribers (events go to topics without it)"),
        more(
            "topic with a control character", "topic = \"a\\tb\"",
            "8:9: the topic holds a character that no topic can have (events go to topics without it)"),
        more(
            "topic of the broker", "topic = \"$SYS/{kind}\"",
            "8:9: the topic begins with `$` (such topics are the broker's own)"),
        more(
            "long topic", "topic = \"\(String(repeating: "a", count: 1025))\"",
            "8:9: the topic is too long (at most 1024 bytes and 64 levels)"),
        more(
            "deep topic", "topic = \"\(String(repeating: "/", count: 64))\"",
            "8:9: the topic is too long (at most 1024 bytes and 64 levels)"),
        more(
            "misspelt placeholder of a topic", "topic = \"{hots}/{kind}\"",
            "8:9: unknown placeholder `{hots}` (did you mean `host`?; write `{{` and `}}` for braces)"),
        more(
            "requests where events are", "topic = \"t/{kind_levels}/{sensor}x\"\nrequest_topic = \"t/a/b/boxx\"",
            "9:17: what is published at `request_topic` would be read as a request (a topic that `topic`, `state_topic` "
                + "and `status_topic` cannot be)"),
        more(
            "state without a sensor", "state_topic = \"fleet/{host}\"",
            "8:15: `state_topic` has no {sensor} (each sensor has a state of its own; an empty text publishes none)"),
        more(
            "state of a kind", "state_topic = \"{sensor}/{kind}\"",
            "8:15: unknown placeholder `{kind}` (one of `host`, `identity`, `sensor`; write `{{` and `}}` for braces)"),
        more(
            "status of a sensor", "status_topic = \"{sensor}\"",
            "8:16: unknown placeholder `{sensor}` (one of `host`, `identity`; write `{{` and `}}` for braces)"),
        more("topic no string", "status_topic = 1", "8:16: `status_topic`: expected a string, found an integer"),
    ]

    static let logins = [
        more(
            "password without a user", "password_file = \"/run/none\"",
            "5:1: [handler.h] has no `user` (a password is that of a user)"),
        more(
            "two passwords", "user = \"u\"\npassword_file = \"/run/none\"\npassword_credential = \"c\"",
            "10:1: [handler.h] has both `password_file` and `password_credential` (there is one password)"),
        more(
            "password in the open", "user = \"u\"\npassword = \"secret\"",
            "9:1: unknown key `password` in [handler.h] (did you mean `password_file`?)"),
        more(
            "password for everybody", "user = \"u\"\npassword_file = \"/etc/passwd\"",
            "9:17: other users can read `/etc/passwd` (chmod o-r takes that right away)"),
        more(
            "credential with a path", "user = \"u\"\npassword_credential = \"a/b\"",
            "9:23: `password_credential` is a name, and no path (that of a LoadCredential= in the service's unit)"),
        more(
            "certificate without its key", "certificate_file = \"/run/none\"",
            "5:1: [handler.h] has no `key_file` (a certificate is of no use without its key)"),
        more(
            "key without its certificate", "key_file = \"/run/none\"",
            "5:1: [handler.h] has no `certificate_file` (a key is of no use without its certificate)"),
        BrokenConfiguration(
            "authority without encryption", plain + "ca_file = \"/run/none\"\n",
            "DIR/t.toml:8:1: `ca_file` has no meaning for mqtt:// (mqtts:// is the encrypted way)"),
        more("empty user", "user = \"\"", "8:8: `user` is empty"),
        more(
            "user with a line's end", "user = \"a\\nb\"",
            "8:8: `user` is too long, or holds a control character (at most 256 bytes)"),
        more(
            "long client", "client_id = \"\(String(repeating: "a", count: 257))\"",
            "8:13: `client_id` is too long, or holds a control character (at most 256 bytes)"),
        more("short keepalive", "keepalive_s = 4", "8:1: keepalive_s (4) is not between 5 and 65535"),
        more("half a keepalive", "keepalive_s = 7.5", "8:15: `keepalive_s`: expected an integer, found a number"),
        BrokenConfiguration(
            "topic of a command", command + "topic = \"a\"\n",
            "DIR/t.toml:8:1: `topic` has no meaning for `command` (it is for `mqtt`)"),
        BrokenConfiguration(
            "its own failure", moved + "[handler.h]\non = [\"handler.failed\"]\nmqtt = \"mqtts://b\"\n",
            "DIR/t.toml:6:7: `handler.failed` reports on handlers, and cannot be for `mqtt` (one that fails would be run "
                + "for its own failure; such events are for handlers with log = true or stdout = true)"),
    ]
}
