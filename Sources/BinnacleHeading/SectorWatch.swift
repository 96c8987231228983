import Binnacle
import Kernels

/// Decides when the device faces a range of bearings, and when it has looked away.
///
/// The decision is the kernel's, made without working out an angle; this adds the dwell.
final class SectorWatch {
    /// The sector that it is about; `nil` for the bearing that the detector waits for.
    let sector: HeadingSector?
    /// Whether the device faces it, at the sample that the delegate is being told about.
    var isFaced = false

    private var trigger: DebouncedTrigger
    private let headingAxis: DeviceAxis
    /// Where the heading axis faces it, and where the upright axis does.
    private let headingSector: Sector
    private let uprightSector: Sector

    init(_ sector: HeadingSector?, settings: NorthSettings) {
        self.sector = sector
        headingAxis = settings.headingAxis
        let dwell = Units.nanoseconds(settings.dwell)
        trigger = DebouncedTrigger(activeSide: .inside, onDelayNanoseconds: dwell, offDelayNanoseconds: dwell)
        let tolerance = sector?.toleranceDegrees ?? settings.toleranceDegrees
        let exit = max(sector?.exitDegrees ?? settings.effectiveExitDegrees, tolerance)
        let bearing = sector?.bearingDegrees ?? settings.bearingDegrees
        // The kernel knows the sensors' north.
        let magnetic = Angle.normalizedDegrees(bearing - (settings.localField?.declinationDegrees ?? 0))
        func kernelSector(of axis: DeviceAxis) -> Sector {
            Sector(
                axis: axis.column, isReversed: axis.isReversed, bearingDegrees: magnetic, toleranceDegrees: tolerance,
                exitDegrees: exit)
        }
        headingSector = kernelSector(of: settings.headingAxis)
        uprightSector = kernelSector(of: settings.uprightAxis ?? settings.headingAxis)
    }

    /// Whether it is faced after the samples taken so far.
    var isOn: Bool { trigger.isOn }

    func reset() {
        trigger.reset()
        isFaced = false
    }

    /// Forgets a change that is not yet confirmed.
    func interrupt() {
        trigger.interrupt()
    }

    /// Takes samples that have the heading of one axis; calls `told` for each change, with the sample's index.
    func process(
        _ times: UnsafePointer<Int64>, range: Range<Int>, axis: DeviceAxis, acceleration: AxisColumns,
        field: AxisColumns, told: (_ index: Int, _ isFaced: Bool) -> Void
    ) {
        let sector = axis == headingAxis ? headingSector : uprightSector
        trigger.process(times: times, range: range) { isFacing, crossings in
            findFacing(
                acceleration: acceleration, field: field, range: range, sector: sector, isFacing: &isFacing,
                crossings: &crossings)
        }
        for transition in trigger.transitions { told(transition.index, transition.isOn) }
    }
}
