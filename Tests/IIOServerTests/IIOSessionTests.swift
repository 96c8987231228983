import Binnacle
import Glibc
import IIOServer
import LinuxSystem
import Testing

/// Devices whose scans are those of a test.
private final class PlayedDevices: IIOSource, IIOFeed {
    let summary = "a < \"b\" & c"
    var batches: [[IIOScan]] = []
    var failure: IIOFailure?
    /// Whether the failure is thrown only once, as by a connection that is closed behind it.
    var failsOnce = false
    var lostCount = 0
    private(set) var pollCount: Int32 = 0
    var all = [IIODevice("lid", .samples(.accelerometer)), IIODevice("<&>\"\u{7}", .attitude)]

    func devices() throws(IIOFailure) -> [IIODevice] { all }
    func open(_ device: IIODevice) throws(IIOFailure) -> any IIOFeed { self }
    func latest(_ device: IIODevice, until deadline: Int64, isWanted: () -> Bool) throws(IIOFailure) -> IIOScan {
        pollCount += 1
        return IIOScan(timeNanoseconds: 0, values: SIMD4(repeating: pollCount))
    }
    func attribute(_ name: String, of device: IIODevice) throws(IIOFailure) -> String { "\(device.owner) \(name)" }
    func next(until deadline: Int64) throws(IIOFailure) -> [IIOScan] {
        guard batches.isEmpty else { return batches.removeFirst() }
        guard let found = failure else { return [] }
        if failsOnce { failure = nil }
        throw found
    }
    func removeLost() -> Int {
        defer { lostCount = 0 }
        return lostCount
    }
}

@Suite struct IIOSessionTests {
    /// What a client gets that sends a text and leaves, and what the server reports.
    private func answers(
        _ text: String, _ devices: PlayedDevices = PlayedDevices(), admits: Bool = true, stays: Bool = false,
        patience: Int64 = IIOLimits.firstRequest
    ) throws -> (bytes: [UInt8], notes: [String]) {
        var (ours, theirs): ([Int32], [Int32]) = ([0, 0], [0, 0])
        try #require(pipe(&ours) == 0 && pipe(&theirs) == 0)
        let (input, client) = (Descriptor(owning: ours[0]), Descriptor(owning: theirs[0]))
        var (feed, output): (Descriptor?, Descriptor?) = (Descriptor(owning: ours[1]), Descriptor(owning: theirs[1]))
        try writeAll(Array(text.utf8), to: ours[1])
        // The end of the input is that of the session.
        if !stays { feed = nil }
        var notes: [String] = []
        IIOSession(PeerStream(input: input.raw, output: theirs[1]), devices, patience: patience, admit: { admits }) {
            notes.append("\($0)")
        }.serve()
        withExtendedLifetime((feed, output)) {}
        output = nil
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = read(client.raw, &piece, piece.count), count > 0 { bytes += piece[..<count] }
        return (bytes, notes)
    }

    private func text(_ text: String, _ devices: PlayedDevices = PlayedDevices()) throws -> String {
        String(decoding: try answers(text, devices).bytes, as: UTF8.self)
    }

