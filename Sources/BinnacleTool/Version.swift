/// The version, as the change log has it.
enum Version {
    static let current = "0.1.0"
}
