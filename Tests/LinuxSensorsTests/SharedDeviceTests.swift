import Binnacle
import LinuxSensors
import LinuxSystem
import TestSupport
import Testing

/// A magnetometer on the accelerometer's chip, for which the configuration has a section of its own.
@Suite struct SharedDeviceTests {
    /// A chip with an accelerometer and a magnetometer in one buffer.
    private func addChip(_ tree: FifoTree, magneticScale: String = "0.0015") throws -> FifoNode {
        let node = try #require(try tree.addDevice(0, name: "lsm303", scale: "0.000598550"))
        try tree.moveAccelerometer(0, toIndex: 0)
        try tree.addAxes(0, "in_magn", index: 3, scale: magneticScale)
        return node
    }

    private func scan(_ force: [Int16], _ field: [Int16], _ time: Int64) -> [UInt8] {
        FifoTree.scan(force + field, timeNanoseconds: time)
    }

    private func any(
        _ name: String, _ kind: SampleKind, settings: SensorSettings = SensorSettings()
    ) -> SensorRequest {
        SensorRequest(sensor: Sensor(name: name), kinds: [kind], interface: nil, settings: settings)
    }

    private func count(_ kind: SampleKind, _ run: LiveRun) -> Int {
        zip(run.streams, run.samples).first { $0.0.kind == kind }?.1.count ?? 0
    }

    private func isOn(_ tree: FifoTree, _ channel: String, of number: Int = 0) -> Bool {
        (try? tree.text(tree.folder(number) + "/buffer0/\(channel)_en")) == "1"
    }

    private func isEnabled(_ tree: FifoTree, _ number: Int = 0) -> Bool {
        (try? tree.text(tree.folder(number) + "/buffer0/enable")) == "1"
    }

    @Test(arguments: [false, true])
    func oneChipServesBothSections(compassFirst: Bool) throws {
        let tree = try FifoTree()
        let node = try addChip(tree)
        let requests = [any("chassis", .accelerometer), any("compass", .magnetometer)]
        let run = try LiveRun(compassFirst ? requests.reversed() : requests, tree)
        try run.turn("the buffer") { _ in isEnabled(tree) }
        #expect(isOn(tree, "in_accel_x") && isOn(tree, "in_magn_z"))
        let start = monotonicNow()
        for number in 0..<20 {
            try node.write(scan([1, 2, 16384], [Int16(number), -100, 200], start + Int64(number) * 10_000_000))
        }
        try run.turn("20 samples of each") { $0.samples.allSatisfy { $0.count == 20 } }
        for (stream, samples) in zip(run.streams, run.samples) {
            #expect(stream.sensor.name == (stream.kind == .magnetometer ? "compass" : "chassis"))
            #expect(stream.sensor.authorizationStatus == .authorized)
            if stream.kind == .magnetometer {
                // Its iron is kept under it although no gyroscope was opened.
                let known = MountedSensor(device: try tree.finder.devices()[0].id, axes: "1, 0, 0; 0, 1, 0; 0, 0, 1")
                #expect(stream.sensor.magnetometerDevice == known && stream.sensor.gyroscopeDevice == nil)
                // 0.0015 gauss are 0.15 µT.
                for (number, sample) in samples.enumerated() {
                    #expect(abs(sample.x - Float(number) * 0.15) < 1e-4 && abs(sample.y + 15) < 1e-4)
                }
            }
        }
        #expect(run.notices == ["compass: read from 'lsm303', the device of 'chassis'"])
        #expect(run.events.isEmpty)
    }

    @Test func aMagnetometerOfItsOwnIsTaken() throws {
        let tree = try FifoTree()
        let chip = try addChip(tree)
        let own = try #require(try tree.addDevice(1, name: "mag", prefix: "in_magn"))
        defer { withExtendedLifetime(chip) {} }
        let run = try LiveRun([any("chassis", .accelerometer), any("compass", .magnetometer)], tree)
        try run.turn("both buffers") { _ in isEnabled(tree) && isEnabled(tree, 1) }
        try own.write(FifoNode.scan(1, 2, 3, monotonicNow()))
        try run.turn("a field") { count(.magnetometer, $0) == 1 }
        #expect(!isOn(tree, "in_magn_x") && run.notices.isEmpty && run.events.isEmpty)
    }

