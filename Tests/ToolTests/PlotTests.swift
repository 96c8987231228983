import Foundation
import TestSupport
import Testing

@Suite struct PlotTests {
    private static let root = Binary.tests.deletingLastPathComponent().path
    private static let walk = ["Accelerometer", "Magnetometer", "Gyroscope"].map {
        "Tests/Fixtures/phyphox_walk/\($0).csv"
    }

    private func drawn(_ arguments: [String], to name: String, in folder: TemporaryFolder) throws -> String {
        let path = "\(folder.path)/\(name)"
        let result = try Binary.run(["plot", "-o", path] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func theFrontPagesPictureIsWhatTheCodeDraws() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/walk.svg"
        let result = try Binary.run(
            ["plot", "-o", path, "--set", "north.north.hard_iron_uT=0"] + Self.walk, in: Self.root)
        #expect(result.status == 0, "\(result.errors)")
        let kept = try String(contentsOfFile: "\(Self.root)/docs/walk.svg", encoding: .utf8)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == kept, "`make run` draws docs/walk.svg again")
    }

    @Test func aPageHasTheEventsOfTheReplayAndNeedsNothingElse() throws {
        let folder = try TemporaryFolder()
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let page = try drawn([broad05], to: "day.html", in: folder)
        let meta = try Self.meta(of: page)
        let events = try Binary.run("replay", "--json", broad05).lines
        #expect((meta["events"] as? [Any])?.count == events.count)
        #expect(meta["event_count"] as? Int == events.count)
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("src="))
        let configuration = try #require(meta["configuration"] as? String)
        #expect(configuration.contains("[motion.\"motion\"]\naccelerometer = \"accelerometer\""))
        #expect(configuration.contains("threshold_g = 0.05"))
    }

    @Test(arguments: [(0.2, "0.2 g"), (0.0123, "0.0123 g"), (0.0004, "0.0004 g")])
    func aSettingMovesTheThreshold(threshold: Double, label: String) throws {
        let folder = try TemporaryFolder()
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let page = try drawn(
            ["--set", "motion.motion.threshold_g=\(threshold)", "--set", "motion.motion.shock_g=2.5", broad05],
            to: "day.html", in: folder)
        let panels = try #require(try Self.meta(of: page)["panels"] as? [[String: Any]])
        let marks = panels.flatMap { $0["marks"] as? [[String: Any]] ?? [] }
        let motion = try #require(marks.first { $0["label"] as? String == "motion above" })
        let area = try #require((motion["areas"] as? [[Any]])?.first)
        #expect(abs((motion["lines"] as? [Double] ?? [0])[0] - threshold) < 1e-6)
        #expect(abs((area[0] as? Double ?? 0) - threshold) < 1e-6)
        #expect(abs((area[1] as? Double ?? 0) - threshold / 2) < 1e-6)
        #expect(motion["value"] as? String == label)
        // In the unit of the panel: four digits.
        let shock = try #require(marks.first { $0["label"] as? String == "shock above" })
        #expect(shock["value"] as? String == "24.52 m/s²")
    }

    /// Times of a short stretch have the decimals that tell them apart.
    @Test func theTimesOfAShortStretchDiffer() throws {
        let folder = try TemporaryFolder()
        let rows = (0..<2000).map { String(format: "%.3f,0,0,1\n", Double($0) / 1000) }
        let trace = try TemporaryFile("t_s,ax_g,ay_g,az_g\n" + rows.joined(), suffix: ".csv")
        let drawing = try drawn(["--from", "1s", "--to", "1.004s", trace.path], to: "short.svg", in: folder)
        let times = drawing.matches(of: /class="m">([^<]*)</).map { String($0.1) }
        let expected: [String] = (0...8).map { (tick: Int) in String(format: "%.4f s", Double(tick) * 0.0005) }
        #expect(times == expected)
    }

    @Test func deliveriesOfAnyLengthGiveTheSamePage() throws {
        let folder = try TemporaryFolder()
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let pages = try ["1", "7", "4096"].map { try drawn(["--batch", $0, broad05], to: "\($0).html", in: folder) }
        #expect(pages[0] == pages[1])
        #expect(pages[1] == pages[2])
    }

    /// A lane of states changes at the events, whatever the deliveries; the limits stand beside the angles.
    @Test(arguments: [
        ("simulated-screen", "screen of screen", ["next edge above", "tilted above", "facing up or down above"], 2),
        ("simulated-laptop", "angle of laptop", ["laptop above", "tent above", "tablet above"], 1),
    ])
    func howAScreenIsHeldHasALaneWithItsLimits(_ name: String, _ title: String, _ limits: [String], _ groups: Int)
        throws
    {
        let folder = try TemporaryFolder()
        let pages = try ["1", "7", "4096"].map { batch in
            let path = "\(folder.path)/\(batch).html"
            let arguments = ["plot", "--batch", batch, "--config", "\(name).toml", "-o", path]
            let result = try Binary.run(arguments, in: Binary.golden)
            #expect(result.status == 0, "\(result.errors)")
            return try String(contentsOfFile: path, encoding: .utf8)
        }
        #expect(pages[0] == pages[1] && pages[1] == pages[2])
        let meta = try Self.meta(of: pages[0])
        let panels = try #require(meta["panels"] as? [[String: Any]])
        let panel = try #require(panels.first { ($0["title"] as? String)?.hasPrefix(title) == true })
        #expect((panel["marks"] as? [[String: Any]])?.map { $0["label"] as? String } == limits)
        let states = try #require(panel["states"] as? [[String: Any]])
        #expect(states.count == groups)
        for group in states { #expect((group["shown"] as? [Int] ?? []).count > 1) }
        let configuration = try #require(meta["configuration"] as? String)
        let section =
            groups == 2 ? "[orientation.\"screen\"]" : "[hinge.\"laptop\"]\ndisplay = \"lid\"\nbase = \"keyboard\""
        #expect(configuration.contains(section))
    }

    /// What decides is drawn: with a gyroscope that is linear acceleration, with the limits of motion.
    @Test func linearAccelerationHasALaneOfItsOwn() throws {
        let folder = try TemporaryFolder()
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let page = try drawn(
            ["--set", "motion.motion.measure=linear_acceleration", broad05], to: "day.html", in: folder)
        let panels = try #require(try Self.meta(of: page)["panels"] as? [[String: Any]])
        func labels(_ title: String) throws -> [String?] {
            let panel = try #require(panels.first { $0["title"] as? String == title })
            return try #require(panel["marks"] as? [[String: Any]]).map { $0["label"] as? String }
        }
        #expect(try labels("linear acceleration, motion").contains("motion above"))
        #expect(try !labels("user acceleration, motion").contains("motion above"))
    }

    /// A state lasts until the next sample, also where there are more columns than samples; rows of events have the page's forms.
    @Test func theDrawingHasThePagesStatesAndForms() throws {
        let folder = try TemporaryFolder()
        let files = try ["svg", "html"].map { format in
            let path = "\(folder.path)/screen.\(format)"
            let result = try Binary.run(["plot", "--config", "simulated-screen.toml", "-o", path], in: Binary.golden)
            #expect(result.status == 0, "\(result.errors)")
            return try String(contentsOfFile: path, encoding: .utf8)
        }
        func paths(_ style: String) -> [Substring] {
            files[0].split(separator: "\n").filter { $0.hasPrefix("<path class=\"\(style)\"") }
        }
        let meta = try Self.meta(of: files[1])
        let events = try #require(meta["events"] as? [[String: Any]])
        let marks = paths("f").map { $0.split(separator: "M").count - 1 }
        #expect(marks.reduce(0, +) == events.count)
        let forms = try #require(try Self.json("rules", of: files[1])["forms"] as? [String])
        #expect(paths("k").count == (meta["rows"] as? [Any])?.count)
        for (row, path) in paths("k").enumerated() {
            #expect(path.hasSuffix("\(forms[row % forms.count])\"/>"))
        }
    }

    @Test func whatAHeadingFacesIsABandOfItsLane() throws {
        let folder = try TemporaryFolder()
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let page = try drawn(["--set", "north.north.bearing_deg=350", broad05], to: "day.html", in: folder)
        let panels = try #require(try Self.meta(of: page)["panels"] as? [[String: Any]])
        let panel = try #require(panels.first { $0["title"] as? String == "heading of north" })
        #expect(panel["range"] as? [Double] == [0, 360])
        // The bearing lies across north: its range is there at both ends of the circle.
        let marks = try #require(panel["marks"] as? [[String: Any]])
        #expect(marks.map { $0["lines"] as? [Double] } == [[-20, 0], [340, 360]])
        #expect(marks.allSatisfy { $0["label"] as? String == "facing" })
        let areas = try #require(marks[1]["areas"] as? [[Any]])
        #expect(areas.map { $0[0] as? Double } == [335, 335, 360])
        #expect(areas.map { $0[1] as? Double } == [360, 340, 365])
        #expect(areas.map { $0[2] as? Bool } == [false, true, true])
    }

    @Test func aPictureThatIsThereIsKept() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/day.svg"
        try "mine".write(toFile: path, atomically: true, encoding: .utf8)
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let result = try Binary.run("plot", "-o", path, broad05)
        #expect(result.status == 73)
        #expect(result.errors.contains("--force"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        #expect(try Binary.run("plot", "--force", "-o", path, broad05).status == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("<svg"))
    }

    @Test(arguments: [
        (["plot", "x.csv"], "-o FILE.html or FILE.svg"),
        (["plot", "-o", "x.png", "x.csv"], "has to end in .html or .svg"),
        (["plot", "-o", "x.html"], "plot needs a trace"),
        (["plot", "-o", "x.html", "--format", "pdf", "x.csv"], "has to be html or svg"),
    ])
    func aWrongCommandLineSaysWhatToDo(_ arguments: [String], _ message: String) throws {
        let result = try Binary.run(arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(message))
    }

    private static func meta(of page: String) throws -> [String: Any] { try json("meta", of: page) }

    private static func json(_ id: String, of page: String) throws -> [String: Any] {
        let start = try #require(page.range(of: "<script type=\"application/json\" id=\"\(id)\">"))
        let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
        let object = try JSONSerialization.jsonObject(with: Data(page[start.upperBound..<end.lowerBound].utf8))
        return try #require(object as? [String: Any])
    }
}
