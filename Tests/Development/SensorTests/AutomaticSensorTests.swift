import Testing

/// `source = "auto"`: whichever device offers what detectors need.
@Suite(.fewAtATime) struct AutomaticSensorTests {
    private static let text = """
        [sensor.compass]
        source = "auto"
        [sensor.chassis]
        source = "auto"
        rate_hz = 50
        trigger = "none-such"
        [sensor.spare]
        source = "auto"
        [north.bow]
        accelerometer = "chassis"
        magnetometer = "compass"
        """

    /// An input device and an IIO device, each for what it can do; an input device ignores keys for IIO.
    @Test func eachKindIsFoundWhereItIs() async throws {
        let station = try MockStation()
        try station.add(
            .evdev(1, name: "tilt", values: [1, 2, 3], resolution: 1),
            .polled("magn", 0, name: "magn_3d", raw: [4, 5, 6], scale: "1"))
        let recording = try station.record("--config", try station.configuration(Self.text))
        try await recording.waitForSample(of: "a") { _ in true }
        try await recording.waitForSample(of: "m") { _ in true }
        try await recording.program.waitForMessage(
            "sensor 'spare': no detector says what it is to measure, and any device would do: left out")
        let streams = try await recording.stop().streams
        #expect(Set(streams.keys) == ["chassis.a", "compass.m"])
        #expect(streams["compass.m"]?.first.map { [$0.x, $0.y, $0.z] } == [400, 500, 600])
    }

    /// One that is chosen among several by what it is called.
    @Test func aMatchChooses() async throws {
        let station = try MockStation()
        try station.add(
            .polled("accel", 0, name: "lid", raw: [1, 2, 3], scale: "1"),
            .polled("accel", 1, name: "base", raw: [4, 5, 6], scale: "1"))
        let file = try station.configuration("[sensor.chip]\nsource = \"auto\"\nmatch = { name = \"base\" }\n")
        let recording = try station.record("--config", file)
        try await recording.waitForRows(1)
        let sample = try #require(try await recording.stop().only("a").first)
        #expect([sample.x, sample.y, sample.z] == [4, 5, 6])
    }
}
