/// Where a broker is, as a configuration says it: `mqtts://broker.example:8883`.
package struct MQTTBroker: Sendable, Equatable {
    /// The name or address, without brackets.
    package let host: String
    /// The port.
    package let port: Int
    /// Whether the connection is encrypted.
    package let usesTLS: Bool

    private static let form = NetworkPlace.Form(
        schemes: ("mqtts", "mqtt"), example: "mqtts://broker.example:8883",
        exampleOfIPv6: "mqtts://[2001:db8::1]:8883",
        insteadOfUser: "that is said with `user`, and `password_file` or `password_credential`")

    /// Whether it is this machine.
    var isLocal: Bool { ["localhost", "127.0.0.1", "::1"].contains(host.lowercased()) }

    /// Parses a broker's URL.
    init(parsing text: String) throws(NetworkPlace.SyntaxError) {
        let place = try NetworkPlace(parsing: text, as: Self.form)
        host = place.host
        usesTLS = place.scheme == "mqtts"
        port = place.port ?? (usesTLS ? 8883 : 1883)
    }
}
