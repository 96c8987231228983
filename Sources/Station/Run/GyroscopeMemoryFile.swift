package import Binnacle
import Configuration
import LinuxSystem
import PlainText
import Store

/// The learned properties of each device's gyroscope, kept across starts in a small file in the state folder.
package final class GyroscopeMemoryFile {
    /// The memory of one device.
    package struct Entry: Sendable, Equatable {
        package let device: String
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

    private static let limits = (bytes: 65_536, entries: 64)
    /// Larger offsets in a file are rejected, in rad/s.
    private static let largestOffset = 1.0

    static var standardPath: String? { EventStoreSettings.besideEvents("gyroscopes.json") }

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
            if case .system(let error) = error, error.isMissing { return nil }
            return
                "\(path.printable): what was learned of gyroscopes cannot be read (\(error.reason)); it is learned again"
        }
        return nil
    }

    /// The memory of a device's gyroscope, with its uncertainty aged to the given time; `nil` for an unknown device.
    package func recall(_ device: String, at wallNanoseconds: Int64) -> FusionMemory? {
        guard let entry = entries.last(where: { $0.device == device }) else { return nil }
        let seconds = Units.seconds(from: entry.wallNanoseconds, to: wallNanoseconds)
        // The clock was wrong at one of the times, so the age is unknown.
        return entry.memory.aged(seconds: seconds < 0 ? .greatestFiniteMagnitude : seconds)
    }

    /// Records what a detector has learned.
    package func record(_ state: GyroscopeState, at wallNanoseconds: Int64) {
        guard let device = state.device, state.isLearned else { return }
        let entry = entries.last { $0.device == device }
        let known = entry?.memory
        // A detector without a magnetometer knows nothing of iron and scale.
        var memory = state.memory
        memory.errors = memory.errors ?? known?.errors
        if !state.hasGyroscope, let entry {
            guard let iron = memory.errors,
                (entry.memory.errors?.iron, entry.memory.errors?.ironSigma) != (iron.iron, iron.ironSigma)
            else { return }
            // What is kept gets the new stamp, and so its age until then.
            memory = entry.memory.aged(seconds: max(0, Units.seconds(from: entry.wallNanoseconds, to: wallNanoseconds)))
            memory.errors?.iron = iron.iron
            memory.errors?.ironSigma = iron.ironSigma
            memory.errors = memory.errors ?? iron
        }
        guard known != memory else { return }
        entries.removeAll { $0.device == device }
        entries.append(Entry(device: device, memory: memory, wallNanoseconds: wallNanoseconds))
        if entries.count > Self.limits.entries { entries.removeFirst() }
        isChanged = true
    }

    /// The contents of the file; marks them as written.
    package func removeContents() -> [UInt8] {
        isChanged = false
        let gyroscopes = JSONObject.list(entries.map(Self.text))
        return Array((JSONObject.text(["version": "1", "gyroscopes": gyroscopes]) + "\n").utf8)
    }

    private static func text(_ entry: Entry) -> String {
        func list(_ vector: SIMD3<Double>, _ decimals: Int) -> [String] {
            (0..<3).map { Decimal.text(vector[$0], decimals: decimals) ?? "0" }
        }
        var object = JSONObject()
        object.add("device", entry.device)
        object.add("time", WallTime.text(entry.wallNanoseconds))
        object.add("offset_rad_s", list: list(entry.memory.offset, 9))
        object.add("sigma_dps", list: list(entry.memory.sigmaDegrees, 6))
        if let field = entry.memory.field {
            object.add("field", raw: Decimal.text(field.strength, decimals: 4) ?? "null")
            object.add("dip_deg", raw: Decimal.text(field.dipDegrees, decimals: 4) ?? "null")
        }
        if let errors = entry.memory.errors {
            object.add("iron_uT", list: list(errors.iron, 4))
            object.add("iron_sigma_uT", list: list(errors.ironSigma, 4))
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
        return items.suffix(limits.entries).compactMap(entry)
    }

    private static func entry(_ value: JSONValue) -> Entry? {
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
            let time = value["time"]?.text.flatMap(WallTime.nanoseconds),
            let offset = vector("offset_rad_s", in: -largestOffset...largestOffset),
            let sigma = vector("sigma_dps", in: 0.001...10)
        else { return nil }
        var memory = FusionMemory(offset: offset, sigmaDegrees: sigma)
        if let strength = number(value["field"], in: 1...1000), let dip = number(value["dip_deg"], in: -90...90) {
            memory.field = (strength, dip)
        }
        if let iron = vector("iron_uT", in: -1000...1000), let ironSigma = vector("iron_sigma_uT", in: 0.01...1000),
            let scale = number(value["scale"], in: 0.5...2), let sigma = number(value["scale_sigma"], in: 0.000_01...1)
        {
            memory.errors = SensorErrors(iron: iron, ironSigma: ironSigma, scale: scale, scaleSigma: sigma)
        }
        return Entry(device: device, memory: memory, wallNanoseconds: time)
    }
}

extension EventStoreSettings {
    /// The path of a file in the state folder; `nil` when no folder is known.
    static func besideEvents(_ name: String) -> String? {
        withoutConfiguration.map { path in
            path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/" + name
        }
    }
}
