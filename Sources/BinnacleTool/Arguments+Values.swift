import Binnacle
import CommandRows
import Configuration
import PlainText
import Station

/// Values of options that several commands have.
extension Arguments {
    /// The value of `--for`, or of another option that takes a time.
    func duration(_ option: OptionRow = .for) throws(StationError) -> Duration? {
        guard let text = value(option) else { return nil }
        guard let duration = DurationText.parse(text), duration > .zero else {
            throw .usage(
                "--\(option.name) \(text): has to be a time above 0 and below a century, with its unit, as in 500ms, 10s, 5m, 1h"
            )
        }
        return duration
    }

    /// Configurations named as operands and by `--config`.
    var configurationPaths: [String] { operands + all(.config) }

    /// The values of `--set`.
    func settings() throws(StationError) -> [CommandLineSetting] {
        var settings: [CommandLineSetting] = []
        for text in all(.set) {
            guard let setting = CommandLineSetting(text) else {
                throw .usage("--set \(text): has to be KEY=VALUE on one line, as in motion.moved.threshold_g=0.1")
            }
            settings.append(setting)
        }
        return settings
    }

    /// The value of `--speed`, 1 by default.
    func speed(mayBeMaximum: Bool = false) throws(StationError) -> Double {
        let meaning = "a number above 0\(mayBeMaximum ? ", or max" : "")"
        return try number(.speed, in: .leastNonzeroMagnitude ... .greatestFiniteMagnitude, meaning) ?? 1
    }

    /// The value of `--output`, which a command requires.
    func output(of command: String) throws(StationError) -> String {
        guard let path = value(.output), !path.isEmpty else {
            throw .usage("\(command) needs a file to write to: -o FILE; see 'binnacle \(command) --help'")
        }
        return path
    }

    /// The value of an option that names a model.
    func simulated(_ option: OptionRow) throws(StationError) -> SimulationSettings.Model? {
        let models: [SimulationSettings.Model] = try words(option, "no such model")
        return models.last
    }

    /// The values of an option that takes names; `complaint` is what is wrong with another word.
    func words<Name: RawRepresentable<String> & CaseIterable>(
        _ option: OptionRow, _ complaint: String
    ) throws(StationError) -> [Name] {
        try all(option).map { word throws(StationError) in
            if let name = Name(rawValue: word) { return name }
            let hint = Spelling.hint(for: word, among: Name.allCases.map(\.rawValue))
            throw .usage("--\(option.name) \(word): \(complaint) (\(hint))")
        }
    }

    /// The value of an option that takes one of some words.
    func choice<Value>(_ option: OptionRow, _ values: KeyValuePairs<String, Value>) throws(StationError) -> Value? {
        guard let text = value(option) else { return nil }
        guard let value = values.first(where: { $0.key == text })?.value else {
            let names = Spelling.alternatives(values.map(\.key))
            throw .usage("--\(option.name) \(text): has to be \(names)")
        }
        return value
    }

    /// The value of an option that takes a number, whose `meaning` completes the message.
    func number(_ option: OptionRow, in range: ClosedRange<Double>, _ meaning: String) throws(StationError) -> Double? {
        guard let text = value(option) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw .usage("--\(option.name) \(text): has to be \(meaning)")
        }
        return number
    }

    /// The value of an option that takes a whole number.
    func count(_ option: OptionRow, in range: ClosedRange<Int>) throws(StationError) -> Int? {
        guard let text = value(option) else { return nil }
        guard let count = Int(text), range.contains(count) else {
            throw .usage(
                "--\(option.name) \(text): has to be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }
}
