import Binnacle
import PlainText

/// The device description at the head of an evemu recording.
///
/// Source of the format: README.md of evemu; version 1.2 added the axes' resolution.
struct EvemuHead {
    /// The device's name, as a valid sensor name.
    let sensor: String
    /// For x, y and z the resolution in units per g.
    let unitsPerG: [Int32]
    /// For x, y and z the line that describes the axis.
    let lines: [Int]
    /// For x, y and z of the gyroscope the resolution in units per degree per second; `nil` without a gyroscope.
    let unitsPerDegree: [Int32]?
    let notices: [TraceNotice]

    static let axisNames = ["ABS_X", "ABS_Y", "ABS_Z", "ABS_RX", "ABS_RY", "ABS_RZ"]
    private static let mark = "# EVEMU"
    /// INPUT_PROP_ACCELEROMETER of linux/input-event-codes.h.
    private static let accelerometerProperty = 6

    /// Whether an unread file is an evemu recording.
    static func isNext(_ lines: LineReader) throws(TraceError) -> Bool {
        guard let first = try lines.next() else { return false }
        let isEvemu = first.bytes.starts(with: mark.utf8)
        lines.putBack()
        return isEvemu
    }

    /// Reads the description; the first event is the next line afterwards.
    init(_ lines: LineReader) throws(TraceError) {
        let path = lines.path
        var name = ""
        var axes: [(line: Int, resolution: Int32)?] = [nil, nil, nil]
        var turns: [(line: Int, resolution: Int32)?] = [nil, nil, nil]
        var properties: (line: Int, isAccelerometer: Bool)?
        try Self.requireVersion(lines)
        while let line = try lines.next() {
            guard !line.isBlank, var fields = EvemuScanner(line.bytes), let tag = fields.consumeTag() else { continue }
            if tag == UInt8(ascii: "E") {
                lines.putBack()
                break
            }
            switch tag {
            case UInt8(ascii: "N"):
                name = fields.consumeRest()
            case UInt8(ascii: "P"):
                // The first line has the first 64 properties.
                guard properties == nil, let byte = fields.consumeHexadecimal() else { break }
                properties = (line.number, byte >> Self.accelerometerProperty & 1 == 1)
            case UInt8(ascii: "A"):
                let column = fields.column
                guard let axis = fields.consumeHexadecimal() else {
                    throw TraceError(
                        .data, path: path, line: line.number, column: column, "this is not an axis' number")
                }
                if axis < 3 { axes[axis] = (line.number, try Self.unitsPerG(axis, &fields, path, line.number)) }
                // Without the property the following axes are a joystick's and need no resolution.
                if (3..<6).contains(axis) {
                    turns[axis - 3] = (line.number, (try? Self.unitsPerG(axis, &fields, path, line.number)) ?? 0)
                }
            default:
                break
            }
        }
        var found: [(line: Int, resolution: Int32)] = []
        for (axis, name) in zip(axes, Self.axisNames) {
            guard let axis else {
                throw TraceError(
                    .data, path: path, line: lines.lineNumber,
                    "no line 'A: 0\(found.count) …' describes \(name): an accelerometer has three axes; record the "
                        + "device that has them (evemu-describe lists all)")
            }
            found.append(axis)
        }
        self.lines = found.map(\.line)
        unitsPerG = found.map(\.resolution)
        sensor = SensorName.sanitised(name, fallback: SampleKind.accelerometer.rawValue)
        let rates = turns.compactMap { $0 }
        guard properties?.isAccelerometer ?? true else {
            unitsPerDegree = nil
            notices = [
                TraceNotice(
                    path: path, line: properties?.line, column: nil,
                    message: "the device does not say that it is an accelerometer (INPUT_PROP_ACCELEROMETER): ABS_X, "
                        + "ABS_Y, ABS_Z taken as one")
            ]
            return
        }
        let unknown = rates.count == 3 ? rates.firstIndex { $0.resolution <= 0 } : nil
        unitsPerDegree = rates.count == 3 && unknown == nil ? rates.map(\.resolution) : nil
        notices =
            unknown.map { index in
                [
                    TraceNotice(
                        path: path, line: rates[index].line, column: nil,
                        message: "the gyroscope's axes have no resolution, so it is left out: write how many units are "
                            + "1°/s at the end of the lines 'A: 03', 'A: 04' and 'A: 05'")
                ]
            } ?? []
    }

    /// Throws ``TraceError`` for another major version; minor versions add lines, which are skipped.
    private static func requireVersion(_ lines: LineReader) throws(TraceError) {
        guard let first = try lines.next() else { return }
        let version = String(decoding: first.bytes.dropFirst(mark.utf8.count), as: UTF8.self).trimmingBlanks()
        guard version == "1" || version.hasPrefix("1.") else {
            throw TraceError(
                .data, path: lines.path, line: first.number,
                "evemu's format '\(version.prefix(24).printable)' is not known, only 1.x: record with a version that writes "
                    + "that")
        }
    }

    /// Parses `MIN MAX FUZZ FLAT RESOLUTION` after an axis' number.
    private static func unitsPerG(
        _ axis: Int, _ fields: inout EvemuScanner, _ path: String, _ line: Int
    ) throws(TraceError) -> Int32 {
        func fail(_ message: String, column: Int? = nil) -> TraceError {
            TraceError(.data, path: path, line: line, column: column, message)
        }
        let remedy =
            "write how many units are one g at the end of the line, 'A: 0\(axis) MIN MAX FUZZ FLAT RESOLUTION'"
        var numbers: [Int32] = []
        while numbers.count < 5, !fields.isAtEnd {
            let column = fields.column
            guard let number = fields.consumeInteger() else { throw fail("this is not a whole number", column: column) }
            numbers.append(number)
        }
        guard numbers.count == 5 else {
            throw fail("\(axisNames[axis]) has no resolution, as in recordings older than evemu 1.2: \(remedy)")
        }
        guard numbers[4] > 0 else {
            throw fail("the resolution of \(axisNames[axis]) is \(numbers[4]), its driver does not say it: \(remedy)")
        }
        return numbers[4]
    }
}
