package import Binnacle
import Glibc
import LinuxSystem

/// Reads the events in a store's file while no daemon has it, and changes nothing.
///
/// It has the file only while it reads a page, so that a daemon may start at any time.
package struct EventStoreReader: Sendable {
    /// Why a file cannot be read.
    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// There is no file.
        case missing(path: String)
        /// Another process has it.
        case inUse(path: String)
        /// It cannot be read, for a reason that says its path, too.
        case unreadable(String)

        /// What is wrong and what to do about it.
        package var description: String {
            switch self {
            case .missing(let path): "\(path): there is no event store yet"
            case .inUse(let path): "\(path): a daemon has this event store open: ask it for the events"
            case .unreadable(let reason): reason
            }
        }
    }

    /// The file.
    package let path: String

    /// Creates a reader of a file, which nobody has looked at yet.
    package init(path: String) {
        self.path = path
    }

    /// Reads a page of events.
    ///
    /// - Parameter query: Which; the next page is behind ``EventPage/through``.
    /// - Returns: The page. Lines that are no events are passed over.
    /// - Throws: ``Failure``.
    package func read(_ query: EventQuery) throws(Failure) -> EventPage {
        do throws(StoreFailure) {
            return try page(query)
        } catch {
            throw failure(error)
        }
    }

    private func page(_ query: EventQuery) throws(StoreFailure) -> EventPage {
        let place = try mapError(StoreFailure.system) { () throws(SystemError) in try FilePlace(path) }
        guard try place.examine() else { throw .system(SystemError(code: ENOENT, call: "open", path: path)) }
        let database = try open(place)
        guard try StoreSchema.check(database) else { return EventPage(through: query.after) }
        return try mapError(StoreFailure.init) { () throws(SQLiteError) in
            try database.execute("PRAGMA query_only = ON")
            return try database.page(query).page
        }
    }

    /// Connects to the file without changing it or what lies beside it.
    ///
    /// Without a log the file is complete: a daemon that starts meanwhile writes into its log first. The log of a daemon
    /// that was killed is read with the file, which takes the right to write, because its index has to be put together.
    private func open(_ place: FilePlace) throws(StoreFailure) -> Database {
        let log = try mapError(StoreFailure.system) { () throws(SystemError) in try FilePlace.status(place.log) }
        guard log?.size ?? 0 > 0 else {
            return try mapError(StoreFailure.init) { () throws(SQLiteError) in
                try Database(path: place.path, access: .readImmutable)
            }
        }
        guard mayWrite(place.path), mayWrite(place.log) else {
            throw .foreign(
                path: path, reason: "a daemon has it open, or was killed",
                remedy: "ask the daemon, or read it as its owner or as root")
        }
        return try StoreFile.connect(to: place)
    }

    private func mayWrite(_ path: String) -> Bool {
        faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    }

    private func failure(_ error: StoreFailure) -> Failure {
        switch error {
        case .system(let error) where error.isMissing: .missing(path: path)
        case .sqlite(let error) where error.isInUse: .inUse(path: path)
        default: .unreadable(error.text(path: path))
        }
    }
}
