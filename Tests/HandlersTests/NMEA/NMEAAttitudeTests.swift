import Binnacle
import Handlers
import Testing

/// What sentences say of an attitude, to the byte.
@Suite struct NMEAAttitudeTests {
    private func sentences(_ event: Event) -> [String] {
        guard let reading = NavigationReading(event) else { return [] }
        return NMEASentence.allCases.compactMap { $0.text(reading, talker: "II") }
    }

    @Test func anAttitudeFromTrueNorth() {
        let figures = trueYaw(94, declination: -7.1) + [Figure(.tiltAccuracy, .number(1.073, decimals: 3))]
        #expect(
            sentences(attitude(figures)) == [
                "$IIHDG,101.1,,,7.1,W*37\r\n", "$IIHDM,101.1,M*23\r\n", "$IIHDT,94.0,T*1F\r\n",
                "$PASHR,,94.00,T,5.00,3.00,,0.500,0.500,2.000,0*35\r\n", "$IIXDR,A,3.0,D,PITCH,A,5.0,D,ROLL*13\r\n",
            ])
    }

    /// gpsd takes an empty heading for none, others for 0.
    @Test func withoutATrueHeadingThereIsNoPASHR() {
        let figures = [
            Figure(.heading, .number(94, decimals: 2)), Figure(.reference, .word(HeadingReference.magnetic)),
        ]
        #expect(
            sentences(attitude(figures)).map { $0.prefix(6) } == ["$IIHDG", "$IIHDM", "$IIXDR"])
    }

    @Test(arguments: [
        [], [Figure(.heading, .number(94, decimals: 2))],
        [
            Figure(.heading, .number(94, decimals: 2)), Figure(.reference, .word(HeadingReference.relative)),
        ],
    ])
    func aYawFromNoNorthIsNoHeading(figures: [Figure]) {
        #expect(sentences(attitude(figures)) == ["$IIXDR,A,3.0,D,PITCH,A,5.0,D,ROLL*13\r\n"])
    }

    @Test func aVerticalBowHasNoRoll() {
        #expect(sentences(attitude(roll: nil, pitch: 90)) == ["$IIXDR,A,90.0,D,PITCH*1A\r\n"])
    }

    /// In the frame of robots, the nose down is positive.
    @Test func theFrameOfRobotsHasAnotherSignOfPitch() {
        #expect(sentences(attitude(frame: .enu, roll: 5, pitch: -3)) == sentences(attitude()))
    }

    @Test func aTurnIsAboutTheVertical() throws {
        let heading = trueYaw(10, declination: 0)
        // Level, in both frames: 2°/s clockwise.
        for (frame, rates) in [
            (.ned, turning(0, 0, 2, gravity: [0, 0, -9.81])), (.enu, turning(0, 0, -2, gravity: [0, 0, 9.81])),
            // On its starboard side: what points down is the axis to starboard.
            (.ned, turning(0, 2, 0, gravity: [0, -9.81, 0])),
        ] as [(EarthFrame, [Figure])] {
            #expect(sentences(attitude(heading + rates, frame: frame)).contains("$IIROT,120.0,A*25\r\n"), "\(rates)")
        }
        let roll = sentences(attitude(heading + turning(30, 0, 0, gravity: [0, 0, -9.81])))
        #expect(roll.contains("$IIROT,0.0,A*26\r\n"), "a roll is no turn: \(roll)")
    }

    /// What may be off by more than the limit is left out, each by its own accuracy.
    @Test func theLimitIsForHeadingAndVerticalApart() throws {
        let state = NavigationState(accuracyLimitDegrees: 15)
        let receiver = try DatagramReceiver()
        let run = try NavigationRun(.udp, port: receiver.port, accuracyLimitDegrees: 15) { settings, _ in
            settings.sentences = [.hdt, .xdr]
        }
        run.handler.handle(attitude(trueYaw(94, declination: 0, accuracy: 16)))
        try receiver.wait(for: "$HCXDR,A,3.0,D,PITCH,A,5.0,D,ROLL*18\r\n")
        run.handler.handle(
            attitude(trueYaw(94, declination: 0, accuracy: 2) + [Figure(.tiltAccuracy, .number(16, decimals: 1))]))
        try receiver.wait(for: "$HCHDT,94.0,T*14\r\n")
        _ = receiver.takeAll()
        try receiver.wait(for: "$HCHDT,94.0,T*14\r\n")
        #expect(!receiver.takeAll().contains { $0.contains("XDR") })
        #expect(state.statistics.sentCount == 0)
    }

    /// Another kind of event with a heading is no reading of this handler's detector, and a loss of a sensor is one.
    @Test func theRowOfAKindSaysWhoseHeadingItIs() {
        for kind in EventKind.allCases {
            #expect((kind.row.heading != nil) == kind.row.figures.contains(.heading), "\(kind)")
        }
        #expect(EventKind.allCases.filter { $0.row.heading == .body } == [.attitudeChanged])
        #expect(NavigationReading(event(kind: .shock, [Figure(.heading, .number(1, decimals: 1))])) == nil)
    }

    @Test(arguments: [Double.nan, .infinity, 1e300, -181])
    func anglesThatAreNone(degrees: Double) {
        #expect(sentences(attitude(pitch: degrees)).isEmpty)
        #expect(sentences(attitude(roll: degrees)) == ["$IIXDR,A,3.0,D,PITCH*20\r\n"])
    }
}
