import Testing

import DesktopBus

struct ClaimTableTests {
    private let known = DesktopValues.with(present: .accelerometer, fresh: true)
    private let silent = DesktopValues.with(present: .accelerometer, fresh: false)
    private let second: Int64 = 1_000_000_000

    @Test("A claim is answered at once when its value is known, or when there is no sensor")
    func answeredAtOnce() {
        var table = ClaimTable()
        let result1 = table.claim(.accelerometer, by: ":1.1", call: 1, known, at: 0)
        #expect(result1)
        let result2 = table.claim(.light, by: ":1.1", call: 2, known, at: 0)
        #expect(result2)
        #expect(table.waiting.isEmpty)
        let result3 = table.wanted(at: 0)
        #expect(result3 == [DesktopSensors(.accelerometer), DesktopSensors(.light)])
    }

    @Test("A claim waits for the first value, and no longer than the time")
    func waits() {
        var table = ClaimTable()
        let result4 = table.claim(.accelerometer, by: ":1.1", call: 1, silent, at: 0)
        #expect(!result4)
        let result5 = table.removeAnswered(silent, at: ClaimTable.longestWait - 1)
        #expect(result5.isEmpty)
        #expect(table.deadline == ClaimTable.longestWait)
        let result6 = table.removeAnswered(silent, at: ClaimTable.longestWait)
        #expect(result6.map(\.call) == [1])
        let result7 = table.claim(.accelerometer, by: ":1.2", call: 2, silent, at: second)
        #expect(!result7)
        let result8 = table.removeAnswered(known, at: second)
        #expect(result8.map(\.call) == [2])
        #expect(table.claimers(of: .accelerometer) == [":1.1", ":1.2"])
    }

    @Test("A second claim is not counted, and one release ends it")
    func notCounted() {
        var table = ClaimTable()
        _ = table.claim(.light, by: ":1.1", call: 1, known, at: 0)
        _ = table.claim(.light, by: ":1.1", call: 2, known, at: 0)
        let result9 = table.release(.light, by: ":1.1", at: 0)
        #expect(result9.isEmpty)
        #expect(table.claimers(of: .light).isEmpty)
        let result10 = table.release(.light, by: ":1.1", at: 0)
        #expect(result10.isEmpty)
    }

    @Test("A sensor stays wanted for a moment after its last claim")
    func lingers() {
        var table = ClaimTable()
        _ = table.claim(.compass, by: ":1.1", call: 1, known, at: 0)
        _ = table.claim(.compass, by: ":1.2", call: 2, known, at: 0)
        _ = table.release(.compass, by: ":1.1", at: second)
        let result11 = table.wanted(at: 100 * second)
        #expect(result11 == DesktopSensors(.compass))
        _ = table.vanish(":1.2", at: 100 * second)
        let result12 = table.wanted(at: 100 * second)
        #expect(result12 == DesktopSensors(.compass))
        #expect(table.deadline == 100 * second + ClaimTable.linger)
        let result13 = table.wanted(at: 100 * second + ClaimTable.linger)
        #expect(result13 == [])
        #expect(table.deadline == nil)
    }

    @Test("A client that vanishes loses its claims and its calls, and nobody else does")
    func vanishes() {
        var table = ClaimTable()
        _ = table.claim(.accelerometer, by: ":1.1", call: 1, silent, at: 0)
        _ = table.claim(.accelerometer, by: ":1.2", call: 2, silent, at: 0)
        let result14 = table.vanish(":1.1", at: 0)
        #expect(result14.map(\.call) == [1])
        #expect(table.waiting.map(\.client) == [":1.2"])
        #expect(table.claimers(of: .accelerometer) == [":1.2"])
    }

    @Test("A claim outlives its sensor, and is answered when the sensor goes while it waits")
    func outlivesSensor() {
        var table = ClaimTable()
        _ = table.claim(.accelerometer, by: ":1.1", call: 1, silent, at: 0)
        let result15 = table.removeAnswered(DesktopValues(), at: 1)
        #expect(result15.map(\.call) == [1])
        #expect(table.claimers(of: .accelerometer) == [":1.1"])
        let result16 = table.wanted(at: 100 * second)
        #expect(result16 == DesktopSensors(.accelerometer))
    }
}

extension DesktopValues {
    fileprivate static func with(present sensor: DesktopSensor, fresh isFresh: Bool) -> DesktopValues {
        var readings = DesktopValues()
        readings.present = DesktopSensors(sensor)
        if isFresh { readings.fresh = readings.present }
        return readings
    }
}
