/// A source that leaves something out of what it reads, assumes something, or reads in another way than requested.
package protocol NoticingSource: SampleSource {
    /// Returns what its user has not been told of that yet, in sentences.
    func takeNotices() -> [String]
}
