import PosixCalls

/// Known files that are not traces, recognised by their first bytes, with the remedy.
package struct ForeignFormat {
    private let marks: [[UInt8]]
    private let message: String
    /// Makes the command that converts a file, from the file's name.
    private var remedy: (@Sendable (String) -> TraceRemedy?)?

    /// The number of first bytes that identify every format.
    static let markCount = 16

    private init(_ mark: [UInt8], _ message: String, _ remedy: (@Sendable (String) -> TraceRemedy?)? = nil) {
        marks = [mark]
        self.message = message
        self.remedy = remedy
    }

    private init(_ marks: String..., says message: String) {
        self.marks = marks.map { Array($0.utf8) }
        self.message = message
    }

    private static let stream = "w = ipc.new_stream(OUT, t.schema); w.write_table(t); w.close()"
    private static let export =
        "open it in a spreadsheet program and save the sheet as CSV (in LibreOffice: File, Save As, Text CSV)"

    private static let all: [ForeignFormat] = [
        ForeignFormat(
            "ARROW1",
            says: "is an Arrow file (Feather), and no stream: convert it, with pyarrow: "
                + "t = ipc.open_file(IN).read_all(); \(stream)"
        ),
        ForeignFormat(
            "FEA1",
            says: "is an old Feather file: convert it to an Arrow stream, with pyarrow: "
                + "t = feather.read_table(IN); \(stream)"
        ),
        ForeignFormat(
            "PAR1",
            says: "is a Parquet file: convert it to an Arrow stream, with pyarrow: "
                + "t = parquet.read_table(IN); \(stream)"),
        ForeignFormat([0x1F, 0x8B], "is compressed with gzip: unpack it first (gunzip)") {
            unpacked($0, with: "gunzip -c", suffixes: [".gz"])
        },
        ForeignFormat([0x28, 0xB5, 0x2F, 0xFD], "is compressed with zstd: unpack it first (unzstd)") {
            unzstd($0)
        },
        ForeignFormat([0x04, 0x22, 0x4D, 0x18], "is compressed with lz4: unpack it first (unlz4)") {
            unpacked($0, with: "unlz4 -c", suffixes: [".lz4"])
        },
        ForeignFormat([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "is compressed with xz: unpack it first (unxz)") {
            unpacked($0, with: "unxz -c", suffixes: [".xz"])
        },
        ForeignFormat([0x42, 0x5A, 0x68], "is compressed with bzip2: unpack it first (bunzip2)") {
            unpacked($0, with: "bunzip2 -c", suffixes: [".bz2"])
        },
        ForeignFormat(
            [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "is a 7-Zip archive: unpack it first (7z x), and name the files in it"
        ),
        ForeignFormat("Rar!", says: "is a RAR archive: unpack it first, and name the files in it"),
        ForeignFormat(
            [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "is a workbook of Excel (.xls), and no CSV: \(export)",
            exported),
        ForeignFormat(
            "SQLite format 3",
            says: "is a SQLite database, and no CSV: export the table with the samples (sqlite3 -csv -header)"),
        ForeignFormat("%PDF", says: "is a PDF document: export the recording as CSV instead"),
        ForeignFormat(
            "<!DOCTYPE", "<!doctype", "<html",
            says: "is a web page, and no recording: was the link to the download, or a sign-in page, saved?"),
        ForeignFormat("<?xml", says: "is XML, and no CSV: export the recording as CSV"),
        ForeignFormat(
            "{\"", "[{", "{\n", "[\n",
            says: "is JSON, and no CSV: export the recording as CSV, or write its numbers with a program such as jq"),
        ForeignFormat(
            "MATLAB 5.0 MAT", says: "is a MAT-file of MATLAB, and no CSV: write it there with writetable or writematrix"
        ),
        ForeignFormat(
            [0x89, 0x48, 0x44, 0x46], "is an HDF5 file (also MATLAB 7.3), and no CSV: export the samples as CSV"),
        ForeignFormat(
            [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59], "is an array of NumPy, and no CSV: write it with numpy.savetxt"),
    ]

    /// Throws ``TraceError`` when a file begins like one of these formats.
    static func refuse(_ first: [UInt8], _ path: String) throws(TraceError) {
        if ZipArchive.begins(with: first) { throw archive(path) }
        if let encoding = wideEncoding(first) {
            throw TraceError(
                .data, path: path, "is \(encoding) text: save it as UTF-8",
                remedy: .file(beside(path, "utf8.csv"), madeBy: .filter("iconv -f \(encoding) -t UTF-8")))
        }
        guard let found = all.first(where: { $0.marks.contains(where: first.starts) }) else { return }
        throw TraceError(.data, path: path, found.message, remedy: found.remedy?(path))
    }

    /// The command that unpacks a file.
    static func unzstd(_ path: String) -> TraceRemedy {
        unpacked(path, with: "unzstd -c", suffixes: [".zst", ".zstd"])
    }

    /// The workbook that a zip archive is, by its first entry, or else its name; `nil` for another archive.
    static func workbook(_ path: String) -> String? {
        let name = path.lowercased()
        let entry = String(decoding: (try? entryName(path)) ?? [], as: UTF8.self)
        if name.hasSuffix(".ods") || entry == "mimetype" { return ".ods" }
        let isExcel =
            [".xlsx", ".xlsm"].contains(where: name.hasSuffix) || entry == "[Content_Types].xml"
            || entry.hasPrefix("xl/") || entry.hasPrefix("_rels/")
        return isExcel ? "Excel's .xlsx" : nil
    }

    /// The error for a zip archive where one recording is expected.
    private static func archive(_ path: String) -> TraceError {
        if let workbook = workbook(path) {
            return TraceError(
                .data, path: path, "is a workbook (\(workbook)), and no CSV: \(export)", remedy: exported(path))
        }
        // There is no status of an archive within an archive.
        let status = try? fileStatus(path)
        if let status, !status.isRegular {
            return TraceError(
                .data, path: path,
                "is a zip archive, whose list of contents is at its end, so it is not read from a pipe: write it to a file, and "
                    + "name that file")
        }
        let command = status == nil ? "" : " (unzip \(ShellText.quoted(path)))"
        return TraceError(
            .data, path: path,
            "is a zip archive, where one file is expected: unpack it first\(command), or name each file in it, as in "
                + "export.zip/Accelerometer.csv")
    }

    /// The name of the first entry of a zip archive.
    private static func entryName(_ path: String) throws(TraceError) -> [UInt8] {
        guard InputFile.isRegular(path) else { return [] }
        let first = try InputFile.open(path: path).firstBytes(128)
        guard first.count > 30 else { return [] }
        return Array(first.dropFirst(30).prefix(Int(first[26]) | Int(first[27]) << 8))
    }

    private static func unpacked(_ path: String, with filter: String, suffixes: [String]) -> TraceRemedy {
        let suffix = suffixes.first { path.lowercased().hasSuffix($0) } ?? ""
        let plain = String(path.dropLast(suffix.count))
        // The shell writes over a file that is there, be it the packed one itself.
        return .file((try? fileStatus(plain)) == nil ? plain : beside(plain, "unpacked.csv"), madeBy: .filter(filter))
    }

    /// The encoding of text with two bytes for each character: by its mark, or because each second byte is 0.
    private static func wideEncoding(_ first: [UInt8]) -> String? {
        if [[0xFF, 0xFE], [0xFE, 0xFF]].contains(where: first.starts) { return "UTF-16" }
        let bytes = first.prefix(first.count & ~1)
        func isText(_ place: Int) -> Bool {
            bytes.count >= 8 && bytes.enumerated().allSatisfy { ($0 % 2 == place) == ($1 != 0) }
        }
        return isText(0) ? "UTF-16LE" : isText(1) ? "UTF-16BE" : nil
    }

    @Sendable private static func exported(_ path: String) -> TraceRemedy? {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let folder = String(path.dropLast(name.count))
        let file = folder + (name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name) + ".csv"
        // It chooses the name itself, and writes over a file that is there.
        guard (try? fileStatus(file)) == nil else { return nil }
        return .file(
            file,
            madeBy: .command(
                "soffice --headless --convert-to csv --outdir \(ShellText.quoted(folder.isEmpty ? "." : folder)) "
                    + ShellText.quoted(path)))
    }

    /// The end of the name of what `convert` makes.
    package static let convertedSuffix = "converted.csv"

    /// The name of a file that a command makes beside the original.
    package static func beside(_ path: String, _ suffix: String) -> String {
        "\(path.lowercased().hasSuffix(".csv") ? String(path.dropLast(4)) : path).\(suffix)"
    }
}
