package import Binnacle
import LinuxSystem
import PlainText

/// What was learned of gyroscopes and magnetometers, kept across starts in a small file.
package final class GyroscopeMemoryFile {
    /// The memory of one sensor of a device.
    package struct Entry: Sendable, Equatable {
        /// A gyroscope has the offset and the scale, a magnetometer the field and the iron.
        package let kind: SampleKind
        package let sensor: MountedSensor
        package let memory: FusionMemory
        /// Time of learning, in nanoseconds since 1970.
        package let wallNanoseconds: Int64
    }

    /// The latest is last.
    package private(set) var entries: [Entry] = []
    /// The file; `nil` when no folder is known.
    let path: String?
    /// Whether there are entries that the file lacks.
    package private(set) var isChanged = false

    private static let limits = (bytes: 131_072, entries: 128)
    /// Larger offsets in a file are rejected, in rad/s.
    private static let largestOffset = 1.0

    /// Creates an empty memory; with `nil` it is never written.
    package init(path: String?) {
        self.path = path
    }

    /// Reads the file; returns why it cannot be used, in which case the next entry replaces it.
    package func read() -> String? {
        guard let path else { return nil }
        do throws(SmallFile.Failure) {
            let bytes = try SmallFile.bytes(path, limit: Self.limits.bytes, kind: .regular)
            guard let entries = Self.entries(of: bytes) else { throw .malformed }
            self.entries = entries
        } catch {
            if error.isMissing { return nil }
            return
                "\(path.printable): what was learned of gyroscopes cannot be read (\(error.reason)); it is learned again"
        }
        return nil
    }

    /// The memory of a sensor, with its uncertainty aged to the given time; `nil` for one that is unknown or mounted otherwise.
    package func recall(_ kind: SampleKind, _ sensor: MountedSensor, at wallNanoseconds: Int64) -> FusionMemory? {
        guard let entry = entry(kind, sensor) else { return nil }
        let seconds = Units.seconds(from: entry.wallNanoseconds, to: wallNanoseconds)
        // The clock was wrong at one of the times, so the age is unknown.
        return entry.memory.aged(seconds: seconds < 0 ? .greatestFiniteMagnitude : seconds)
    }

    package func record(_ state: GyroscopeState, at wallNanoseconds: Int64) {
        guard state.isLearned else { return }
        if state.hasGyroscope, let sensor = state.gyroscope {
            var memory = state.memory.ofGyroscope
            // A detector without a magnetometer knows nothing of the scale.
            memory.errors = memory.errors ?? entry(.gyroscope, sensor)?.memory.errors
            keep(memory, .gyroscope, sensor, at: wallNanoseconds)
        }
        if let sensor = state.magnetometer {
            let known = entry(.magnetometer, sensor)?.memory
            var memory = state.memory.ofMagnetometer
            // A calibration hides the device's iron, and a compass without a gyroscope knows nothing of the field.
            memory.errors = memory.errors ?? known?.errors
            if !state.hasGyroscope { memory.field = known?.field }
            guard memory.errors != nil || memory.field != nil else { return }
            keep(memory, .magnetometer, sensor, at: wallNanoseconds)
        }
    }

    private func entry(_ kind: SampleKind, _ sensor: MountedSensor) -> Entry? {
        entries.last { $0.kind == kind && $0.sensor.holds(for: sensor) }
    }

    private func keep(_ memory: FusionMemory, _ kind: SampleKind, _ sensor: MountedSensor, at wallNanoseconds: Int64) {
        guard entry(kind, sensor)?.memory != memory else { return }
        entries.removeAll { $0.kind == kind && $0.sensor.device == sensor.device }
        entries.append(Entry(kind: kind, sensor: sensor, memory: memory, wallNanoseconds: wallNanoseconds))
        if entries.count > Self.limits.entries { entries.removeFirst() }
        isChanged = true
    }

    /// The contents of the file; marks them as written.
    package func removeContents() -> [UInt8] {
        isChanged = false
        func list(_ kind: SampleKind) -> String { JSONObject.list(entries.filter { $0.kind == kind }.map(Self.text)) }
        let text = JSONObject.text([
            "version": "1", "gyroscopes": list(.gyroscope), "magnetometers": list(.magnetometer),
        ])
        return Array((text + "\n").utf8)
    }

    private static func text(_ entry: Entry) -> String {
        func list(_ vector: SIMD3<Double>, _ decimals: Int) -> [String] {
            (0..<3).map { Decimal.text(vector[$0], decimals: decimals) ?? "0" }
        }
        var object = JSONObject()
        object.add("device", entry.sensor.device)
        // Version 0.3 wrote no axes; where they are empty they are not known either.
        object.add("axes", entry.sensor.axes ?? "")
        object.add("time", WallTime.text(entry.wallNanoseconds))
        if entry.kind == .gyroscope {
            object.add("offset_rad_s", list: list(entry.memory.offset, 9))
            object.add("sigma_dps", list: list(entry.memory.sigmaDegrees, 6))
        }
        if let field = entry.memory.field {
            object.add("field", raw: Decimal.text(field.strength, decimals: 4) ?? "null")
            object.add("dip_deg", raw: Decimal.text(field.dipDegrees, decimals: 4) ?? "null")
        }
        if let errors = entry.memory.errors, errors.isIronKnown {
            object.add("iron_uT", list: list(errors.iron, 4))
            object.add("iron_sigma_uT", list: list(errors.ironSigma, 4))
        }
        if let errors = entry.memory.errors, errors.isScaleKnown {
            object.add("scale", raw: Decimal.text(errors.scale, decimals: 6) ?? "null")
            object.add("scale_sigma", raw: Decimal.text(errors.scaleSigma, decimals: 6) ?? "null")
        }
        return object.text
    }

    /// The valid entries of a file; `nil` when the format is not this one.
    package static func entries(of bytes: [UInt8]) -> [Entry]? {
        guard let value = try? JSONReader.value(of: bytes), value["version"]?.integer == 1,
            case .array(let items)? = value["gyroscopes"]
        else { return nil }
        var entries = items.compactMap { entry(.gyroscope, $0) }
        // Version 0.3 kept the iron with the gyroscope: whose it is, is known where one device has both sensors.
        entries += items.filter { $0["axes"] == nil }.compactMap { entry(.magnetometer, $0) }
        if case .array(let items)? = value["magnetometers"] { entries += items.compactMap { entry(.magnetometer, $0) } }
        entries.sort { $0.wallNanoseconds < $1.wallNanoseconds }
        return Array(entries.suffix(limits.entries))
    }

    private static func entry(_ kind: SampleKind, _ value: JSONValue) -> Entry? {
        func number(_ value: JSONValue?, in range: ClosedRange<Double>) -> Double? {
            guard case .number(let text)? = value, let number = Double(text), range.contains(number) else { return nil }
            return number
        }
        func vector(_ key: String, in range: ClosedRange<Double>) -> SIMD3<Double>? {
            guard case .array(let items)? = value[key], items.count == 3 else { return nil }
            let numbers = items.compactMap { number($0, in: range) }
            return numbers.count == 3 ? SIMD3(numbers[0], numbers[1], numbers[2]) : nil
        }
        guard let device = value["device"]?.text, !device.isEmpty,
            let time = value["time"]?.text.flatMap(WallTime.nanoseconds)
        else { return nil }
        var memory = FusionMemory.nothing(FusionSettings())
        if kind == .gyroscope {
            guard let offset = vector("offset_rad_s", in: -largestOffset...largestOffset),
                let sigma = vector("sigma_dps", in: 0.001...10)
            else { return nil }
            (memory.offset, memory.sigmaDegrees) = (offset, sigma)
            if let scale = number(value["scale"], in: 0.5...2),
                let sigma = number(value["scale_sigma"], in: 0.000_01...1)
            {
                memory.errors = SensorErrors.scale(scale, sigma: sigma)
            }
        } else {
            if let strength = number(value["field"], in: 1...1000), let dip = number(value["dip_deg"], in: -90...90) {
                memory.field = (strength, dip)
            }
            if let iron = vector("iron_uT", in: -1000...1000), let sigma = vector("iron_sigma_uT", in: 0.01...1000) {
                memory.errors = SensorErrors.iron(iron, sigma: sigma)
            }
            guard memory.field != nil || memory.errors != nil else { return nil }
        }
        let axes = value["axes"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        return Entry(
            kind: kind, sensor: MountedSensor(device: device, axes: axes), memory: memory, wallNanoseconds: time)
    }
}