    @Test func nothingCanBeChanged() throws {
        #expect(
            try text(
                "WRITE lid-accel x 4\n1234WRITE lid-accel INPUT accel_x scale 0\nWRITEBUF lid-accel 9\nSETTRIG lid-accel t\nVERSION\n"
            )
                == "-30\n-30\n-30\n-30\n0.24.binnacl\n")
    }

    @Test func theContextHasItsLengthAndEscapes() throws {
        let answer = try text("PRINT\nEXIT\nVERSION\n")
        let lines = answer.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3 && Int(lines[0]) == lines[1].utf8.count)
        #expect(lines[1].contains(#"description="a &lt; &quot;b&quot; &amp; c""#))
        #expect(lines[1].contains(##"<device id="iio:device1" name="&lt;&amp;&gt;&quot;\u{7}-rot""##))
        #expect(lines[1].contains(#"<scan-element index="0" format="le:S16/16X4&gt;&gt;0" scale="0.00003125" />"#))
    }

    /// libiio opens a device on a connection of its own, by the number that the first one has shown.
    @Test func aDeviceThatComesLaterTakesNoOtherOnesNumber() throws {
        let devices = PlayedDevices()
        let present = PlayedDevices().all[0]
        devices.all = [IIODevice("lid", .samples(.gyroscope), isPresent: false), present]
        let context = try text("PRINT\n", devices)
        #expect(!context.contains("iio:device0") && context.contains(#"<device id="iio:device1" name="lid-accel""#))
        #expect(try text("READ iio:device0 INPUT anglvel_x raw\n", devices) == "-19\n")
        #expect(try text("READ lid-anglvel INPUT anglvel_x raw\n", devices) == "-19\n")
        #expect(try text("READ iio:device1 INPUT accel_x raw\n", devices) == "2\n1\u{0}\n")
    }

    @Test func axesThatAreReadTogetherAreOfOneScan() throws {
        let read = { (axis: String) in "READ iio:device0 INPUT accel_\(axis) raw\n" }
        #expect(
            try text(["x", "y", "z", "x", "x"].map(read).joined())
                == ["1", "1", "1", "2", "3"].map { "2\n\($0)\u{0}\n" }.joined())
        #expect(try text("READ iio:device1 INPUT rot_quaternion raw\n") == "8\n1 1 1 1\u{0}\n")
        #expect(try text("READ iio:device0 sampling_frequency\n") == "23\nlid sampling_frequency\u{0}\n")
    }

    @Test func aBufferIsSentInPiecesAndItsEndIsTold() throws {
        let devices = PlayedDevices()
        let scans = (1...5).map { IIOScan(timeNanoseconds: Int64($0), values: SIMD4(Int32($0), -1, 7, 0)) }
        devices.batches = [Array(scans[..<3]), Array(scans[3...])]
        devices.failure = .ended
        devices.lostCount = 4
        let read = "READBUF iio:device0 32\n"
        let found = try answers("OPEN iio:device0 2 00000005\n\(read)\(read)\(read)CLOSE iio:device0\n", devices)
        func bytes(_ scans: ArraySlice<IIOScan>) -> [UInt8] {
            scans.flatMap { scan in
                [scan.values[0], scan.values[2]].flatMap { value in
                    withUnsafeBytes(of: value.littleEndian) { Array($0) }
                }
            }
        }
        let mask = Array("00000005\n".utf8)
        let wanted =
            Array("0\n24\n".utf8) + mask + bytes(scans[..<3]) + Array("8\n".utf8) + bytes(scans[3..<4])
            + Array("8\n".utf8) + mask + bytes(scans[4...]) + Array("0\n-61\n0\n".utf8)
        #expect(found.bytes == wanted)
        #expect(found.notes == ["lost(4)"])
    }

    @Test func aQuaternionHasSixteenBitsBeforeTheStamp() throws {
        let devices = PlayedDevices()
        devices.batches = [[devices.all[1].scan(0x0102, x: 0.5, y: 0, z: -1, w: 1)]]
        let found = try answers("OPEN iio:device1 2 00000003\nREADBUF iio:device1 16\n", devices)
        #expect(
            found.bytes == Array("0\n16\n00000003\n".utf8)
                + [0x80, 0x3E, 0, 0, 0, 0x83, 0, 0x7D, 0x02, 0x01, 0, 0, 0, 0, 0, 0])
    }

    @Test func whatIsNoWholeScanEndsTheAnswer() throws {
        let devices = PlayedDevices()
        devices.batches = [[IIOScan(timeNanoseconds: 1, values: SIMD4(repeating: 1))]]
        let found = try answers("OPEN iio:device0 2 00000001\nREADBUF iio:device0 7\n", devices)
        #expect(found.bytes == Array("0\n4\n00000001\n".utf8) + [1, 0, 0, 0] + Array("0\n".utf8))
    }

    @Test func aFailureWithinAnAnswerIsToldByTheNext() throws {
        let devices = PlayedDevices()
        devices.batches = [[IIOScan(timeNanoseconds: 1, values: SIMD4(repeating: 1))]]
        (devices.failure, devices.failsOnce) = (.noDevice, true)
        let read = "READBUF iio:device0 8\n"
        let found = try answers("OPEN iio:device0 2 00000001\n\(read)\(read)CLOSE iio:device0\n", devices)
        #expect(found.bytes == Array("0\n4\n00000001\n".utf8) + [1, 0, 0, 0] + Array("0\n-19\n0\n".utf8))
    }

    @Test func aClientThatWaitsInVainIsToldInTime() throws {
        let request = "TIMEOUT 1\nOPEN iio:device0 2 0000000f\nREADBUF iio:device0 48\nEXIT\n"
        #expect(String(decoding: try answers(request, stays: true).bytes, as: UTF8.self) == "0\n0\n-110\n")
        // One that has left is not waited for.
        #expect(try text("TIMEOUT 0\nOPEN iio:device0 2 0000000f\nREADBUF iio:device0 48\n") == "0\n0\n")
    }

    @Test(arguments: ["", "\n", "VERS", "nothing\n"])
    func aClientThatAsksNothingGivesItsPlaceBack(text: String) throws {
        #expect(try answers(text, stays: true, patience: 0).notes == ["silent"])
        #expect(try answers("VERSION\nEXIT\n", stays: true, patience: 0).notes.isEmpty)
    }

    @Test func whatIsNoRequestEndsAClient() throws {
        let found = try answers(String(repeating: "GET / HTTP/1.1\n", count: 20))
        #expect(String(decoding: found.bytes, as: UTF8.self) == String(repeating: "-22\n", count: 15))
        #expect(found.notes == ["notUnderstood"])
        let long = try answers(String(repeating: "a", count: 5000) + "\nVERSION\n")
        #expect(String(decoding: long.bytes, as: UTF8.self) == "-7\n" && long.notes == ["notUnderstood"])
        #expect(try answers("VERSION\n", admits: false).bytes.isEmpty)
        #expect(try text("WRITE lid-accel x 65537\nVERSION\n") == "")
        #expect(try text("VERSION") == "")
    }

    @Test func scansAreAlignedAsTheKernelDoes() throws {
        let accel = IIODevice("lid", .samples(.accelerometer))
        for (mask, places, size) in [
            (1, [0], 4), (5, [0, 4], 8), (7, [0, 4, 8], 12), (8, [0], 8), (9, [0, 8], 16), (15, [0, 4, 8, 16], 24),
        ] {
            let layout = try accel.layout(UInt32(mask))
            #expect(layout.places.map(\.1) == places && layout.size == size)
        }
        let attitude = IIODevice("hull", .attitude)
        #expect(try attitude.layout(3).places.map(\.1) == [0, 8])
        #expect(try attitude.layout(3).size == 16)
        // Releases of libiio align and round differently what is longer than the stamp.
        #expect((accel.channels + attitude.channels).allSatisfy { $0.size <= 8 })
        #expect(throws: IIOFailure.malformed) { try accel.layout(16) }
        #expect(throws: IIOFailure.malformed) { try accel.layout(0) }
    }

    @Test func valuesAreInUnitsOfIIO() {
        let sample = Sample(timeNanoseconds: 1, x: 9.80665, y: .nan, z: -1e30)
        #expect(IIODevice("a", .samples(.accelerometer)).scan(sample).values == SIMD4(9_806_650, .min, -.max, 0))
        // 50 µT are 0.5 Gauss.
        let field = Sample(timeNanoseconds: 1, x: 50, y: -0.01, z: 0)
        #expect(IIODevice("a", .samples(.magnetometer)).scan(field).values == SIMD4(5_000_000, -1000, 0, 0))
        #expect(
            IIODevice("a", .attitude).scan(1, x: 0, y: 0, z: -1, w: 0.5).values
                == SIMD4(0, 0, -32_000, 16_000))
    }
}
