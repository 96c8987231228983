/// The samples of a delivery one by one, in their order: by stamp, ties by the order of the streams.
struct MergedSamples {
    /// A sample's stream and its place there.
    enum Next {
        case rate(Int)
        case field(Int)
        case acceleration(Int)
    }

    let acceleration: SampleColumns
    let field: SampleColumns
    /// The gyroscope's; `nil` when there is none.
    let rates: SampleColumns?
    private(set) var nextAcceleration = 0
    private(set) var nextRate = 0
    private var nextField = 0
    private let accelerationOrder: Int
    private let fieldOrder: Int
    private let rateOrder: Int

    /// Takes the columns of each stream, and its place in the order.
    init(
        _ acceleration: SampleColumns, at accelerationOrder: Int, field: SampleColumns, at fieldOrder: Int,
        rates: SampleColumns?, at rateOrder: Int
    ) {
        self.acceleration = acceleration
        self.field = field
        self.rates = rates
        self.accelerationOrder = accelerationOrder
        self.fieldOrder = fieldOrder
        self.rateOrder = rateOrder
    }

    /// Whether there are no more.
    var isDone: Bool {
        nextAcceleration == acceleration.count && nextField == field.count && nextRate == rates?.count ?? 0
    }

    /// Removes the next sample.
    mutating func next() -> Next? {
        var best: (time: Int64, order: Int, sample: Next)?
        func consider(_ columns: SampleColumns, _ place: Int, _ order: Int, _ sample: Next) {
            guard place < columns.count else { return }
            let time = columns.times[place]
            if let best, (best.time, best.order) < (time, order) { return }
            best = (time, order, sample)
        }
        consider(acceleration, nextAcceleration, accelerationOrder, .acceleration(nextAcceleration))
        consider(field, nextField, fieldOrder, .field(nextField))
        if let rates { consider(rates, nextRate, rateOrder, .rate(nextRate)) }
        guard let best else { return nil }
        switch best.sample {
        case .rate: nextRate += 1
        case .field: nextField += 1
        case .acceleration: nextAcceleration += 1
        }
        return best.sample
    }
}
