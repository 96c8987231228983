/// The settings of a sender of sentences; the defaults are those of the configuration.
package struct NMEASettings: NavigationFormat, Equatable {
    /// Where they are sent, and how often.
    package var sending: NavigationSettings
    /// The sentences, in the order in which they are sent.
    package var sentences = NMEASentence.allCases
    /// The talker ID, two letters for the kind of device; HC is a magnetic compass.
    package var talker = "HC"

    package init(_ sending: NavigationSettings) {
        self.sending = sending
    }

    /// The sentences of a reading that it has the values for.
    package func messages(_ reading: NavigationReading, at wallNanoseconds: Int64) -> [String] {
        sentences.compactMap { $0.text(reading, talker: talker) }
    }
}
