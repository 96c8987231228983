import Binnacle
import SensorGeometry
import TableReading

extension SensorCalibration {
    /// Reads the calibration file that a section names; `nil` when it cannot be used, which is then reported at its
    /// place there.
    init?(_ key: String, _ path: String, named section: TableReader) {
        guard let node = section.entry(key)?.node else { return nil }
        let hint = "'binnacle calibrate -o FILE' writes one; leave the key out until then"
        guard let bytes = section.contents(of: path, named: key, node, hint: hint) else { return nil }
        let diagnostics = DiagnosticCollector(path: path, files: [path])
        defer { section.diagnostics.include(diagnostics) }
        do throws(TOMLDocument.SyntaxError) {
            self.init(try TOMLDocument(parsing: bytes).entries(), diagnostics)
        } catch {
            diagnostics.report(at: error.position, error.message)
            return nil
        }
    }

    private init?(_ entries: [TOMLEntry], _ diagnostics: DiagnosticCollector) {
        let file = TableReader(
            title: "a calibration", position: SourcePosition(line: 1, column: 1), entries: entries,
            allowed: Self.kinds.flatMap { [$0.rawValue, Self.noiseKey(of: $0).table] }, diagnostics: diagnostics)
        guard !entries.isEmpty else {
            diagnostics.report(
                at: file.position, "the calibration is empty", hint: "`binnacle calibrate` writes one")
            return nil
        }
        self.init()
        func table(_ key: String, _ allowed: String...) -> TableReader? {
            file.entry(key).flatMap { file.table(key, $0.node, title: "[\(key)]", allowed: allowed) }
        }
        if let table = table(
            "magnetometer", "model", "hard_iron_uT", "soft_iron", "field_uT", "fit_error_percent", "error_uT",
            "coverage", "samples", "axes")
        {
            statedAxes[.magnetometer] = table.string("axes")
            magnetometer = MagnetometerCalibration(table)
        }
        if let table = table("accelerometer", "offset_m_s2", "matrix", "fit_error_m_s2", "positions", "axes") {
            statedAxes[.accelerometer] = table.string("axes")
            accelerometer = AxisCalibration(reading: table, offset: "offset_m_s2", matrix: "matrix")
            accelerometerResidual = table.number("fit_error_m_s2", in: 0...10)
        }
        if let table = table("gyroscope", "offset_rad_s", "noise_dps", "seconds", "samples", "axes") {
            statedAxes[.gyroscope] = table.string("axes")
            gyroscope = AxisCalibration(readingOffset: "offset_rad_s", table)
        }
        for kind in Self.kinds {
            let (name, key, factor) = Self.noiseKey(of: kind)
            guard let table = table(name, key, "seconds", "samples") else { continue }
            if table.entry(key) == nil { table.report(missing: key, "`binnacle calibrate --noise` writes it") }
            noise[kind] = table.number(key, in: 0...1e6).map { $0 / factor }
        }
    }
}

extension MagnetometerCalibration {
    fileprivate init?(_ table: TableReader) {
        for key in ["field_uT", "fit_error_percent"] where table.entry(key) == nil {
            table.report(missing: key, "`binnacle calibrate` writes it")
        }
        let axes = AxisCalibration(reading: table, offset: "hard_iron_uT", matrix: "soft_iron")
        let field = table.number("field_uT", in: 1...1000)
        let fitError = table.number("fit_error_percent", in: 0...100)
        let error = table.number("error_uT", in: 0...1000)
        guard let axes, let field, let fitError else { return nil }
        // Files of earlier versions contain only the fit error: the standard deviation of the strength, relative to it.
        self.init(axes: axes, fieldMicrotesla: field, residualMicrotesla: error ?? fitError / 100 * field)
    }
}

extension AxisCalibration {
    fileprivate init?(reading table: TableReader, offset: String, matrix: String) {
        let place = table.required(offset, "three numbers").flatMap { Self.vector(offset, $0, table) }
        guard let node = table.required(matrix, "three rows of three numbers") else { return nil }
        let nodes = table.array(matrix, node, of: "three rows of three numbers") ?? []
        let rows = nodes.compactMap { Self.vector(matrix, $0, table) }
        guard nodes.count == 3 else {
            table.refuse(matrix, at: node.position, "`\(matrix)` has \(nodes.count) rows and needs three")
            return nil
        }
        guard rows.count == 3, let place else { return nil }
        let matrix3 = Matrix3(rows: rows)
        let determinant = matrix3.determinant
        // The matrix of a calibration is near identity; it does not mirror or flatten.
        guard (0.01...100).contains(determinant) else {
            table.refuse(
                matrix, at: node.position, "`\(matrix)` has the determinant \(determinant), which no sensor needs",
                hint: "calibrate again")
            return nil
        }
        self.init(offset: place, matrix: matrix3)
    }

    /// Reads a calibration of the offset alone.
    fileprivate init?(readingOffset key: String, _ table: TableReader) {
        guard let offset = table.required(key, "three numbers").flatMap({ Self.vector(key, $0, table) }) else {
            return nil
        }
        self.init(offset: offset, matrix: Matrix3(diagonal: SIMD3(repeating: 1)))
    }

    private static func vector(_ key: String, _ node: TOMLNode, _ table: TableReader) -> SIMD3<Double>? {
        guard let nodes = node.items, nodes.count == 3 else {
            table.refuse(key, node, expected: "an array of three numbers")
            return nil
        }
        let numbers = nodes.compactMap(\.number).filter { abs($0) <= 1e6 }
        guard numbers.count == 3 else {
            table.refuse(key, at: node.position, "`\(key)`: expected three numbers up to a million")
            return nil
        }
        return SIMD3(numbers[0], numbers[1], numbers[2])
    }
}
