import Testing

/// What runs the tests.
///
/// SwiftPM takes a file of this name in place of one that it makes from an index of all tests, in which it looks for those of XCTest:
/// there are none, and the index is a fifth of the time in which the tests are compiled.
@main
struct Runner {
    /// `swift test` calls the program once for each library of tests, and names this one.
    static func main() async {
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
