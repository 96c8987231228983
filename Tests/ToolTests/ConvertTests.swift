import Foundation
import TestSupport
import Testing

@Suite struct ConvertTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder([:])
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }

    @Test(arguments: ["walk-recording.csv", "broad05.csv", "simulated-three-sensors.csv", "simulated-evemu.evemu"])
    func aTraceIsTheSameInEachFormat(name: String) throws {
        let trace = Binary.golden + "/" + name
        #expect(try Binary.run("convert", trace, "-o", path("a.arrows")).status == 0)
        #expect(try Binary.run("convert", path("a.arrows"), "-o", path("b.csv")).status == 0)
        #expect(try Binary.run("convert", path("b.csv"), "-o", path("c.arrows")).status == 0)
        #expect(try Binary.run("convert", path("c.arrows"), "-o", path("d.csv")).status == 0)
        #expect(try data("a.arrows") == data("c.arrows"))
        #expect(try data("b.csv") == data("d.csv"))
        let events = try Binary.run("replay", "--json", path("b.csv")).output
        for options in [[], ["--batch", "1"], ["--batch", "7"], ["--batch", "65536"]] {
            #expect(try Binary.run(["replay", "--json", path("a.arrows")] + options).output == events)
        }
    }

    /// Three kinds at three rates, in the form of our own recordings: the same bytes again.
    @Test func aGyroscopeIsConvertedExactly() throws {
        var text = "time_ns,box.gx_rad_s,box.gy_rad_s,box.gz_rad_s,compass.mx_uT,compass.my_uT,compass.mz_uT"
        text += ",box.ax_m_s2,box.ay_m_s2,box.az_m_s2\n"
        for row in 0..<400 {
            let rate = "\(Float(row) * 0.001),-0.25,\(Float(row).squareRoot())"
            let field = row % 4 == 0 ? "20.5,\(Float(row)),-40.25" : ",,"
            text += "\(row * 5_000_000),\(rate),\(field),\(row % 2 == 0 ? "0.1,-0.2,9.8125" : ",,")\n"
        }
        try folder.write("a.csv", text)
        #expect(try Binary.run("convert", path("a.csv"), "-o", path("a.arrows")).status == 0)
        let back = try Binary.run("convert", path("a.arrows"), "-o", path("b.csv"))
        #expect(back.status == 0 && back.errors.contains("converted 700 samples"), "\(back.errors)")
        try #require(Binary.run("convert", path("b.csv"), "-o", path("c.arrows")).status == 0)
        try #require(Binary.run("convert", path("c.arrows"), "-o", path("d.csv")).status == 0)
        #expect(try data("a.arrows") == data("c.arrows") && data("b.csv") == data("d.csv"))
        #expect(try String(decoding: data("b.csv"), as: UTF8.self).split(separator: "\n").count == 401)
        let events = try Binary.run("replay", "--json", path("a.csv")).output
        #expect(try Binary.run("replay", "--json", path("a.arrows")).output == events)
    }

    /// As with stamps in whole milliseconds.
    @Test func samplesOfOneStampStayTogetherInMCAP() throws {
        var text = "time_ns,box.gx_rad_s,box.gy_rad_s,box.gz_rad_s,box.ax_m_s2,box.ay_m_s2,box.az_m_s2\n"
        for row in 0..<60 { text += "\(row / 3 * 10_000_000),\(row),0,0.5,\(row),0,9.5\n" }
        try folder.write("a.csv", text)
        #expect(try Binary.run("convert", path("a.csv"), "-o", path("a.mcap")).status == 0)
        #expect(try Binary.run("convert", path("a.mcap"), "-o", path("b.csv")).status == 0)
        #expect(try Binary.run("convert", path("a.csv"), "-o", path("c.csv")).status == 0)
        #expect(try data("b.csv").split(separator: 0x0A).count == 61)
        let rows = try [path("b.csv"), path("c.csv")].map { name in
            try String(contentsOfFile: name, encoding: .utf8).split(separator: "\n").dropFirst()
        }
        #expect(rows[0] == rows[1])
    }

    @Test func severalTracesAreMerged() throws {
        try folder.write("a.csv", "t_ns,ax,ay,az\n1,1,0,9\n3,2,0,9\n5,3,0,9\n")
        try folder.write("m.csv", "t_ns,mx,my,mz\n2,10,0,40\n3,20,0,40\n")
        let result = try Binary.run("convert", path("a.csv"), path("m.csv"), "-o", "-")
        #expect(
            result.lines == [
                "time_ns,magnetometer.mx_uT,magnetometer.my_uT,magnetometer.mz_uT"
                    + ",accelerometer.ax_m_s2,accelerometer.ay_m_s2,accelerometer.az_m_s2",
                "1,,,,1,0,9", "2,10,0,40,,,", "3,20,0,40,2,0,9", "5,,,,3,0,9",
            ])
        #expect(result.errors.contains("no unit for ax, ay, az"))
        #expect(result.errors.contains("converted 5 samples to standard output"))
        #expect(try Binary.run("convert", path("a.csv"), path("m.csv"), "-o", path("both.arrows")).status == 0)
        #expect(try Binary.run("convert", path("both.arrows"), "-o", "-").output == result.output)
    }

    @Test func whatIsLeftOutIsSaid() throws {
        try folder.write("a.csv", "t_ns,ax_m_s2,ay_m_s2,az_m_s2\n1,1,0,9\n2,nan,0,9\n3,1,0,9\n2,1,0,9\n")
        let result = try Binary.run("convert", path("a.csv"), "-o", path("a.arrows"))
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(result.errors.contains("a.csv:3:3: not a finite number"))
        #expect(result.errors.contains("converted 2 samples"))
        #expect(result.errors.contains("  1 × time goes backwards: skipped"))
    }

    @Test func nothingIsWrittenOverByMistake() throws {
        let text = "t_ns,ax_m_s2,ay_m_s2,az_m_s2\n1,1,0,9\n"
        try folder.write("a.csv", text)
        try FileManager.default.createSymbolicLink(atPath: path("link.csv"), withDestinationPath: path("a.csv"))
        for name in ["a.csv", "link.csv"] {
            let result = try Binary.run("convert", path("a.csv"), "-o", path(name), "--force")
            #expect(result.status == 64)
            #expect(result.errors.contains("would be written over while it is read"))
        }
        #expect(try data("a.csv") == Data(text.utf8))
        try folder.write("there.arrows", "precious")
        let refused = try Binary.run("convert", path("a.csv"), "-o", path("there.arrows"))
        #expect(refused.status == 73 && refused.errors.contains("is there already"))
        #expect(try Binary.run("convert", path("a.csv"), "-o", path("there.arrows"), "--force").status == 0)
        #expect(try Binary.run("convert", path("a.csv"), "-o", path("x.arrow")).status == 73)
    }

    @Test func aRecordingWithoutASampleReplacesNothing() throws {
        try folder.write("there.csv", "precious")
        try folder.write("damaged.csv", "t_ns,ax_m_s2,ay_m_s2,az_m_s2\n1,nan,0,9\n2,nan,0,9\n")
        for name in ["there.csv", "new.csv", "new.arrows", "new.mcap"] {
            let result = try Binary.run("convert", path("damaged.csv"), "-o", path(name), "--force")
            #expect(result.status == 65)
            #expect(result.errors.contains("no samples: nothing is written to"), "\(result.errors)")
            #expect(FileManager.default.fileExists(atPath: path(name)) == (name == "there.csv"))
        }
        #expect(try data("there.csv") == Data("precious".utf8))
    }

    @Test func theCommandLineIsChecked() throws {
        #expect(try Binary.run("convert", "-o", "x.csv").errors.contains("convert needs a trace"))
        #expect(try Binary.run("convert", "x.csv").errors.contains("-o FILE"))
        #expect(try Binary.run("convert", path("none.csv"), "-o", path("x.csv")).status == 66)
        #expect(!FileManager.default.fileExists(atPath: path("x.csv")))
        try folder.write("bare.csv", "t,x,y,z\n1,1,0,9\n")
        let mapped = try Binary.run(
            "convert", path("bare.csv"), "-o", "-", "--map", "time=t:s,ax=x:g,ay=y:g,az=z:g")
        #expect(mapped.lines.last == "1000000000,9.80665,0,88.25985")
    }

    @Test func aFullDiskIsSaid() throws {
        try folder.write("a.csv", "t_ns,ax_m_s2,ay_m_s2,az_m_s2\n1,1,0,9\n")
        let result = try Binary.run("convert", path("a.csv"), "-o", "/dev/full", "--force")
        #expect(result.status == 74 && result.errors.contains("No space left on device"))
    }

    @Test func aPacedReplayOfAFileThatShrinksFails() throws {
        try folder.write(
            "a.csv",
            (0..<20_000).reduce(into: "time_ns,a.ax_m_s2,a.ay_m_s2,a.az_m_s2\n") {
                $0 += "\($1)000000,0,0,\($1 == 1 ? 90 : 9.8)\n"
            })
        #expect(try Binary.run("convert", path("a.csv"), "-o", path("a.arrows")).status == 0)
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        let process = Binary.process(["replay", "--json", "--speed", "1", "--batch", "1", path("a.arrows")])
        process.standardOutput = try output.writer()
        process.standardError = try errors.writer()
        try process.run()
        defer { process.end() }
        // The second of 20,000 rows has been read, which take 20 s.
        try output.wait { $0.contains("shock") }
        try #require(truncate(path("a.arrows"), 2000) == 0)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 74)
        #expect(try errors.text().contains("shrank while it was read"))
    }
}
