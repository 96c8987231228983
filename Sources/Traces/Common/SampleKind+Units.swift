import Binnacle

extension SampleKind {
    /// The unit in the metadata of a recording.
    var arrowUnit: String { Quantity.of(self).usual.option }
}
