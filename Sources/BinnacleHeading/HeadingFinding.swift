/// A finding of a ``NorthDetector`` at a sample, until it is reported to the delegate.
enum HeadingFinding {
    case heading(HeadingEvent)
    case regained(HeadingEvent)
    case lost(HeadingLoss)
    case field(InterferenceMonitor.Change, FieldEvent)
    case faced(SectorWatch, HeadingEvent)
    case facing(HeadingEvent)
    case left(SectorWatch, HeadingEvent)
    case gyroscope(FusionFailure, timeNanoseconds: Int64)

    var timeNanoseconds: Int64 {
        switch self {
        case .heading(let event), .regained(let event), .faced(_, let event), .facing(let event), .left(_, let event):
            event.timeNanoseconds
        case .lost(let loss): loss.timeNanoseconds
        case .field(_, let event): event.timeNanoseconds
        case .gyroscope(_, let time): time
        }
    }
}
