import Testing

/// What runs the tests that `make` builds.
///
/// SwiftPM takes a file of this name, in a folder above a target of tests, in place of one that it makes from an index of all tests, in
/// which it looks for those of XCTest: there are none, and the index is a fifth of the time in which the tests are compiled. `swift test`
/// could not choose some of the tests then; without BINNACLE_DEVELOPMENT it does not see this file.
@main
struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
