import PlainText
package import TableReading

/// `http = "https://…"`: posts the event to a service.
package struct HTTPAction: HandlerAction {
    /// Where to, and how.
    package let settings: HTTPSettings

    package static let example = "http = \"https://ntfy.example/alarms\""
    /// The service may do anything with it.
    package static let actsOnTheWorld = true
    private static let form = NetworkPlace.Form(
        schemes: ("https", "http"), example: "https://ntfy.example/alarms",
        exampleOfIPv6: "https://[2001:db8::1]:8443/alarms",
        insteadOfUser: "that is said with `user`, and `password_file` or `password_credential`", hasPath: true)

    package static let row = HandlerRow(
        shown: "phone", kinds: "[\"motion.began\"]",
        """
        Sends each event to a service by HTTP (POST), in order, without a shell and without a program: notifications of ntfy \
        or Gotify, webhooks of Home Assistant. While there is no connection, and after an answer of 5xx, 408, 425 or 429, it is \
        tried again, after 1 s at first, up to every 60 s, or as late as the answer asks for. Other answers than 2xx refuse the \
        event: it is given up, after `retries` when the answer is about the place or the login. "handler.failed" reports each \
        reason once, "handler.recovered" its end.
        """,
        key: Key(
            "http", .usual("\"https://ntfy.example/alarms\""), usual: "",
            """
            The address. The certificate of https:// is always verified; http:// is for this machine's own services, and for \
            others with plain_http. An answer that names another place is refused. In the path, {secret} becomes the password, \
            for a service whose address is its secret; {{ and }} are single braces.
            """),
        further: HTTPSettings.rows.map { $0.key(HTTPSettings()) })

    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let place = NetworkPlace(Self.key, entry.node, of: table, as: Self.form)
        var settings = HTTPSettings()
        table.read(HTTPSettings.rows, into: &settings)
        if table.entry("payload") != nil, let json = table.entry("json") {
            table.refuse(
                "json", at: json.keyPosition, with: ["payload"], "\(table.title) has both `payload` and `json`",
                hint: "a request has one body")
        }
        guard let place else { return nil }
        let pieces = table.parsed(Self.key, at: entry.node.position, prefix: "`\(Self.key)` ") {
            () throws(TextSyntaxError) in
            try PlaceholderText.pieces(of: place.path, names: ["secret"], text: HTTPSettings.PathPiece.text) {
                $0 == "secret" ? .secret : nil
            }
        }
        guard let pieces else { return nil }
        settings.place = place.scheme + "://" + (place.host.contains(":") ? "[\(place.host)]" : place.host)
        if let port = place.port { settings.place += ":\(port)" }
        settings.path = pieces
        settings.usesTLS = place.scheme == "https"
        settings.isLocal = NetworkPlace.isLocal(place.host)
        if pieces.contains(.secret), settings.password == nil {
            table.refuse(
                Self.key, at: entry.node.position, "`\(Self.key)` has {secret}, and there is none",
                hint: "password_file or password_credential names it")
        }
        if settings.usesTLS {
            if settings.allowsPlain {
                table.refuse(
                    "plain_http", meaninglessFor: "https://", with: [Self.key], hint: "https:// is encrypted")
            }
        } else {
            table.refuse(
                "ca_file", meaninglessFor: "http://", with: [Self.key], hint: "https:// is the encrypted way")
            if !settings.isLocal, !settings.allowsPlain {
                table.refuse(
                    Self.key, at: entry.node.position, with: ["plain_http"],
                    "http:// sends the events to \(Spelling.quoted(place.host)) for every machine on the way to read",
                    hint: "https:// encrypts them; `plain_http = true` allows it in a network that you trust")
            }
        }
        self.settings = settings
    }

    package func work(for name: String) -> HandlerWork {
        .threaded(HTTPSender.plan(settings))
    }

    package var missingLibrary: String? { HTTPClient.missingLibrary }

    /// Warns of a password that leaves the machine unencrypted.
    package var notices: [String] {
        guard settings.password != nil, !settings.usesTLS, !settings.isLocal else { return [] }
        return ["the password goes to \(settings.place) in plain text: https:// would encrypt it"]
    }
}
