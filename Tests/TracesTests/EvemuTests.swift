import Binnacle
import Glibc
import Testing
import Traces

/// A recording of a device with 10, 100 and 1000 units per g on its axes.
private let head = """
    # EVEMU 1.3
    # Kernel: 6.12.0
    # Input device name: "box"
    N: box
    I: 0018 0000 0000 0000
    P: 40 00 00 00 00 00 00 00
    B: 03 07 00 00 00 00 00 00 00
    A: 00 -4096 4096 0 0 10
    A: 01 -4096 4096 0 0 100 # ABS_Y
    A: 02 -4096 4096 0 0 1000
    A: 03 -4096 4096 0 0 0
    ################################
    #      Waiting for events      #

    """
private let firstFrame = """
    E: 1.000001 0003 0000 0010\t# EV_ABS / ABS_X                10
    E: 1.000001 0003 0001 -050\t# EV_ABS / ABS_Y                -50
    E: 1.000001 0003 0002 2000\t# EV_ABS / ABS_Z                2000
    E: 1.000001 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +0ms

    """

private let g: Float = 9.80665

extension String {
    /// The text with the line that begins so replaced.
    fileprivate func replacingLine(_ beginning: String, with line: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).map { $0.hasPrefix(beginning) ? line : String($0) }
            .joined(separator: "\n")
    }
}

@Suite struct EvemuTests {
    /// What comes after the head and a first frame with 1 g, -0.5 g, 2 g.
    private func read(_ events: String, capacity: Int = 4096) throws -> (samples: [Sample], source: TraceSource) {
        let file = try TemporaryFile(head + firstFrame + events)
        let source = try TraceSource(paths: [file.path])
        let collected = Collected(source, capacity: capacity)
        #expect(collected.failures.isEmpty)
        return (collected.samples[0], source)
    }

    private func sample(_ microseconds: Int64, _ x: Float, _ y: Float, _ z: Float) -> Sample {
        Sample(timeNanoseconds: microseconds * 1000, x: x * g, y: y * g, z: z * g)
    }

    @Test(arguments: [1, 7, 4096])
    func aReportMakesASampleOfWhatHoldsNow(capacity: Int) throws {
        let (samples, source) = try read(
            """
            E: 1.010001 0003 0001 0100
            E: 1.010001 0000 0000 0000
            E: 1.020001 0003 0000 -020
            E: 1.020001 0003 0003 4000
            E: 1.020001 0004 0005 123456
            E: 1.020001 0000 0000 0000
            # Closing after 10s inactivity

            """, capacity: capacity)
        #expect(samples == [sample(1_000_001, 1, -0.5, 2), sample(1_010_001, 1, 1, 2), sample(1_020_001, -2, 1, 2)])
        #expect(source.streams.map(\.kind) == [.accelerometer])
        #expect(source.streams.map(\.sensor.name) == ["box"])
        #expect(source.repairs.isEmpty)
    }

    /// A controller's frames: the gyroscope has resolutions of its own, and joins once each of its axes has changed.
    @Test(arguments: [1, 7, 4096])
    func theGyroscopeIsInTheFramesOfTheAccelerometer(capacity: Int) throws {
        let controller = head.replacingLine(
            "A: 03", with: "A: 03 -32768 32767 0 0 16\nA: 04 -32768 32767 0 0 32\nA: 05 -32768 32767 0 0 64")
        let file = try TemporaryFile(
            controller + firstFrame + """
                E: 1.010001 0003 0003 0160
                E: 1.010001 0003 0004 -320
                E: 1.010001 0003 0005 6400
                E: 1.010001 0000 0000 0000
                E: 1.020001 0003 0000 0020
                E: 1.020001 0000 0000 0000

                """)
        let source = try TraceSource(paths: [file.path])
        #expect(source.streams.map(\.kind) == [.gyroscope, .accelerometer])
        let collected = Collected(source, capacity: capacity)
        let turn = Float(Double.pi / 180)
        let rates = collected.samples[0]
        #expect(rates.map(\.timeNanoseconds) == [1_010_001_000, 1_020_001_000])
        #expect(rates.allSatisfy { abs($0.x - 10 * turn) < 1e-6 && abs($0.y + 10 * turn) < 1e-6 })
        #expect(rates.allSatisfy { abs($0.z - 100 * turn) < 1e-5 })
        #expect(collected.samples[1].count == 3)
        #expect(source.streams.allSatisfy { $0.sensor.name == "box" })
    }

