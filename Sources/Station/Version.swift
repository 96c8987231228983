/// The version, as the change log has it.
package enum Version {
    package static let current = "0.3.0"
}
