/// What a machine does, by its vibration.
package enum MachineState: String, FigureWord, CaseIterable {
    /// Below the limit of running.
    case idle
    /// Above it.
    case running
    /// Above the limit of spinning.
    case spinning
}
