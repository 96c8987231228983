/// The settings of a hub's sensor, its feature report; at first it is off, as before a driver was bound.
package struct SensorFeatures: Sendable, Equatable {
    /// From 1: no events, all events, threshold events, and the same three with wake-up.
    package private(set) var reportingState: UInt8 = Self.noEvents
    /// From 1: undefined, D0 (full power), D1, D2, D3, D4 (off).
    package private(set) var powerState: UInt8 = Self.off
    package private(set) var intervalMilliseconds: UInt32
    /// Stored and reported, but not applied: every change is sent.
    package private(set) var sensitivity: UInt32 = 0

    static let noEvents: UInt8 = 1
    static let off: UInt8 = 6
    /// The report's number, two bytes and two 32-bit words.
    private static let size = 11
    private static let states: ClosedRange<UInt8> = 1...6

    /// Whether the kernel requests samples.
    package var isReporting: Bool { reportingState != Self.noEvents && powerState != Self.off }

    func report(number: UInt8) -> [UInt8] {
        var bytes = [number, reportingState, powerState]
        bytes.append(littleEndian: intervalMilliseconds)
        bytes.append(littleEndian: sensitivity)
        return bytes
    }

    /// Applies a report from the kernel, and returns whether it was valid.
    mutating func apply(_ report: [UInt8]) -> Bool {
        guard report.count >= Self.size, Self.states.contains(report[1]), Self.states.contains(report[2]) else {
            return false
        }
        reportingState = report[1]
        powerState = report[2]
        intervalMilliseconds = Self.word(report[3..<7])
        sensitivity = Self.word(report[7..<11])
        return true
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
