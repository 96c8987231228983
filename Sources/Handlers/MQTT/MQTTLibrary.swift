import CMosquitto

/// libmosquitto, loaded when it is first used.
enum MQTTLibrary {
    /// The name under which the loader finds it.
    static let name = "libmosquitto.so.1"

    /// Its functions.
    ///
    /// - Throws: ``MQTTFailure`` when it is not installed, or is not what it should be.
    static func functions(of name: String = Self.name) throws(MQTTFailure) -> cmosquitto {
        var reason = [CChar](repeating: 0, count: 256)
        guard let table = cmosquitto_load(name, &reason, reason.count) else {
            let words = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw MQTTFailure("the MQTT library cannot be used: \(words) (Debian has it in libmosquitto1)")
        }
        // A copy of pointers to functions, which nobody changes or unloads.
        return table.pointee
    }
}
