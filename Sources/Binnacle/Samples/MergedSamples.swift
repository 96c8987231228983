/// The samples of a delivery one by one, in their order: by stamp, ties by the order of the streams.
@usableFromInline package struct MergedSamples {
    /// A sample's stream and its place there.
    @usableFromInline package enum Next {
        case rate(Int)
        case field(Int)
        case acceleration(Int)
    }

    @usableFromInline package let acceleration: SampleColumns
    @usableFromInline package let field: SampleColumns
    /// The gyroscope's; `nil` when there is none.
    @usableFromInline package let rates: SampleColumns?
    @usableFromInline package internal(set) var nextAcceleration = 0
    @usableFromInline package internal(set) var nextRate = 0
    @usableFromInline var nextField = 0
    @usableFromInline let accelerationOrder: Int
    @usableFromInline let fieldOrder: Int
    @usableFromInline let rateOrder: Int

    /// Takes the columns of each stream, and its place in the order.
    package init(
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
    package var isDone: Bool {
        nextAcceleration == acceleration.count && nextField == field.count && nextRate == rates?.count ?? 0
    }

    /// Removes the next sample.
    @inlinable package mutating func next() -> Next? {
        var (bestTime, bestOrder) = (Int64.max, Int.max)
        var best: Next?
        func consider(_ columns: SampleColumns, _ place: Int, _ order: Int, _ sample: Next) {
            guard place < columns.count else { return }
            let time = columns.times[place]
            guard time < bestTime || time == bestTime && order < bestOrder else { return }
            (bestTime, bestOrder, best) = (time, order, sample)
        }
        consider(acceleration, nextAcceleration, accelerationOrder, .acceleration(nextAcceleration))
        consider(field, nextField, fieldOrder, .field(nextField))
        if let rates { consider(rates, nextRate, rateOrder, .rate(nextRate)) }
        switch best {
        case .rate: nextRate += 1
        case .field: nextField += 1
        case .acceleration: nextAcceleration += 1
        case nil: break
        }
        return best
    }
}