    /// Without resolutions a gyroscope's counts mean nothing, and without the property the axes are a joystick's.
    @Test(arguments: [("P: 40", "16", "0", 1), ("P: 00", "16", "16", 1)])
    func aGyroscopeThatCannotBeReadIsTold(property: String, first: String, last: String, noticeCount: Int) throws {
        let text = head.replacingLine("P: 40", with: "\(property) 00 00 00 00 00 00 00").replacingLine(
            "A: 03", with: "A: 03 0 1 0 0 \(first)\nA: 04 0 1 0 0 16\nA: 05 0 1 0 0 \(last)")
        let recording = try TemporaryFile(text + firstFrame)
        let file = try TraceFile(path: recording.path)
        #expect(file.contents.map(\.kind) == [.accelerometer])
        #expect(file.notices.count == noticeCount, "\(file.notices)")
    }

    @Test func framesWithoutAnAxisMakeNoSample() throws {
        let (samples, source) = try read(
            """
            E: 1.010001 0000 0000 0000
            E: 1.020001 0004 0005 20000
            E: 1.020001 0000 0000 0000
            E: 1.030001 0003 0004 7
            E: 1.030001 0000 0002 0000
            E: 1.030001 0000 0000 0000

            """)
        #expect(samples.count == 1)
        #expect(source.repairs.isEmpty)
    }

    @Test func stampsAreExact() throws {
        let file = try TemporaryFile(
            head + firstFrame.replacing("1.000001", with: "1700000000.123456") + "E: 1700000000.123457 0003 0000 0011\n"
                + "E: 1700000000.123457 0000 0000 0000\n")
        let samples = Collected(try TraceSource(paths: [file.path])).samples[0]
        #expect(samples.map(\.timeNanoseconds) == [1_700_000_000_123_456_000, 1_700_000_000_123_457_000])
    }

    @Test func lostEventsTakeTheirFrameAndNoOther() throws {
        let (samples, source) = try read(
            """
            E: 1.010001 0003 0000 0020
            E: 1.010001 0000 0003 0000
            E: 1.010001 0003 0001 0200
            E: 1.010001 0000 0000 0000
            E: 1.020001 0003 0002 3000
            E: 1.020001 0000 0000 0000

            """)
        // The values that came are the axes' values all the same: the device does not repeat them.
        #expect(samples.dropFirst() == [sample(1_020_001, 2, 2, 3)])
        #expect(source.repairs.counts == [.dropped: 1])
        #expect(source.repairs.notices.map(\.line) == [19])
    }

    @Test(
        arguments: [
            ("E: 1.010001 0003 0000", 22), ("E: 1.010001 0003 0000 12x", 23), ("E: 1.010001 0003 0000 2147483648", 23),
            ("E: 1.010001 0003 0000 99999999999999999999", 23), ("E: 1.010001 0003 zz 1", 18), ("E: x 0003 0000 1", 4),
            ("E: 1.2.3 0003 0000 1", 4), ("E: 1.010001 00003 0000 1", 13), ("E: 1.010001 0003 0000 1 2", 25),
            ("E: 1.010001", 12), ("E:", 3), ("E", 1), ("rubbish", 1), ("F: 1.010001 0003 0000 1", 1), ("\u{0}", 1),
            ("E: 99999999999.000000 0003 0000 1", 4), ("E: 1.010001 0003 0000 --1", 23),
            ("A: 00 -4096 4096 0 0 20", 1),
        ] as [(String, Int)])
    func aDamagedLineTakesItsFrame(line: String, column: Int) throws {
        let (samples, source) = try read(
            line + "\nE: 1.010001 0003 0001 0200\nE: 1.010001 0000 0000 0000\n"
                + "E: 1.020001 0003 0002 3000\nE: 1.020001 0000 0000 0000\n")
        #expect(samples.dropFirst() == [sample(1_020_001, 1, 2, 3)])
        #expect(source.repairs.counts == [.damaged: 1])
        #expect(source.repairs.notices.map(\.line) == [18])
        #expect(source.repairs.notices.map(\.column) == [column])
    }

    @Test func hostileNumbersDoNoHarm() throws {
        let (samples, source) = try read(
            """
            E: 1.010001 0003 0000 -2147483648
            E: 1.010001 0000 0000 0000
            E: 1.020001 ffff ffff 2147483647
            E: 1.020001 0003 0000 1
            E: 1.020001 0003 0000 2
            E: 1.020001 0000 0000 0000
            E: -5.000000 0003 0000 3
            E: -5.000000 0000 0000 0000

            """)
        #expect(samples.dropFirst() == [sample(1_020_001, 0.2, -0.5, 2)])
        #expect(source.repairs.counts == [.beyondSensors: 1, .backwards: 1])
    }

