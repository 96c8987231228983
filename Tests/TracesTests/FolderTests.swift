import Foundation
import Glibc
import TestSupport
import Testing
import Traces

/// Folders and zip archives as apps export them: what is one recording, what is left out, and what is refused.
@Suite struct FolderTests {
    private typealias Entry = ZipWriter.Entry

    private static func vector(_ x: Double, _ y: Double, _ z: Double) -> String {
        (0..<300).reduce("seconds_elapsed,z,y,x\n") { $0 + "\(Double($1) / 100),\(z),\(y),\(x)\n" }
    }

    private static let logger = [
        "Accelerometer.csv": vector(0, 0.01, 0), "TotalAcceleration.csv": vector(0, 0.01, 9.81),
        "Gravity.csv": vector(0, 0, 9.81),
        "Gyroscope.csv": vector(0, 0, 0.01), "GyroscopeUncalibrated.csv": vector(0, 0, 0.03),
        "Magnetometer.csv": vector(0, 20, -40), "Metadata.csv": "version,device name\n3,Phone\n", "notes.md": "none",
    ]
    private static let chosen = ["Gyroscope.csv", "Magnetometer.csv", "TotalAcceleration.csv"]
    private static let left =
        "left out: Accelerometer.csv, Gravity.csv, GyroscopeUncalibrated.csv, Metadata.csv, notes.md"

    private func opened(_ path: String, isCancelled: Bool = false) throws -> RecordingFolder? {
        try RecordingFolder(path: path, hints: TraceHints(), isCancelled: { isCancelled })
    }

    private func refusal(_ path: String, isCancelled: Bool = false) throws -> String {
        try #require(throws: TraceError.self) { try opened(path, isCancelled: isCancelled) }.description
    }

    private func zip(_ entries: [ZipWriter.Entry]) throws -> TemporaryFile {
        try TemporaryFile(ZipWriter.archive(entries))
    }

    private func entries(_ files: [String: String], under folder: String = "") -> [ZipWriter.Entry] {
        files.sorted { $0.key > $1.key }.map { ZipWriter.Entry(name: folder + $0.key, text: $0.value) }
    }

    // MARK: - Folders

    @Test func oneFileOfEachKindIsTaken() throws {
        let folder = try TemporaryFolder(Self.logger)
        try folder.write("meta/device.csv", Self.vector(0, 0, 9.81))
        try folder.write(".hidden.csv", Self.vector(0, 0, 9.81))
        for path in [folder.path, folder.path + "/"] {
            let recording = try #require(try opened(path))
            #expect(recording.files == Self.chosen.map { "\(folder.path)/\($0)" })
            #expect(recording.notice == "\(path): \(Self.left.replacing("notes.md", with: "meta, notes.md"))")
        }
    }

    @Test func whatWasConvertedTakesThePlaceOfItsFile() throws {
        let folder = try TemporaryFolder([
            "Accelerometer.csv": "t,x,y,z\n0,x,y,z\n", "Accelerometer.converted.csv": "t_s,ax_g,ay_g,az_g\n0,0,0,1\n",
        ])
        let recording = try #require(try opened(folder.path))
        #expect(recording.files == ["\(folder.path)/Accelerometer.converted.csv"])
        #expect(recording.notice == "\(folder.path): left out: Accelerometer.csv")
    }

    @Test func theOnlyTableSaysWhyItIsNone() throws {
        let folder = try TemporaryFolder(["log.csv": "time,ax,ay\n0,1,2\n", "README.txt": "hello\n"])
        let words = try refusal(folder.path)
        #expect(words.hasPrefix("\(folder.path)/log.csv") && !words.contains("without a recording"), "\(words)")
    }

