/// Why a library that is loaded when it is used cannot be used.
package enum MissingLibrary {
    /// The loader's words, with the package that has the library where its file is missing; the package mends no other reason.
    package static func reason(_ words: String, debian name: String) -> String {
        words.hasSuffix("No such file or directory") ? "\(words) (Debian has it in \(name))" : words
    }
}
