import Kernels
import LinuxSensors
import Testing

/// What becomes of raw values, and of the texts that say so.
@Suite struct ConversionTests {
    @Test func theScaleOfAnAxisIsAppliedBeforeTheMatrix() throws {
        // D3: with x and y swapped, a scale applied afterwards would be the other axis's.
        let swap = try MountMatrix("0, 1, 0; 1, 0, 0; 0, 0, 1")
        let conversion = AxisScaling(scales: [2, 3, 5], offsets: [1, 10, 100], matrix: swap, factor: 1).conversion
        let sample = conversion.apply(x: 7, y: 11, z: 13)
        #expect(sample.x == (11 + 10) * 3)
        #expect(sample.y == (7 + 1) * 2)
        #expect(sample.z == (13 + 100) * 5)
    }

    @Test func theSignTurnsEverything() {
        let conversion = AxisScaling(scales: [1, 1, 1], offsets: [0, 0, 1], matrix: .identity, factor: -1).conversion
        let sample = conversion.apply(x: 1, y: -2, z: 3)
        #expect(sample.x == -1 && sample.y == 2 && sample.z == -4)
    }

    @Test(
        arguments: [
            ("1, 0, 0; 0, 1, 0; 0, 0, 1", 1), ("0, -1, 0; -1, 0, 0; 0, 0, 1", -1), ("-1,0,0;0,-1,0;0,0,-1", -1),
            (" 0 , 1 , 0 ; 1 , 0 , 0 ; 0 , 0 , -1 \n", 1), ("0.866, -0.5, 0; 0.5, 0.866, 0; 0, 0, 1", 0.999956),
        ] as [(String, Double)])
    func matricesOfBothDeterminantsAreTaken(text: String, determinant: Double) throws {
        let matrix = try MountMatrix(text)
        #expect(abs(matrix.determinant - determinant) < 1e-9)
        #expect(try MountMatrix(matrix.description) == matrix)
    }

    @Test(arguments: [
        "", "1", "1,0,0;0,1,0", "1,0,0;0,1,0;0,0,1;", "1,0;0,1", "a,0,0;0,1,0;0,0,1", "nan,0,0;0,1,0;0,0,1",
        "1,0,0;0,1,0;0,0,inf", "1,0,0,0;0,1,0;0,0,1", "1,,0;0,1,0;0,0,1", "0x1,0,0;0,1,0;0,0,1",
        "1e300,0,0;0,1e300,0;0,0,1",
    ])
    func otherTextsAreNoMatrix(text: String) {
        #expect(throws: MountMatrix.Flaw.shape) { try MountMatrix(text) }
    }

    @Test(arguments: ["0,0,0;0,0,0;0,0,0", "1,0,0;1,0,0;0,0,1", "0, 0, 0; 0, 1, 0; 0, 0, 1"])
    func aMatrixThatLosesAnAxisIsRefused(text: String) {
        #expect(throws: MountMatrix.Flaw.singular) { try MountMatrix(text) }
    }

    @Test(
        arguments: [
            ("0.009806650", 0.00980665), ("-5", -5), (" 12\n", 12), ("1e-3", 0.001), ("", nil), ("nan", nil),
            ("inf", nil),
            ("0x10", nil), ("1 2", nil), ("1,5", nil), ("abc", nil), ("1e999", nil),
        ] as [(String, Double?)])
    func numbersAreReadInTheCLocale(text: String, number: Double?) {
        #expect(SysfsNumber.parse(text) == number)
    }

    @Test(
        arguments: [
            (100, nil, 100), (100, "10 50 100 200", 100), (100, "1.5625 25 125", 125), (7, "10 50", 10),
            (100, "50 200", 50),
            (100, "[1 1 200]", 100), (100, "[0.5 0.25 80]", 80), (0.1, "[1 1 200]", 1), (33.3, "[1 1 200]", 33),
            (100, "[1 0 200]", 100), (100, "[]", 100), (100, "rubbish", 100), (100, "0 0", 100),
            (100, "[200 1 1]", 100),
        ] as [(Double, String?, Double)])
    func theNearestRateIsChosen(wanted: Double, available: String?, rate: Double) {
        #expect(SamplingFrequency.nearest(to: wanted, in: available) == rate)
    }

    @Test(
        arguments: [
            (50, "0.000000 12.500000 200.000000", 200), (256, "100 200 500", 500), (100, "99.5 200", 99.5),
            (100, "10 50", 50), (100, "[10 40 250]", 130), (100, "[1 1 200]", 100), (100, "[1 1 64]", 64),
            (100, "0 0", 100), (100, nil, 100),
        ] as [(Double, String?, Double)])
    func theLowestRateThatSufficesServesANeed(needed: Double, available: String?, rate: Double) {
        #expect(SamplingFrequency.nearest(to: needed, in: available, isNeed: true) == rate)
    }