    @Test func notesBesideTheFolderOfAnArchiveAreLeftOut() throws {
        let archive = try zip(
            entries(["Accelerometer.csv": Self.vector(0, 0, 9.81)], under: "walk/data/")
                + [Entry(name: "README.txt", text: "hello"), Entry(name: "walk/Thumbs.db", text: "")])
        let recording = try #require(try opened(archive.path))
        #expect(recording.files == ["\(archive.path)/walk/data/Accelerometer.csv"])
        #expect(recording.notice?.contains("README.txt") == true && recording.notice?.contains("Thumbs.db") == true)
    }

    @Test func aStopEndsLookingIntoAFolder() throws {
        let folder = try TemporaryFolder(Self.logger)
        #expect(try refusal(folder.path, isCancelled: true).contains("without a recording"))
    }

    @Test func withoutTheBestTheNextIsTaken() throws {
        let folder = try TemporaryFolder([
            "Accelerometer.csv": Self.vector(0, 0, 9.81), "GyroscopeUncalibrated.csv": Self.vector(0, 0, 0.03),
        ])
        let recording = try #require(try opened(folder.path))
        #expect(recording.files.count == 2 && recording.notice == nil)
    }

    @Test func pipesAndDevicesAreLeftUnopened() throws {
        let folder = try TemporaryFolder(["Accelerometer.csv": Self.vector(0, 0, 9.81)])
        try #require(mkfifo(folder.path + "/Gyroscope.csv", 0o600) == 0)
        try #require(symlink("/dev/zero", folder.path + "/Magnetometer.csv") == 0)
        let recording = try #require(try opened(folder.path))
        #expect(recording.files == [folder.path + "/Accelerometer.csv"])
        #expect(recording.notice == "\(folder.path): left out: Gyroscope.csv, Magnetometer.csv")
    }

    @Test func severalRecordingsAreRefused() throws {
        let folder = try TemporaryFolder([
            "a.csv": "t_s,ax_g,ay_g,az_g\n0,0,0,1\n", "b.csv": "t_s,ax_g,ay_g,az_g\n0,0,0,1\n",
        ])
        let words = try refusal(folder.path)
        #expect(words.contains("has 2 files with a recording of the accelerometer (a.csv, b.csv)"), "\(words)")
    }

