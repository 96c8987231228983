/// One file of a configuration.
package struct ConfigurationText {
    /// What it is called in messages.
    package let path: String
    /// What it says.
    package let bytes: [UInt8]
}
