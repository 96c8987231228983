/// The version, as the change log has it.
package enum Version {
    /// The version of this program.
    package static let current = "0.3.0"
}