    @Test func aSensorsFileIsNotPassedOver() throws {
        var files = Self.logger
        files["Magnetometer.csv"] = ""
        let folder = try TemporaryFolder(files)
        #expect(
            try refusal(folder.path) == "\(folder.path)/Magnetometer.csv: is empty: there is no header and no sample")
    }

    @Test func aSensorWithoutASampleIsLeftOut() throws {
        var files = Self.logger
        files["Magnetometer.csv"] = "seconds_elapsed,z,y,x\n\n"
        let folder = try TemporaryFolder(files)
        let recording = try #require(try opened(folder.path))
        #expect(recording.files == Self.chosen.filter { $0 != "Magnetometer.csv" }.map { "\(folder.path)/\($0)" })
        #expect(recording.notice?.contains("Magnetometer.csv (no sample)") == true)
        // The next best takes its place.
        files["Gyroscope.csv"] = "seconds_elapsed,z,y,x\n"
        let archive = try zip(entries(files))
        let other = try #require(try opened(archive.path))
        #expect(other.files.contains { $0.hasSuffix("/GyroscopeUncalibrated.csv") })
        // Also where the names say nothing about the unit, and nothing else is left.
        files["LinearAcceleration.csv"] = "seconds_elapsed,z,y,x\n"
        for name in files.keys { files[name] = "seconds_elapsed,z,y,x\n" }
        let empty = try TemporaryFolder(files)
        #expect(try refusal(empty.path).contains("Gyroscope.csv (no sample)"))
    }

    @Test func withoutARecordingItIsRefused() throws {
        let folder = try TemporaryFolder(["list.csv": "a,b\nx,y\n"])
        #expect(try refusal(folder.path).contains("is a directory without a recording"))
        #expect(try opened(folder.path + "/list.csv") == nil)
        #expect(try opened(folder.path + "/missing") == nil)
        for index in 0...1000 { try folder.write("\(index).csv", "") }
        #expect(try refusal(folder.path).contains("has more than 1000 files"))
    }

    // MARK: - Archives

    @Test(arguments: ["", "export 1/"])
    func anArchiveIsAFolder(top: String) throws {
        var all = entries(Self.logger, under: top)
        if !top.isEmpty { all.insert(Entry(name: top, mode: 0o040755), at: 0) }
        all.append(Entry(name: "__MACOSX/\(top)._Gyroscope.csv", text: "\u{0}"))
        let file = try zip(all)
        let recording = try #require(try opened(file.path))
        #expect(recording.files == Self.chosen.map { "\(file.path)/\(top)\($0)" })
        #expect(recording.notice == "\(file.path): \(Self.left)")
        let folder = try TemporaryFolder(Self.logger)
        let samples = try [recording.files, Self.chosen.map { "\(folder.path)/\($0)" }].map {
            Collected(try TraceSource(paths: $0)).samples
        }
        #expect(samples[0] == samples[1] && samples[0].map(\.count) == [300, 300, 300])
    }

    @Test(arguments: ["Übung 1/", "散歩/"])
    func namesInAnArchiveMayHaveAnyLetter(top: String) throws {
        let file = try zip(entries(["Schläge.csv": Self.vector(0, 0, 9.81)], under: top) + [Entry(name: "")])
        let folder = try #require(try opened(file.path))
        #expect(folder.files == ["\(file.path)/\(top)Schläge.csv"])
        #expect(folder.notice?.contains("its name is empty") == true)
    }

    @Test func foldersInAnArchiveAreLeftOut() throws {
        let file = try zip([
            Entry(name: "Accelerometer.csv", text: Self.vector(0, 0, 9.81)),
            Entry(name: "meta/Gyroscope.csv", text: Self.vector(0, 0, 0.1)),
        ])
        let recording = try #require(try opened(file.path))
        #expect(recording.files == [file.path + "/Accelerometer.csv"])
        #expect(recording.notice == "\(file.path): left out: meta/Gyroscope.csv")
    }

    @Test func namesAndLinksLeadNowhere() throws {
        let rows = Self.vector(0, 0, 0.01)
        let file = try zip([
            Entry(name: "Accelerometer.csv", text: Self.vector(0, 0, 9.81)),
            Entry(name: "../Gyroscope.csv", text: rows),
            Entry(name: "/etc/Gyroscope.csv", text: rows),
            Entry(name: "Gyroscope.csv", text: "/etc/passwd", mode: 0o120777),
            Entry(name: "Magnetometer.csv", mode: 0o020666), Entry(name: "a/../../x.csv", text: rows),
        ])
        let recording = try #require(try opened(file.path))
        #expect(recording.files == [file.path + "/Accelerometer.csv"])
        let leads = "its name leads out of the archive"
        #expect(
            recording.notice
                == "\(file.path): left out: ../Gyroscope.csv (\(leads)), /etc/Gyroscope.csv (\(leads)), Gyroscope.csv (a link), "
                + "Magnetometer.csv (no file), a/../../x.csv (\(leads))")
        for name in ["Gyroscope.csv", "../Gyroscope.csv", "missing.csv"] {
            let error = try #require(throws: TraceError.self) { try TraceFile(path: "\(file.path)/\(name)") }
            #expect(error.description == "\(file.path)/\(name): no such entry in the archive")
        }
    }

    @Test func whatCannotBeUnpackedIsNotPassedOver() throws {
        let good = Entry(name: "Accelerometer.csv", text: Self.vector(0, 0, 9.81))
        let rows = Self.vector(0, 0, 0.01)
        for (entry, words) in [
            (
                Entry(name: "data.csv", text: rows, isEncrypted: true),
                "is encrypted: unpack the archive with its password first"
            ),
            (Entry(name: "data.csv", text: rows, method: 14), "is packed as ZIP 2.0 (lzma)"),
            (Entry(name: "data.csv", text: rows, checksum: 1), "cannot be unpacked: ZIP bad CRC"),
            (
                Entry(name: "data.csv", text: rows, statedSize: 5),
                "is wrong size (read \(rows.utf8.count), expected 5); copy the archive again"
            ),
            (Entry(name: "data.csv", text: rows, statedSize: 3 << 30), "is more than a recording has"),
            (Entry(name: "data.csv", text: rows, statedSize: 100 << 20), "is more than a recording has"),
            (Entry(name: "Accelerometer.csv", text: rows), "is in the archive twice"),
        ] {
            let file = try zip([good, entry])
            let message = try refusal(file.path)
            #expect(message.hasPrefix("\(file.path)/\(entry.name): ") && message.contains(words), "\(message)")
        }
    }

    /// The bounds are those of an entry that is named as well.
    @Test func aNamedEntryThatIsTooLargeIsRefused() throws {
        let file = try zip([Entry(name: "a.csv", text: Self.vector(0, 0, 9.81), statedSize: 100 << 20)])
        let error = #expect(throws: TraceError.self) { try TraceSource(paths: ["\(file.path)/a.csv"]) }
        #expect(error?.description.hasPrefix("\(file.path)/a.csv: is more than a recording has") == true)
    }

    @Test func aHostileDirectoryIsRefused() throws {
        let many = try zip((0...1000).map { Entry(name: "\($0).csv") })
        #expect(try refusal(many.path).hasPrefix("\(many.path)/1000.csv: is more than a recording has (1000 entries, "))
        let long = try zip((0...100).map { Entry(name: String(repeating: "x", count: 50_000) + "\($0)") })
        #expect(try refusal(long.path).contains("a longer list of contents than any export has"))
        // A short list is stated, and a long one stands there.
        var bytes = ZipWriter.archive((0...100).map { Entry(name: String(repeating: "x", count: 50_000) + "\($0)") })
        bytes.replaceSubrange((bytes.count - 10)..<(bytes.count - 6), with: [100, 0, 0, 0])
        let hidden = try TemporaryFile(bytes)
        #expect(try refusal(hidden.path).contains("a longer list of contents than any export has"))
        let empty = try zip([])
        #expect(try refusal(empty.path).contains("is an empty zip archive"))
    }

    @Test func aTruncatedArchiveIsRefused() throws {
        let bytes = ZipWriter.archive(entries(Self.logger))
        for count in [10, 100, bytes.count / 2, bytes.count - 100, bytes.count - 1] {
            let file = try TemporaryFile(Array(bytes.prefix(count)))
            #expect(try refusal(file.path) == "\(file.path): is a zip archive whose end is missing: copy it again")
        }
        // Bytes are missing in the middle.
        let file = try TemporaryFile(Array(bytes.prefix(1000) + bytes.dropFirst(3000)))
        #expect(throws: TraceError.self) { try opened(file.path) }
    }

    @Test func damageIsAnErrorOrHarmless() throws {
        let bytes = ZipWriter.archive(entries(["Accelerometer.csv": Self.vector(0, 0, 9.81)]))
        for place in Array(0..<60) + Array((bytes.count - 110)..<bytes.count) {
            for value in [0, 0x7F, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[place] = value
                let file = try TemporaryFile(damaged)
                do {
                    for path in try opened(file.path)?.files ?? [] { _ = try TraceFile(path: path) }
                } catch is TraceError {
                }
            }
        }
    }

    @Test func aWorkbookIsNoRecording() throws {
        let file = try zip([Entry(name: "[Content_Types].xml", text: "<xml/>")])
        #expect(try opened(file.path) == nil)
        let error = try #require(throws: TraceError.self) { try TraceFile(path: file.path) }
        #expect(error.message.contains("is a workbook"))
    }
}
