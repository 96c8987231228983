import PlainText

/// Programs that write the names and units of a table in a way of their own.
extension CSVPreamble {
    /// The first lines with the names and units of LabVIEW, Gyroflow and gopro-telemetry in one line, as other tables have them; what stands
    /// before them is empty then.
    static func withPlainNames(_ lines: [[UInt8]]) -> [[UInt8]] {
        guard let first = lines.first.map({ String(decoding: $0.prefix(1000), as: UTF8.self) }) else { return lines }
        if first.hasPrefix("LabVIEW Measurement") { return withNamesOfLabView(lines) }
        if first.hasPrefix("GYROFLOW IMU LOG") { return withNamesOfGyroflow(lines) }
        if first.contains("(") { return [withNamesOfGoPro(lines[0])] + lines.dropFirst() }
        return lines
    }

    private static func replace(_ lines: [[UInt8]], _ line: Int, _ names: [String], _ delimiter: Character) -> [[UInt8]]
    {
        let header = Array(names.joined(separator: String(delimiter)).utf8)
        return lines[..<line].map { _ in [] } + [header] + lines[(line + 1)...]
    }

    /// The names stand behind the header of the first segment, with a column for comments that rows leave out.
    ///
    /// Units, and the step of a table without times, are in that header. Another segment's header is a row that cannot be read.
    private static func withNamesOfLabView(_ lines: [[UInt8]]) -> [[UInt8]] {
        let ends = lines.indices.filter { lines[$0].starts(with: "***End_of_Header***".utf8) }.prefix(2)
        guard let end = ends.last, let line = lines[(end + 1)...].firstIndex(where: { !isEmpty($0) }) else {
            return lines
        }
        let delimiter: Character = lines[line].contains(UInt8(ascii: "\t")) ? "\t" : ","
        func fields(_ line: [UInt8]) -> [String] {
            String(decoding: line, as: UTF8.self).split(separator: delimiter, omittingEmptySubsequences: false)
                .map { String($0).trimmingBlanks() }
        }
        func facts(_ name: String) -> [String] {
            lines[..<end].last { $0.starts(with: name.utf8) }.map { Array(fields($0).dropFirst()) } ?? []
        }
        let (units, steps) = (facts("Y_Unit_Label"), facts("Delta_X"))
        var names = fields(lines[line])
        while let last = names.last, last.isEmpty || last == "Comment" { names.removeLast() }
        var channel = -1
        names = names.map { name in
            if name == "X_Value" { return "X_Value (s)" }
            channel += 1
            return units.indices.contains(channel) && TraceUnit(units[channel]) != nil
                ? "\(name) (\(units[channel]))" : name
        }
        var named = replace(lines, line, names, delimiter)
        if facts("X_Columns").first == "No", let step = steps.first.flatMap(Double.init), step > 0 {
            named[0] = Array("Sample rate: \(1 / step) Hz".utf8)
        }
        return named
    }

    /// The scales of all columns stand before the names: `tscale` in seconds, `gscale` in rad/s and `ascale` in g
    /// (docs.gyroflow.xyz, "gcsv format").
    private static func withNamesOfGyroflow(_ lines: [[UInt8]]) -> [[UInt8]] {
        guard let line = lines.firstIndex(where: { $0.starts(with: "t,".utf8) }) else { return lines }
        var scales: [String: Double] = [:]
        for line in lines[..<line] {
            let fields = String(decoding: line, as: UTF8.self).split(separator: ",").map { String($0).trimmingBlanks() }
            if fields.count == 2, let scale = Double(fields[1]), scale > 0 { scales[fields[0]] = scale }
        }
        let time = [TimeUnit.seconds, .milliseconds, .microseconds, .nanoseconds].first { unit in
            scales["tscale"].map { abs($0 / unit.inSeconds - 1) < 1e-6 } ?? false
        }
        let names = String(decoding: lines[line], as: UTF8.self).split(separator: ",").map { field in
            let name = String(field).trimmingBlanks()
            switch name.prefix(1) {
            case "t" where name == "t":
                // Of another scale the unit is one that is not known, so that no time is guessed.
                return time.map { "t (\($0.option))" } ?? scales["tscale"].map { "t (\($0) s)" } ?? name
            case "g": return scales["gscale"].map { "\(name) (\($0) rad/s)" } ?? name
            case "a": return scales["ascale"].map { "\(name) (\($0) g)" } ?? name
            default: return name
            }
        }
        return replace(lines, line, names, ",")
    }

    /// The first of three columns names the order of the axes, `Accelerometer (z,x,y) [m/s2]`, and the others are `1` and `2`.
    private static func withNamesOfGoPro(_ line: [UInt8]) -> [UInt8] {
        var names = CSVDialect(delimiter: CSVDialect.comma).fields(line)
        var isFound = false
        for place in names.indices.dropLast(2) where names[place + 1] == "1" && names[place + 2] == "2" {
            let name = names[place]
            guard let open = name.firstIndex(of: "("), let close = name[open...].firstIndex(of: ")") else { continue }
            let axes = name[open...].prefix { $0 != ")" }.dropFirst().split(separator: ",").map(String.init)
            guard axes.sorted() == ["x", "y", "z"] else { continue }
            for (index, axis) in axes.enumerated() {
                names[place + index] = name[..<open] + axis + name[name.index(after: close)...]
            }
            isFound = true
        }
        guard isFound else { return line }
        return Array(names.map { "\"\($0)\"" }.joined(separator: ",").utf8)
    }
}
