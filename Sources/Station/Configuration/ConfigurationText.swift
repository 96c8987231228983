/// One file of a configuration.
struct ConfigurationText {
    /// What it is called in messages.
    let path: String
    /// What it says.
    let bytes: [UInt8]
}