    /// The base of a laptop turns without the lid, in which its compass is.
    @Test(arguments: [false, true])
    func aHeadingHasTheAccelerometerBesideItsMagnetometer(compassFirst: Bool) throws {
        let tree = try FifoTree()
        var nodes: [FifoNode] = []
        for (number, place) in ["base", "lid", "lid"].enumerated() {
            let prefix = number == 2 ? "in_magn" : "in_accel"
            nodes.append(try #require(try tree.addDevice(number, name: "cros-ec-\(number)", prefix: prefix)))
            try tree.set(tree.folder(number) + "/location", place)
        }
        defer { withExtendedLifetime(nodes) {} }
        let requests = [any("chassis", .accelerometer), any("compass", .magnetometer)]
        let run = try LiveRun(compassFirst ? requests.reversed() : requests, tree)
        try run.turn("both buffers") { _ in isEnabled(tree, 1) && isEnabled(tree, 2) }
        #expect(!isEnabled(tree, 0))
        let alone = try LiveRun([any("chassis", .accelerometer)], tree)
        try alone.turn("the first one, without a compass") { _ in isEnabled(tree, 0) }
    }

    /// Two sections that want different things of one device cannot share it.
    @Test func aSectionWithAMatrixOfItsOwnDoesNotShare() throws {
        let tree = try FifoTree()
        let node = try addChip(tree)
        defer { withExtendedLifetime(node) {} }
        var settings = SensorSettings()
        settings.mountMatrix = try MountMatrix("0, 1, 0; 1, 0, 0; 0, 0, -1")
        let compass = any("compass", .magnetometer, settings: settings)
        let run = try LiveRun([any("chassis", .accelerometer), compass], tree)
        try run.turn("a failure of the compass") { $0.events.count == 1 }
        #expect(run.events[0].sensor == "compass")
        #expect(run.events[0].json.contains("no free device has a magnetometer"))
        #expect(!isOn(tree, "in_magn_x"))
    }

    /// A magnetometer that cannot be used is told, and costs the accelerometer nothing.
    @Test func aMagnetometerThatCannotBeUsedFailsAlone() throws {
        let tree = try FifoTree()
        let node = try addChip(tree, magneticScale: "0")
        let run = try LiveRun([any("chassis", .accelerometer), any("compass", .magnetometer)], tree)
        try run.turn("the buffer, and a failure of the compass") { isEnabled(tree) && $0.events.count == 1 }
        #expect(run.events[0].sensor == "compass")
        try node.write(FifoNode.scan(1, 2, 16384, monotonicNow()))
        try run.turn("a force") { count(.accelerometer, $0) == 1 }
        #expect(run.notices.contains { $0.contains("its magnetometer cannot be used") })
    }

    /// A reload that adds the magnetometer's section opens the device again with it, and one that removes it, without.
    @Test func aReloadAddsAndRemovesTheMagnetometer() throws {
        let tree = try FifoTree()
        let node = try addChip(tree)
        let (chassis, compass) = (any("chassis", .accelerometer), any("compass", .magnetometer))
        let source = try LiveSource([chassis], finder: tree.finder, waker: try Waker())
        var delivery = SampleDelivery(streams: source.streams, capacity: 64)
        func turn(_ comment: Comment, until isEnough: () throws -> Bool) rethrows {
            for _ in 0..<6000 where try !isEnough() {
                if case .pending = source.fill(delivery) { source.wait(timeoutMilliseconds: 10) }
            }
            #expect(try isEnough(), comment)
        }
        func count(_ kind: SampleKind) -> Int {
            zip(source.streams, delivery.batches).first { $0.0.kind == kind }?.1.count ?? 0
        }
        turn("the accelerometer") { isEnabled(tree) && source.hasScans }
        #expect(!isOn(tree, "in_magn_x"))

        source.change([chassis, compass])
        delivery = SampleDelivery(streams: source.streams, capacity: 64)
        turn("both") { isEnabled(tree) && isOn(tree, "in_magn_x") && source.hasScans }
        try node.write(scan([1, 2, 16384], [4, 5, 6], monotonicNow()))
        turn("a sample of each") { count(.accelerometer) == 1 && count(.magnetometer) == 1 }

        source.change([chassis])
        delivery = SampleDelivery(streams: source.streams, capacity: 64)
        turn("the accelerometer alone") { isEnabled(tree) && !isOn(tree, "in_magn_x") && source.hasScans }
        try node.write(FifoNode.scan(1, 2, 16384, monotonicNow()))
        turn("a sample") { count(.accelerometer) == 1 }

        // The magnetometer takes the device that the other section has left, and gives it up when that is wanted again.
        source.change([compass])
        delivery = SampleDelivery(streams: source.streams, capacity: 64)
        turn("the magnetometer alone") {
            isEnabled(tree) && !isOn(tree, "in_accel_x") && isOn(tree, "in_magn_x") && source.hasScans
        }
        source.change([compass, chassis])
        delivery = SampleDelivery(streams: source.streams, capacity: 64)
        turn("both again") { isEnabled(tree) && isOn(tree, "in_accel_x") && isOn(tree, "in_magn_x") && source.hasScans }
        try node.write(scan([1, 2, 16384], [4, 5, 6], monotonicNow()))
        turn("a sample of each again") { count(.accelerometer) == 1 && count(.magnetometer) == 1 }
    }
}
