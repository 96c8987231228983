import Binnacle
package import TableReading

extension NMEAAction {
    /// The port that is registered for NMEA 0183.
    private static let usualPort = 10110

    private static let form = NetworkPlace.Form(
        schemes: ("udp", "tcp"), example: "udp://192.168.1.255:10110", exampleOfIPv6: "udp://[2001:db8::1]:10110",
        insteadOfUser: "NMEA 0183 knows none")

    /// Reads what a section says of it; `nil` when that cannot be used, which is then reported.
    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let place = Self.settings(table, entry.node)
        let sentences = Self.sentences(table)
        let talker = Self.talker(table)
        let interval = Self.interval(table)
        guard var settings = place else { return nil }
        if let sentences { settings.sentences = sentences }
        if let talker { settings.talker = talker }
        if let interval { settings.interval = interval }
        self.settings = settings
    }

    private static func settings(_ table: TableReader, _ node: TOMLNode) -> NMEASettings? {
        guard let text = table.string(key, node) else { return nil }
        do throws(NetworkPlace.SyntaxError) {
            let place = try NetworkPlace(parsing: text, as: form)
            guard let transport = NMEASettings.Transport(rawValue: place.scheme) else { return nil }
            guard transport == .tcp || !["0.0.0.0", "::"].contains(place.host) else {
                throw NetworkPlace.SyntaxError(
                    message: "sends to nobody", hint: "a broadcast address, such as 192.168.1.255, is everybody")
            }
            return NMEASettings(transport, host: place.host, port: place.port ?? usualPort)
        } catch {
            table.refuse(key, at: node.position, "`\(key)` \(error.message)", hint: error.hint)
            return nil
        }
    }

    private static func sentences(_ table: TableReader) -> [NMEASentence]? {
        let key = "sentences"
        guard let node = table.entry(key)?.node, let nodes = table.array(key, node, of: "strings") else { return nil }
        guard !nodes.isEmpty else {
            table.refuse(key, at: node.position, "`\(key)` is empty", hint: "leave it out to mean every sentence")
            return nil
        }
        return table.choices(key, nodes, as: NMEASentence.self)
    }

    private static func talker(_ table: TableReader) -> String? {
        let key = "talker"
        guard let text = table.string(key), let entry = table.entry(key) else { return nil }
        guard text.utf8.count == 2, text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else {
            table.refuse(
                key, at: entry.node.position, "`\(key)` is not two capital letters",
                hint: "HC is a magnetic compass, HE a gyro, II an integrated system")
            return nil
        }
        guard !text.hasPrefix("P") else {
            table.refuse(
                key, at: entry.node.position, "`\(key)` begins with P",
                hint: "sentences of manufacturers begin with it, and these are none")
            return nil
        }
        return text
    }

    /// From as often as compasses do it at most, to as seldom as plotters bear without raising an alarm.
    private static func interval(_ table: TableReader) -> Duration? {
        table.seconds("interval_s", in: 0.02...10)
    }
}
