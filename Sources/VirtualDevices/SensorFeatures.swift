/// What the kernel sets in a sensor of a hub: its feature report.
package struct SensorFeatures: Sendable, Equatable {
    /// From 1 on: no events, all events, threshold events, and the same three with waking the machine.
    package private(set) var reportingState: UInt8 = Self.noEvents
    /// From 1 on: undefined, D0 (full power), D1, D2, D3, D4 (off).
    package private(set) var powerState: UInt8 = Self.off
    package private(set) var intervalMilliseconds: UInt32
    /// Kept for whoever asks; changes of any size are reported.
    package private(set) var sensitivity: UInt32 = 0

    static let noEvents: UInt8 = 1
    static let off: UInt8 = 6
    /// The report's number, two bytes and two words.
    private static let size = 11
    private static let states: ClosedRange<UInt8> = 1...6

    /// A sensor that is off and reports nothing, as it is before a driver has come.
    package init(intervalMilliseconds: UInt32) {
        self.intervalMilliseconds = intervalMilliseconds
    }

    /// Whether the kernel wants samples.
    package var isReporting: Bool { reportingState != Self.noEvents && powerState != Self.off }

    /// The report.
    func report(number: UInt8) -> [UInt8] {
        var bytes = [number, reportingState, powerState]
        HubReports.append(intervalMilliseconds, to: &bytes)
        HubReports.append(sensitivity, to: &bytes)
        return bytes
    }

    /// Takes what the kernel sets; a report that makes no sense is left.
    ///
    /// - Returns: Whether it was taken.
    mutating func take(_ report: [UInt8]) -> Bool {
        guard report.count >= Self.size, Self.states.contains(report[1]), Self.states.contains(report[2]) else {
            return false
        }
        reportingState = report[1]
        powerState = report[2]
        intervalMilliseconds = HubReports.word(report[3..<7])
        sensitivity = HubReports.word(report[7..<11])
        return true
    }
}