    @Test func theCounterOfMicrosecondsWrapsAndStartsAnew() {
        var counter = MicrosecondCounter()
        #expect(counter.stamp(.max - 4999, eventNanoseconds: 1_000_000_000) == 1_000_000_000)
        #expect(counter.stamp(.max, eventNanoseconds: 1_006_000_000) == 1_004_999_000)
        // Over the edge: ten milliseconds later, whatever the event's own time says within its jitter.
        #expect(counter.stamp(9999, eventNanoseconds: 1_013_000_000) == 1_014_999_000)
        // The device has started again: only the event's time is left.
        #expect(counter.stamp(0, eventNanoseconds: 1_030_000_000) == 1_030_000_000)
        #expect(counter.stamp(10_000, eventNanoseconds: 1_041_000_000) == 1_040_000_000)
        // It stood still for two seconds, which no event is late by.
        #expect(counter.stamp(20_000, eventNanoseconds: 3_060_000_000) == 3_060_000_000)
        var hostile = MicrosecondCounter()
        #expect(hostile.stamp(0, eventNanoseconds: .min) == .min)
        #expect(hostile.stamp(1, eventNanoseconds: .max) == .max)
        #expect(hostile.stamp(.max, eventNanoseconds: .max) == .max)
    }

    /// It gets ahead again and again, and no stamp is before another; a clock that is set back is followed.
    @Test func aCounterThatRunsFastTakesNoStepBack() {
        var counter = MicrosecondCounter()
        var last = Int64.min
        for frame in 0..<5000 {
            let time = Int64(frame) * 10_000_000
            let stamp = counter.stamp(UInt32(frame) * 10_100, eventNanoseconds: time)
            #expect(stamp >= last && stamp - time <= 100_000_000)
            last = stamp
        }
        #expect(counter.stamp(5000 * 10_100, eventNanoseconds: 5_000_000_000) == 5_000_000_000)
    }

