import Binnacle

extension NorthDetector {
    /// Tells what was found in a delivery.
    func report(streamIndex: Int) {
        guard !found.reports.isEmpty else { return }
        let delegate = self.delegate
        let start = startCount
        for finding in found.reports {
            guard isDetecting, startCount == start else { return }
            position = SamplePosition(
                timeNanoseconds: finding.payload.timeNanoseconds, streamIndex: streamIndex, sampleIndex: finding.index)
            switch finding.payload {
            case .heading(let event): delegate?.northDetector(self, didUpdateHeading: event)
            case .regained(let event): delegate?.northDetector(self, didFindHeading: event)
            case .lost(let loss): delegate?.northDetector(self, didLoseHeading: loss)
            case .gyroscope(let failure, _): delegate?.northDetector(self, didFailWithError: failure)
            case .field(let change, let event): report(delegate, change, event)
            case .faced(let watch, let event):
                watch.isFaced = true
                guard let sector = watch.sector else {
                    delegate?.northDetector(self, didFaceNorth: event)
                    continue
                }
                delegate?.northDetector(self, didEnter: sector, with: event)
            case .facing(let event): delegate?.northDetector(self, deviceIsFacingNorth: event)
            case .left(let watch, let event):
                watch.isFaced = false
                guard let sector = watch.sector else {
                    delegate?.northDetector(self, didLeaveNorth: event)
                    continue
                }
                delegate?.northDetector(self, didLeave: sector, with: event)
            }
        }
    }

    private func report(
        _ delegate: (any NorthDetectorDelegate)?, _ change: InterferenceMonitor.Change, _ event: FieldEvent
    ) {
        switch change {
        case .began: delegate?.northDetector(self, didBeginInterference: event)
        case .needsCalibration:
            guard !isCalibrationNeeded else { return }
            let start = startCount
            let isWanted = delegate?.northDetectorShouldDisplayCalibration(self) ?? false
            guard isWanted, isDetecting, startCount == start else { return }
            isCalibrationNeeded = true
            delegate?.northDetector(self, didBeginNeedingCalibration: event)
        case .ended, .calibrated:
            if change == .ended { delegate?.northDetector(self, didEndInterference: event) }
            guard isCalibrationNeeded, isDetecting else { return }
            isCalibrationNeeded = false
            delegate?.northDetector(self, didEndNeedingCalibration: event)
        }
    }
}
