/// What a detector found in one delivery, collected per topic and told in the order of the samples.
struct ReportList<Payload> {
    struct Report {
        let index: Int
        let order: Int
        let payload: Payload
    }

    private(set) var reports: [Report] = []

    /// Adds something found at a sample; of what one sample caused, what was added first is told first.
    mutating func append(_ payload: Payload, at index: Int) {
        reports.append(Report(index: index, order: reports.count, payload: payload))
    }

    mutating func sort() {
        guard reports.count > 1 else { return }
        reports.sort { ($0.index, $0.order) < ($1.index, $1.order) }
    }

    mutating func removeAll() {
        reports.removeAll(keepingCapacity: true)
    }
}
