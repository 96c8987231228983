import PlainText
import Testing

/// What is said of a library that cannot be loaded.
@Suite struct MissingLibraryTests {
    /// Only a missing file is one that a package brings.
    @Test func thePackageIsNamedWhereTheFileIsMissing() {
        let missing = "libcurl.so.4: cannot open shared object file: No such file or directory"
        #expect(MissingLibrary.reason(missing, debian: "libcurl4") == missing + " (Debian has it in libcurl4)")
        let full = "libcurl.so.4: cannot open shared object file: Too many open files"
        #expect(MissingLibrary.reason(full, debian: "libcurl4") == full)
    }
}
