import Binnacle
import DesktopBus
import Testing

import Station

/// What is read, by what is heard, claimed, tried and there: a machine without devices, in tables.
@Suite struct SensorDemandTests {
    private static let second: Int64 = 1_000_000_000

    /// A laptop: motion and orientation on the lid, a hinge over lid and base, a compass, light and proximity sections.
    private static func laptop(heard: Set<String> = []) -> SensorDemand {
        var demand = SensorDemand()
        demand.readers = [
            SensorDemand.Reader(name: "moved", sensors: ["lid"]),
            SensorDemand.Reader(name: "heading", sensors: ["lid", "compass"]),
            SensorDemand.Reader(name: "hinge", sensors: ["lid", "base"], ambient: [.tabletMode]),
            SensorDemand.Reader(name: "screen", sensors: ["lid"], asked: ["hinge"]),
            SensorDemand.Reader(name: "room", ambient: [.light]),
        ].map { reader in
            var reader = reader
            reader.isHeard = heard.contains(reader.name)
            return reader
        }
        demand.origins = [
            .accelerometer: .detector("screen"),
            .compass: .detector("heading"), .light: .ambient(.light),
            .proximity: .ambient(.proximity),
        ]
        return demand
    }

    private static let all = ["lid", "base", "compass"]

    private static func set(_ sensors: DesktopSensor...) -> DesktopSensors {
        sensors.reduce(into: []) { $0.set($1, true) }
    }

    @Test(
        arguments: [
            ([], [], ["lid", "base", "compass"], []), (["moved"], ["moved"], ["base", "compass"], []),
            (["heading"], ["heading"], ["base"], []),
            // What is asked is read as well, with its switch.
            (["screen"], ["screen", "hinge"], ["compass"], ["tablet mode"]),
            (["room"], ["room"], ["lid", "base", "compass"], ["light"]),
            (
                ["moved", "heading", "screen", "room"], ["moved", "heading", "screen", "hinge", "room"], [],
                ["light", "tablet mode"]
            ),
        ] as [([String], [String], [String], [String])])
    func whatIsHeardIsRead(_ heard: [String], _ wanted: [String], _ idle: [String], _ ambient: [String]) {
        let demand = Self.laptop(heard: Set(heard))
        #expect(demand.wanted == Set(wanted))
        #expect(demand.idle(among: Self.all) == Set(idle))
        #expect(Set(demand.ambient.map(\.rawValue)) == Set(ambient))
    }

    @Test(
        arguments: [
            ([.accelerometer], ["screen", "hinge"], ["compass"], ["tablet mode"]),
            ([.compass], ["heading"], ["base"], []), ([.light], [], ["lid", "base", "compass"], ["light"]),
            ([.proximity], [], ["lid", "base", "compass"], ["proximity"]),
            (
                [.accelerometer, .compass, .light, .proximity], ["screen", "hinge", "heading"], [],
                ["light", "proximity", "tablet mode"]
            ),
        ] as [([DesktopSensor], [String], [String], [String])])
    func whatIsClaimedIsReadWhereItIs(
        _ claimed: [DesktopSensor], _ wanted: [String], _ idle: [String], _ ambient: [String]
    ) {
        var demand = Self.laptop()
        let claims = claimed.reduce(into: DesktopSensors()) { $0.set($1, true) }
        demand.claim(claims)
        #expect(demand.wanted.isEmpty && demand.ambient.isEmpty)
        let isChanged = demand.find(Self.set(.accelerometer, .compass, .light, .proximity), inactive: [], at: 0)
        #expect(isChanged)
        let hasEnded = demand.endTrial(inactive: [], isSettled: true, at: 1)
        #expect(hasEnded)
        #expect(demand.wanted == Set(wanted))
        #expect(demand.idle(among: Self.all) == Set(idle))
        #expect(Set(demand.ambient.map(\.rawValue)) == Set(ambient))
        demand.claim([])
        #expect(demand.wanted.isEmpty && demand.ambient.isEmpty)
    }

    @Test func aNewSensorIsTriedForASecondOrUntilItWorks() {
        var demand = Self.laptop()
        let found = Self.set(.accelerometer)
        _ = demand.find(found, inactive: found, at: 0)
        #expect(demand.wanted == ["screen", "hinge"] && demand.trialEnd == SensorDemand.longestTrial)
        // It is not open yet.
        let early = demand.endTrial(inactive: found, isSettled: true, at: 1)
        let unsettled = demand.endTrial(inactive: [], isSettled: false, at: 2)
        #expect(!early && !unsettled)
        var other = demand
        let opened = demand.endTrial(inactive: [], isSettled: true, at: 3)
        let late = other.endTrial(inactive: found, isSettled: false, at: SensorDemand.longestTrial)
        #expect(opened && late)
        for demand in [demand, other] {
            #expect(demand.wanted.isEmpty && demand.trialEnd == nil && demand.available == found)
        }
        // A second look changes nothing, unless the sensor does not work: then it may work now.
        let again = demand.find(found, inactive: [], at: Self.second)
        let broken = other.find(found, inactive: found, at: Self.second)
        #expect(!again && broken && other.tried == found)
        // Light is never tried.
        let light = demand.find(Self.set(.accelerometer, .light), inactive: [], at: 2 * Self.second)
        #expect(light && demand.tried.isEmpty && demand.trialEnd == nil)
    }

    @Test func whatIsGoneIsNotReadAndComesBackWithoutItsOldValue() {
        var demand = Self.laptop()
        let both = Self.set(.accelerometer, .light)
        _ = demand.find(both, inactive: [], at: 0)
        demand.claim(both)
        demand.show(both, present: both, held: [])
        #expect(demand.fresh == both && demand.isRead(.light))
        _ = demand.find(Self.set(.accelerometer), inactive: [], at: 1)
        demand.show(Self.set(.accelerometer), present: Self.set(.accelerometer), held: [])
        #expect(demand.fresh == Self.set(.accelerometer) && !demand.isRead(.light))
        _ = demand.find(both, inactive: [], at: 2)
        #expect(demand.fresh == Self.set(.accelerometer) && demand.isRead(.light))
    }

    @Test func aValueFromBeforeAClaimIsOld() {
        var demand = Self.laptop()
        let compass = Self.set(.compass)
        _ = demand.find(compass, inactive: [], at: 0)
        demand.claim(compass)
        #expect(demand.fresh.isEmpty)
        demand.show(compass, present: compass, held: compass)
        #expect(demand.fresh == compass)
        // A heading that is held for a moment stays fresh; other values do not.
        demand.show([], present: compass, held: compass)
        #expect(demand.fresh == compass)
        demand.show([], present: compass, held: [])
        #expect(demand.fresh.isEmpty)
        demand.show(compass, present: compass, held: compass)
        demand.claim([])
        demand.claim(compass)
        #expect(demand.fresh.isEmpty)
        // A second claim of the same sensors changes nothing.
        demand.show(compass, present: compass, held: compass)
        demand.claim(compass)
        #expect(demand.fresh == compass)
    }
}