    @Test func aLateEventKeepsTheTimeOfItsFrame() {
        var counter = MicrosecondCounter()
        #expect(counter.stamp(0, eventNanoseconds: 1_000_000_000) == 1_000_000_000)
        // Half a second in which nothing was handed over, and then all frames at once.
        for frame in 1...50 {
            #expect(
                counter.stamp(UInt32(frame) * 10_000, eventNanoseconds: 1_500_000_000)
                    == 1_000_000_000 + Int64(frame) * 10_000_000)
        }
        #expect(counter.stamp(510_000, eventNanoseconds: 1_512_000_000) == 1_510_000_000)
    }

    @Test func eventsThatAreLateForASecondAreNot() {
        var counter = MicrosecondCounter()
        #expect(counter.stamp(0, eventNanoseconds: 1_000_000_000) == 1_000_000_000)
        // The counter stood still for 0.3 s, of which it knows nothing.
        let lateness = (1...120).map { frame in
            let time = 1_300_000_000 + Int64(frame) * 10_000_000
            return time - counter.stamp(UInt32(frame) * 10_000, eventNanoseconds: time)
        }
        #expect(lateness.prefix(101).allSatisfy { $0 == 300_000_000 } && lateness.dropFirst(101).allSatisfy { $0 == 0 })
    }

    @Test func identitiesOutliveNumbers() {
        let parent = "/sys/devices/virtual/misc/uhid"
        let first = "\(parent)/0018:1209:5E45.0001/HID-SENSOR-200073.2.auto/iio:device0"
        let again = "\(parent)/0018:1209:5E45.000A/HID-SENSOR-200073.17.auto/iio:device12"
        #expect(
            DeviceIdentity.text(path: first, name: "accel_3d") == DeviceIdentity.text(path: again, name: "accel_3d"))
        let other = "\(parent)/0018:1209:5E46.0001/HID-SENSOR-200073.2.auto/iio:device0"
        #expect(
            DeviceIdentity.text(path: first, name: "accel_3d") != DeviceIdentity.text(path: other, name: "accel_3d"))
        #expect(DeviceIdentity.text(path: first, name: "accel_3d") != DeviceIdentity.text(path: first, name: "magn_3d"))
        // An address on a bus is a place and stays.
        let left = DeviceIdentity.text(path: "/sys/devices/pci0000:00/i2c-1/1-0018/iio:device0", name: "lis3dh")
        let right = DeviceIdentity.text(path: "/sys/devices/pci0000:00/i2c-1/1-0019/iio:device1", name: "lis3dh")
        #expect(left != right)
        #expect(
            DeviceIdentity.text(path: "/sys/devices/virtual/input/input3/event4", name: "a")
                == DeviceIdentity.text(path: "/sys/devices/virtual/input/input9/event2", name: "a"))
    }

    @Test(
        arguments: [
            // The sensor's axes are the device's.
            ("1, 0, 0; 0, 1, 0; 0, 0, 1", SensorSettings.Acceleration.specificForce),
            ("1, 0, 0; 0, 1, 0; 0, 0, 1", .gravity),
            ("0, -1, 0; 1, 0, 0; 0, 0, 1", .specificForce),
            ("0, 0, 1; 1, 0, 0; 0, 1, 0", .gravity),
            ("-1, 0, 0; 0, -1, 0; 0, 0, 1", .gravity),
            ("0.707, -0.707, 0; 0.707, 0.707, 0; 0, 0, 1", .specificForce),
        ] as [(String, SensorSettings.Acceleration)])
    func theGuideFindsSignAndMatrix(text: String, acceleration: SensorSettings.Acceleration) throws {
        let matrix = try MountMatrix(text)
        var solver = MountSolver()
        // What a sensor that sits so reads: the turn back, with its sign, a little noise and an offset of 2 %.
        let up: [(MountSolver.Pose, [Double])] = [
            (.flat, [0, 0, 1]), (.leftDown, [1, 0, 0]), (.rightDown, [-1, 0, 0]), (.topDown, [0, -1, 0]),
            (.bottomDown, [0, 1, 0]),
        ]
        let sign: Double = acceleration == .gravity ? -1 : 1
        for (number, (pose, direction)) in up.enumerated() {
            var raw = [0.0, 0.0, 0.0]
            for axis in 0..<3 {
                for row in 0..<3 { raw[axis] += sign * 9.80665 * matrix.elements[row * 3 + axis] * direction[row] }
            }
            let noise = 0.05 * Double(number - 2)
            solver.add(pose, x: raw[0] + noise, y: raw[1] - noise, z: raw[2] + 0.2)
        }
        let solution = try #require(solver.solve())
        #expect(solution.acceleration == acceleration)
        #expect(zip(solution.matrix.elements, matrix.elements).allSatisfy { abs($0 - $1) < 0.03 })
        #expect(solution.worstDegrees < 3)
        // Users of the hardware database expect gravity's sign: its matrix makes −g of up.
        var down = 0.0
        for axis in 0..<3 {
            down += solution.hardwareDatabaseMatrix.elements[6 + axis] * matrix.elements[6 + axis] * sign * 9.80665
        }
        #expect(abs(down + 9.80665) < 0.5)
    }

    @Test(
        arguments: [
            ("1, 0, 0; 0, 1, 0; 0, 0, 1", 1), ("1, 0, 0; 0, 1, 0; 0, 0, -1", 1), ("0, 1, 0; 1, 0, 0; 0, 0, 1", 1),
            ("-1, 0, 0; 0, -1, 0; 0, 0, -1", 1), ("1, 0, 0; 0, 1, 0; 0, 0, 1", 180 / Double.pi),
            ("0, 0, -1; 1, 0, 0; 0, 1, 0", Double.pi / 180),
        ] as [(String, Double)])
    func theGuideFindsTheGyroscopesAxesAndScale(text: String, scale: Double) throws {
        let matrix = try MountMatrix(text)
        var solver = TurnSolver()
        // Quarter turns by hand, which are never exact, as a gyroscope that sits so measures them.
        let turns: [(TurnSolver.Turn, SIMD3<Double>)] = [
            (.counterClockwise, [0.05, -0.1, 1.5]), (.ontoBottom, [1.7, 0.1, 0]), (.ontoLeft, [-0.1, -1.4, 0.1]),
        ]
        for (turn, angle) in turns {
            var raw = SIMD3<Double>.zero
            for axis in 0..<3 { for row in 0..<3 { raw[axis] += matrix.elements[row * 3 + axis] * angle[row] } }
            try solver.add(turn, radians: raw / scale)
        }
        let solution = try #require(solver.solve())
        #expect(solution.scale == scale)
        #expect(zip(solution.matrix.elements, matrix.elements).allSatisfy { abs($0 / scale - $1) < 1e-9 })
    }

    @Test func whatIsNoQuarterTurnIsRefused() {
        var solver = TurnSolver()
        #expect(throws: TurnSolver.Flaw.noTurn) { try solver.add(.ontoLeft, radians: [0, 0.001, 0]) }
        #expect(throws: TurnSolver.Flaw.oblique) { try solver.add(.ontoLeft, radians: [1, 1, 0]) }
        #expect(solver.solve() == nil)
    }

    @Test func posesThatAreAllAlikeTellNothing() {
        var solver = MountSolver()
        #expect(solver.solve() == nil)
        for pose in MountSolver.Pose.allCases { solver.add(pose, x: 0, y: 0, z: 9.8) }
        #expect(solver.solve() == nil)
    }
}
