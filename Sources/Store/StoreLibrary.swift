import PlainText

/// The SQLite library, which the store loads at run time.
package enum StoreLibrary {
    /// Why SQLite cannot be loaded, and the remedy; `nil` if it can.
    ///
    /// The first use in the process loads the library and blocks meanwhile. After a failure the next use tries again.
    package static var problem: String? {
        Database.libraryProblem.map {
            "the event store needs SQLite: \(MissingLibrary.reason($0, debian: "libsqlite3-0"))"
        }
    }
}
