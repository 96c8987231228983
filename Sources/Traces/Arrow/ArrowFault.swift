/// What is wrong with an Arrow stream, in words that follow on the place.
struct ArrowFault: Error, Equatable {
    let message: String

    /// An offset leads out of the bytes, or something stands where it cannot.
    static let damaged = ArrowFault("its metadata makes no sense: the file is damaged")

    init(_ message: String) {
        self.message = message
    }
}
