/// The library of the store.
package enum StoreLibrary {
    /// Why SQLite cannot be loaded, and the remedy; `nil` if it can.
    package static var problem: String? {
        Database.libraryProblem.map { "the event store needs SQLite: \($0) (Debian has it in libsqlite3-0)" }
    }
}
