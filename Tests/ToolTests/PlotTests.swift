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
        let result = try Binary.run(["plot", "-o", path] + Self.walk, in: Self.root)
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

    @Test func aSettingMovesTheThreshold() throws {
        let folder = try TemporaryFolder()
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let page = try drawn(["--set", "motion.motion.threshold_g=0.2", broad05], to: "day.html", in: folder)
        let panels = try #require(try Self.meta(of: page)["panels"] as? [[String: Any]])
        let limits = panels.flatMap { $0["limits"] as? [[String: Any]] ?? [] }
        let motion = try #require(limits.first { $0["label"] as? String == "motion above" })
        #expect(abs((motion["begin"] as? Double ?? 0) - 0.2) < 1e-6)
        #expect(abs((motion["end"] as? Double ?? 0) - 0.1) < 1e-6)
    }

    @Test func deliveriesOfAnyLengthGiveTheSamePage() throws {
        let folder = try TemporaryFolder()
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let pages = try ["1", "7", "4096"].map { try drawn(["--batch", $0, broad05], to: "\($0).html", in: folder) }
        #expect(pages[0] == pages[1])
        #expect(pages[1] == pages[2])
    }

    @Test func aPictureThatIsThereIsKept() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/day.svg"
        try "mine".write(toFile: path, atomically: true, encoding: .utf8)
        let broad05 = "\(Binary.fixtures)/broad/broad05_rotation_breaks.csv"
        let result = try Binary.run("plot", "-o", path, broad05)
        #expect(result.status == 64)
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

    private static func meta(of page: String) throws -> [String: Any] {
        let start = try #require(page.range(of: "<script type=\"application/json\" id=\"meta\">"))
        let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
        let object = try JSONSerialization.jsonObject(with: Data(page[start.upperBound..<end.lowerBound].utf8))
        return try #require(object as? [String: Any])
    }
}
