package import Binnacle

/// The message ids of the journal's entries: one for each kind of event, so that a kind can be looked for whatever its
/// words.
///
/// They are random, and never change: `journalctl MESSAGE_ID=…` finds entries of years ago.
package enum JournalMessageID {
    /// The id of a kind, as 32 hexadecimal digits.
    package static func of(_ kind: EventKind) -> String {
        switch kind {
        case .motionBegan: "a89f1f1421234078b42b57844654f2a5"
        case .motionMoving: "8d9a989ff9254221a4f145a6dc471739"
        case .motionEnded: "e8777e9df8684e7a918ebac0caf66a5e"
        case .shake: "b5d517eb57344fbe97be000deaa39371"
        case .freeFall: "7355033af62e4a0aa6b920ca0eec1200"
        case .shock: "b47a4ad8626a43d2a120b1369982b514"
        case .heading: "58b6fc8dd32042e7a4aaa2b9f1a5239d"
        case .headingLost: "905ff5a2c4b7466a94f287d2179b7201"
        case .headingFound: "301cea8b14e44cf39e060020f1187854"
        case .northFaced: "1b35e93c6eae41e688c447275ae8183c"
        case .northFacing: "4170146b3aa643d997b708618a01d703"
        case .northLeft: "e90c808b2389499b998da13ad2a93e38"
        case .gap: "aeeea507e7da4071ba95c43cffc37257"
        case .samplesLost: "d16304100ccd47d99e77af5bb715c2e8"
        case .sensorActive: "688aca90714644b5912b3a0311484dcd"
        case .sensorInactive: "98545a5055554783a67affc7701e5122"
        case .sensorsOneLeft: "ca56109ae1fc4ca6bcdce8a408649729"
        case .sensorsNoneLeft: "f1a119552c794cd5b4d6eb3da3a1f9c8"
        case .detectorFailed: "87ba1307496b4d81b281eb4d34d28213"
        case .detectorUnavailable: "d373bceabe214a9fb3cc742bd9aff30d"
        case .quorumReached: "ee0ead0fa1ad46f8baa7c2e94881b597"
        case .commandFinished: "24d9c15ec63c4a7eba1ddc87c49b9172"
        case .commandFailed: "d844dcdd8d7940579ebe881883855365"
        case .eventsDropped: "f24d43b8ee92431bb063aa888ca91894"
        case .handlerFailed: "4bba6fc62946445b8c3213d73d1f18c5"
        case .handlerRecovered: "fec5418a6e754a82b63fe43bfd492164"
        case .storeFailed: "068b415a5ec949cd9c47cc6bfc3a0769"
        case .storeRecovered: "47691642e87b47dea5d118646ee95946"
        }
    }
}
