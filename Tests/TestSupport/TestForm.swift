import Foundation

/// How thorough the tests are: `make test-long` sets `BINNACLE_LONG_TESTS`.
package enum TestForm {
    package static let isLong = ProcessInfo.processInfo.environment["BINNACLE_LONG_TESTS"] != nil

    /// How often a test repeats what it does.
    package static func count(_ short: Int, long: Int) -> Int { isLong ? long : short }
}