    @Test func timeThatStepsBackOrJumpsIsTreatedAsInOtherTraces() throws {
        func frames(_ seconds: [Int]) -> String {
            seconds.enumerated().map {
                "E: \($1).000000 0003 0000 \($0)\nE: \($1).000000 0000 0000 0000\n"
            }.joined()
        }
        let (samples, source) = try read(frames([2, 99999, 3, 2, 4, 4]))
        #expect(samples.map { $0.timeNanoseconds / 1_000_000_000 } == [1, 2, 3, 4, 4])
        #expect(source.repairs.counts == [.outlier: 1, .backwards: 1, .repeated: 1])
        // A pause that stays is none.
        #expect(try read(frames([2, 99999, 100_000])).source.repairs.isEmpty)
        let file = try TemporaryFile(head + firstFrame + frames((2..<50).map { $0 }) + frames((2..<20).map { $0 }))
        let collected = Collected(try TraceSource(paths: [file.path]))
        let error = try #require(collected.failures.first as? TraceError)
        #expect(error.message.contains("split the file at line 115"), "\(error)")
    }

    @Test func aTornLastLineIsPassedOverWhereverItWasTorn() throws {
        let whole = head + firstFrame
        let last = "E: 1.010001 0003 0000 0020\nE: 1.010001 0000 0000 0000\t# SYN_REPORT\n"
        for count in 0...last.utf8.count {
            let file = try TemporaryFile(whole + last.prefix(count))
            let source = try TraceSource(paths: [file.path])
            let collected = Collected(source)
            #expect(collected.failures.isEmpty)
            #expect(collected.samples[0].count == (count == last.utf8.count ? 2 : 1))
            #expect(source.repairs.counts == (count == 0 || last.prefix(count).hasSuffix("\n") ? [:] : [.torn: 1]))
        }
    }

    @Test func nothingIsMadeUpForAnAxisThatIsNotKnownYet() throws {
        let file = try TemporaryFile(
            head
                + """
                E: 1.000001 0003 0000 0010
                E: 1.000001 0000 0000 0000
                E: 2.000001 0003 0001 0100
                E: 2.000001 0000 0000 0000
                E: 3.000001 0003 0002 1000
                E: 3.000001 0000 0000 0000

                """)
        let source = try TraceSource(paths: [file.path])
        #expect(Collected(source).samples[0] == [sample(3_000_001, 1, 1, 1)])
        #expect(source.repairs.counts == [.unknownAxis: 1])
        #expect(source.repairs.notices.first?.line == 15)
    }

    @Test func aPipeGivesWhatIsThere() throws {
        let pipe = UnusedPath()
        try #require(mkfifo(pipe.path, 0o600) == 0)
        // Both ends, so that opening waits for no other process and the pipe has no end.
        let writer = open(pipe.path, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        func feed(_ text: String) {
            let bytes = Array(text.utf8)
            #expect(write(writer, bytes, bytes.count) == bytes.count)
        }
        feed(head + firstFrame + "E: 1.010001 0003 0000 00")
        let cancellation = Cancellation()
        let file = try TraceFile(path: pipe.path, isCancelled: { cancellation.isRequested })
        let source = TraceSource([(file: file, sensors: [Sensor(name: "s")])])
        let delivery = SampleDelivery(streams: source.streams, capacity: 100)
        func next() -> [Sample] {
            delivery.removeAll()
            #expect(!source.fill(delivery).isEnd)
            return (0..<delivery.batches[0].count).map { delivery.batches[0][$0] }
        }
        #expect(next() == [sample(1_000_001, 1, -0.5, 2)])
        feed("20\nE: 1.010001 0000 0000 0000\n")
        #expect(next() == [sample(1_010_001, 2, -0.5, 2)])
        // Half a frame is no sample, and a cancelled wait is the end.
        feed("E: 1.020001 0003 0000 0030\nE: 1.020001 0000")
        cancellation.isRequested = true
        delivery.removeAll()
        while !source.fill(delivery).isEnd {}
        #expect(delivery.isEmpty)
        #expect(source.repairs.isEmpty)
    }

    private final class Cancellation {
        var isRequested = false
    }
}

@Suite struct EvemuHeadTests {
    private func error(_ text: String) throws -> TraceError {
        let file = try TemporaryFile(text)
        do {
            let collected = Collected(try TraceSource(paths: [file.path]))
            return try #require(collected.failures.first as? TraceError)
        } catch let error as TraceError {
            return error
        }
    }

