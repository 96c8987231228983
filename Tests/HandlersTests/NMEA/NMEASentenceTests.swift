import Binnacle
import Handlers
import Testing

/// What sentences say of a heading, to the byte.
@Suite struct NMEASentenceTests {
    private func sentences(_ figures: [Figure], talker: String = "HC") -> [String] {
        guard let heading = NavigationReading(event(kind: .heading, figures)) else { return [] }
        return NMEASentence.allCases.compactMap { $0.text(heading, talker: talker) }
    }

    private func magnetic(_ degrees: Double) -> [Figure] { [Figure(.heading, .number(degrees, decimals: 1))] }

    private func trueHeading(_ degrees: Double, declination: Double) -> [Figure] {
        magnetic(degrees) + [
            Figure(.reference, .text("true")), Figure(.declination, .number(declination, decimals: 1)),
        ]
    }

    /// The sums stand in manuals of devices and in the tests of other programs.
    @Test(
        arguments: [
            ("HCHDG,101.1,,,7.1,W", "3C"), ("IIHDM,206.7,M", "21"), ("GPHDT,274.07,T", "03"),
            ("HCHDG,98.3,0.0,E,12.6,W", "57"), ("GPGLL,4916.45,N,12311.12,W,225444,A", "31"), ("", "00"),
        ] as [(String, String)])
    func checksums(body: String, sum: String) {
        #expect(NMEASentence.checksum(of: body) == sum)
    }

    @Test func aHeadingFromMagneticNorth() {
        #expect(sentences(magnetic(206.7), talker: "II") == ["$IIHDG,206.7,,,,*4A\r\n", "$IIHDM,206.7,M*21\r\n"])
        #expect(
            sentences(magnetic(206.7) + [Figure(.reference, .text("magnetic"))]) == sentences(magnetic(206.7)),
            "magnetic is what is meant when nothing is said")
    }

    @Test func aHeadingFromTrueNorth() {
        #expect(
            sentences(trueHeading(94, declination: -7.1)) == [
                "$HCHDG,101.1,,,7.1,W*3C\r\n", "$HCHDM,101.1,M*28\r\n", "$HCHDT,94.0,T*14\r\n",
            ])
        #expect(
            sentences(trueHeading(2.0, declination: 4.4)) == [
                "$HCHDG,357.6,,,4.4,E*2E\r\n", "$HCHDM,357.6,M*2E\r\n", "$HCHDT,2.0,T*2B\r\n",
            ])
    }

    @Test(
        arguments: [
            (2.0, "$HCROT,120.0,A*2E\r\n"), (-0.5, "$HCROT,-30.0,A*33\r\n"), (0, "$HCROT,0.0,A*2D\r\n"),
            (-0.0001, "$HCROT,0.0,A*2D\r\n"), (0.0125, "$HCROT,0.8,A*25\r\n"),
        ] as [(Double, String)])
    func aRateOfTurn(degreesPerSecond: Double, text: String) {
        let rate = Figure(.turnRate, .number(degreesPerSecond, decimals: 1))
        #expect(sentences(magnetic(206.7) + [rate]).last == text)
        // Only with a heading, because it is of the same detector.
        #expect(sentences([rate]).isEmpty)
    }

    @Test(arguments: [Double.nan, .infinity, 10_001, -1e300])
    func aRateOfTurnThatCannotBe(degreesPerSecond: Double) {
        let rate = Figure(.turnRate, .number(degreesPerSecond, decimals: 1))
        #expect(sentences(magnetic(206.7) + [rate]).count == 2)
    }

    @Test func withoutADeclinationATrueHeadingIsNoMagneticOne() {
        #expect(sentences(magnetic(94) + [Figure(.reference, .text("true"))]) == ["$HCHDT,94.0,T*14\r\n"])
        let nonsense = trueHeading(94, declination: .nan)
        #expect(sentences(nonsense) == ["$HCHDT,94.0,T*14\r\n"])
    }

    @Test(
        arguments: [
            (0, "0.0"), (-0.0, "0.0"), (0.04, "0.0"), (0.05, "0.1"), (359.94, "359.9"), (359.95, "0.0"),
            (359.96, "0.0"), (360, "0.0"), (360.04, "0.0"), (361.2, "1.2"), (-0.04, "0.0"), (-0.1, "359.9"),
            (-360, "0.0"), (-359.9, "0.1"), (719.9, "359.9"), (-720, "0.0"), (99.95, "100.0"),
            (.leastNonzeroMagnitude, "0.0"),
        ] as [(Double, String)])
    func bearings(degrees: Double, text: String) throws {
        let fields = sentences(magnetic(degrees)).map { $0.split(separator: ",", omittingEmptySubsequences: false)[1] }
        #expect(fields == [text[...], text[...]])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 720.1, -1e9, 1e300, .greatestFiniteMagnitude])
    func numbersThatAreNoHeading(degrees: Double) {
        #expect(sentences(magnetic(degrees)).isEmpty)
        #expect(sentences(trueHeading(degrees, declination: 4)).isEmpty)
    }

    @Test(
        arguments: [
            (0, "0.0,E"), (-0.04, "0.0,E"), (-0.06, "0.1,W"), (180, "180.0,E"), (-179.96, "180.0,W"), (12.34, "12.3,E"),
        ] as [(Double, String)])
    func variations(degrees: Double, text: String) throws {
        let sentence = try #require(sentences(trueHeading(0, declination: degrees)).first)
        #expect(sentence.contains(",,,\(text)*"), "\(sentence)")
    }

    @Test(arguments: [Double.infinity, .nan, 180.1, -1e300])
    func aDeclinationThatCannotBe(degrees: Double) {
        let texts = sentences(trueHeading(10, declination: degrees))
        #expect(texts.count == 1 && texts[0].hasPrefix("$HCHDT,10.0,T"), "\(texts)")
    }

    @Test func whatIsNotValidIsNotSent() {
        let heading = magnetic(10)
        #expect(sentences(heading + [Figure(.accuracy, .number(2, decimals: 1))]).count == 2)
        #expect(sentences(heading + [Figure(.accuracy, .number(-1, decimals: 1))]).isEmpty)
        #expect(sentences(heading + [Figure(.accuracy, .integer(-1))]).isEmpty)
        #expect(sentences(heading + [Figure(.accuracy, .number(.nan, decimals: 1))]).isEmpty)
        #expect(sentences(heading + [Figure(.age, .number(3, decimals: 1))]).isEmpty, "it is only held")
        #expect(sentences(heading + [Figure(.reference, .text("grid"))]).isEmpty)
        #expect(sentences([Figure(.heading, .text("10"))]).isEmpty)
        #expect(sentences([]).isEmpty)
        #expect(sentences([Figure(.heading, .integer(10))]).count == 2)
    }
}
