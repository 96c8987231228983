/// Which broker a handler publishes to, and as whom; the defaults are those of the configuration.
public struct MQTTSettings: Sendable, Equatable {
    /// The broker's name or address.
    public var host: String
    /// The broker's port.
    public var port: Int
    /// Whether the connection is encrypted and the broker's certificate verified; there is no one without the other.
    public var usesTLS: Bool
    /// Who logs in; `nil` is nobody.
    public var user: String?
    /// Where the user's password is; `nil` is none.
    public var password: MQTTPassword?
    /// A file with the certificates of those who may have signed the broker's; `nil` is those that the system trusts.
    public var authorityFile: String?
    /// The client's own certificate and its key.
    public var identity: Identity?
    /// What the broker knows the client by; no two clients of a broker may have the same.
    public var clientID: String
    /// The longest silence, in seconds, before the broker is asked whether it is there.
    public var keepaliveSeconds = 60
    /// The topic that says "online" or "offline"; `nil` says it nowhere.
    public var statusTopic: String?

    /// A client's certificate and its private key, each in a file in PEM form.
    public struct Identity: Sendable, Equatable {
        /// The certificate's file.
        public var certificateFile: String
        /// The key's file.
        public var keyFile: String

        /// Creates an identity.
        public init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Creates settings for a broker, with the defaults.
    public init(host: String, port: Int, usesTLS: Bool, clientID: String) {
        self.host = host
        self.port = port
        self.usesTLS = usesTLS
        self.clientID = clientID
    }

    /// The broker as people write it, for messages.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