    @Test(
        arguments: [
            ("A: 01 -4096 4096 0 0 100 # ABS_Y", "A: 01 -4096 4096 0 0", "ABS_Y has no resolution", 9),
            ("A: 01 -4096 4096 0 0 100 # ABS_Y", "A: 01 -4096 4096 0 0 # 100", "ABS_Y has no resolution", 9),
            ("A: 02 -4096 4096 0 0 1000", "A: 02 -4096 4096 0 0 0", "resolution of ABS_Z is 0", 10),
            ("A: 02 -4096 4096 0 0 1000", "A: 02 -4096 4096 0 0 -5", "resolution of ABS_Z is -5", 10),
            ("A: 02 -4096 4096 0 0 1000", "A: 02 -4096 4096 0 0 many", "not a whole number", 10),
            ("A: 02 -4096 4096 0 0 1000", "A: 2z -4096 4096 0 0 1000", "not an axis", 10),
            ("A: 00 -4096 4096 0 0 10\n", "", "describes ABS_X", 12),
            ("# EVEMU 1.3", "# EVEMU 2.0", "format '2.0' is not known", 1),
            ("# EVEMU 1.3", "# EVEMU", "format '' is not known", 1),
        ] as [(String, String, String, Int)])
    func aDescriptionThatSaysTooLittle(original: String, changed: String, message: String, line: Int) throws {
        let error = try error(head.replacing(original, with: changed) + firstFrame)
        #expect(error.category == .data)
        #expect(error.message.contains(message), "\(error)")
        #expect(error.line == line)
    }

    @Test func aResolutionThatIsMissingHasARemedy() throws {
        let old = head.replacing("0 0 1000", with: "0 0")
        #expect(
            try error(old).message.contains("write how many units are one g at the end of the line, 'A: 02 MIN MAX"))
    }

    @Test func aRecordingWithoutASample() throws {
        #expect(try error("# EVEMU 1.3").message.contains("ABS_X"))
        #expect(try error(head).message == "describes a device and has no event")
        let never = try error(
            head + firstFrame.split(separator: "\n").filter { !$0.contains("0003 0002") }.joined(separator: "\n") + "\n"
        )
        #expect(never.line == 10)
        #expect(never.message.contains("no event says what ABS_Z was"))
        let damaged = try error(head + String(repeating: "E: x\n", count: 2000))
        #expect(damaged.message.contains("1000 lines from line 14 on have no usable sample"))
    }

    @Test func whatIsAssumedIsSaid() throws {
        let file = try TemporaryFile(head.replacing("P: 40", with: "P: 00") + firstFrame)
        let notices = try TraceFile(path: file.path).notices
        #expect(notices.map(\.line) == [6])
        #expect(notices.first?.message.contains("INPUT_PROP_ACCELEROMETER") == true)
        let said = try TemporaryFile(head + firstFrame)
        #expect(try TraceFile(path: said.path).notices.isEmpty)
    }

    @Test(arguments: [
        ("N: Sony, \"Motion\"\u{7}; #1", "Sony_ _Motion___ _1"), ("N:", "accelerometer"), ("", "accelerometer"),
    ])
    func theDevicesNameBecomesTheSensors(line: String, name: String) throws {
        let file = try TemporaryFile(head.replacing("N: box", with: line) + firstFrame)
        #expect(try TraceSource(paths: [file.path]).streams.map(\.sensor.name) == [name])
    }

    @Test func recordingsAndOtherTracesAreMerged() throws {
        let recording = try TemporaryFile(head + firstFrame)
        let compass = try TemporaryFile("t_s,mx,my,mz\n0.5,20,0,-40\n1.5,20,0,-40\n")
        let source = try TraceSource(paths: [recording.path, compass.path])
        #expect(Collected(source).order == [0, 1, 0])
    }

    @Test func aCopyWithOtherLineEndsIsTheSame() throws {
        let file = try TemporaryFile("\u{FEFF}" + (head + firstFrame).replacing("\n", with: "\r\n"))
        #expect(Collected(try TraceSource(paths: [file.path])).samples[0].count == 1)
    }
}
