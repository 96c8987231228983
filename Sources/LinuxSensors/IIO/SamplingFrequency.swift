import Binnacle

/// A device's sampling rate and its available rates.
package struct SamplingFrequency: Sendable {
    /// Rates outside this range are driver errors.
    private static let sensible = 1e-3...1e6
    /// The part of a needed rate that suffices: drivers round.
    static let enough = 0.99

    /// How the names of the sensors of a Chromebook's controller begin.
    static let chromebook = "cros-ec-"

    private let directory: SysfsDirectory
    private let name: String

    /// The attribute of a kind of channel, or else of the device; `nil` when there is none.
    init?(_ kind: SampleKind, of directory: SysfsDirectory) {
        let names = [IIODevice.prefix(kind) + "_sampling_frequency", "sampling_frequency"]
        guard let name = names.first(where: directory.has) else { return nil }
        self.directory = directory
        self.name = name
    }

    init(trigger: SysfsDirectory) {
        directory = trigger
        name = "sampling_frequency"
    }

    /// The current rate in Hz; `nil` when it cannot be read or is implausible.
    ///
    /// Some drivers return an error until the device runs.
    var current: Double? {
        guard let rate = try? directory.number(name), Self.sensible.contains(rate) else { return nil }
        return rate
    }

    /// What switches a device off again whose rate is 0 now; `nil` for one that runs.
    var off: DeviceValue? {
        guard let text = try? directory.text(name), SysfsNumber.parse(text) == 0 else { return nil }
        return DeviceValue(folder: directory, name: name, text: text)
    }

    /// The highest available rate in Hz; `nil` when the driver names none.
    var fastest: Double? { available.map { Self.nearest(to: Self.sensible.upperBound, in: $0) } }

    /// The available rates; some drivers have a list of the device beside the attribute of a kind of channel.
    private var available: String? {
        for attribute in [name + "_available", "sampling_frequency_available"] {
            guard let text = (try? directory.textIfPresent(attribute)) ?? nil else { continue }
            return isOfChromebook ? Self.range(text) ?? text : text
        }
        return nil
    }

    private var isOfChromebook: Bool {
        ((try? directory.textIfPresent("name")) ?? nil)?.hasPrefix(Self.chromebook) ?? false
    }

    /// The rates of a Chromebook's sensor, which are those of off, the least and the greatest one, as `[min step max]`: it takes each rate
    /// between them.
    private static func range(_ text: String) -> String? {
        let rates = text.split(separator: Character(" ")).compactMap { SysfsNumber.parse(String($0)) }
        guard rates.count == 3, rates[0] == 0, sensible.contains(rates[1]), rates[1] <= rates[2] else { return nil }
        return "[\(SysfsNumber.text(rates[1])) 0.001 \(SysfsNumber.text(rates[2]))]"
    }

    /// Sets the nearest available rate, or the lowest that suffices for a need, and returns the rate read back, which drivers round.
    ///
    /// Throws ``SensorFailure`` when permission is missing; a value that a driver refuses leaves the rate unchanged.
    func set(_ wanted: Double, isNeed: Bool = false) throws(SensorFailure) -> Double? {
        let choice = Self.nearest(to: wanted, in: available, isNeed: isNeed)
        if let current, abs(current - choice) <= 1e-3 * choice { return current }
        try write(choice)
        return current
    }

    /// Raises a lower rate to the lowest available one that suffices; one that cannot be read may be 0, which is off.
    ///
    /// Throws ``SensorFailure`` when permission is missing; a value that a driver refuses leaves the rate unchanged.
    func raise(to needed: Double) throws(SensorFailure) {
        if let current, current >= needed * Self.enough { return }
        try write(Self.nearest(to: needed, in: available, isNeed: true))
    }

    private func write(_ rate: Double) throws(SensorFailure) {
        try SensorFailure.tolerating { () throws(SensorFailure) in
            try directory.write(SysfsNumber.text(rate), to: name)
        }
    }

    /// The nearest available rate of a list or of `[min step max]`, for a need the lowest that suffices, or else the highest; the wanted
    /// one without either.
    package static func nearest(to wanted: Double, in available: String?, isNeed: Bool = false) -> Double {
        guard let available else { return wanted }
        let isRange = available.hasPrefix("[")
        let numbers = available.split { $0 == " " || $0 == "[" || $0 == "]" }.compactMap {
            SysfsNumber.parse(String($0))
        }
        .filter(sensible.contains)
        if isRange {
            guard numbers.count == 3, numbers[0] <= numbers[2] else { return wanted }
            let steps = (min(max(wanted, numbers[0]), numbers[2]) - numbers[0]) / numbers[1]
            let count = isNeed ? (steps - 1e-3).rounded(.up) : steps.rounded()
            return min(numbers[0] + count * numbers[1], numbers[2])
        }
        if isNeed { return numbers.filter { $0 >= wanted * enough }.min() ?? numbers.max() ?? wanted }
        // Compared by ratio: from 100, 50 is as far as 200.
        return numbers.min { max($0 / wanted, wanted / $0) < max($1 / wanted, wanted / $1) } ?? wanted
    }
}
