/// The SQLite library, which the store loads at run time.
package enum StoreLibrary {
    /// Why SQLite cannot be loaded, and the remedy; `nil` if it can.
    ///
    /// The first use in the process loads the library and blocks meanwhile. Its result is kept, also a failure, so a library
    /// that is installed later is found only after a restart.
    package static var problem: String? {
        Database.libraryProblem.map { "the event store needs SQLite: \($0) (Debian has it in libsqlite3-0)" }
    }
}
