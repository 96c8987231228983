/// Which broker a handler publishes to, and as whom; the defaults are those of the configuration.
package struct MQTTSettings: Sendable, Equatable {
    /// The broker's name or address.
    package var host: String
    /// The broker's port.
    package var port: Int
    /// Whether the connection is encrypted and the broker's certificate verified; there is no one without the other.
    package var usesTLS: Bool
    /// The user that logs in; `nil` for none.
    package var user: String?
    /// Where the user's password is; `nil` is none.
    package var password: MQTTPassword?
    /// A file with the certificates of those who may have signed the broker's; `nil` is those that the system trusts.
    package var authorityFile: String?
    /// The client's own certificate and its key.
    package var identity: Identity?
    /// What the broker knows the client by; no two clients of a broker may have the same.
    package var clientID: String
    /// The longest silence, in seconds, before the broker is asked whether it is there.
    package var keepaliveSeconds = 60
    /// The topic that says "online" or "offline"; `nil` says it nowhere.
    package var statusTopic: String?

    /// A client's certificate and its private key, each in a file in PEM form.
    package struct Identity: Sendable, Equatable {
        /// The certificate's file.
        package var certificateFile: String
        /// The key's file.
        package var keyFile: String

        /// Creates an identity.
        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Creates settings for a broker, with the defaults.
    package init(host: String, port: Int, usesTLS: Bool, clientID: String) {
        self.host = host
        self.port = port
        self.usesTLS = usesTLS
        self.clientID = clientID
    }

    /// The broker as people write it, for messages.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
