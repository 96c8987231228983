package import Binnacle
import Glibc
package import LinuxSystem

/// Reads the events in a store's file while no daemon has it, and changes nothing.
///
/// The file is open only while a page is read, so that a daemon can start at any time.
package struct EventStoreReader: Sendable {
    /// Why a file cannot be read.
    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        case missing(path: String)
        /// Another process has locked it.
        case inUse(path: String)
        /// This account may not read it.
        case noPermission(SystemError)
        /// It cannot be read, for a reason that contains its path.
        case unreadable(String)

        /// The failure and the remedy.
        package var description: String {
            switch self {
            case .missing(let path): "\(path): there is no event store yet; [store] in the configuration keeps events"
            case .inUse(let path): "\(path): a daemon has this event store open: ask it for the events"
            case .noPermission(let error): "\(error); read it as its owner, as a member of its group, or as root"
            case .unreadable(let reason): reason
            }
        }
    }

    package let path: String

    /// Creates a reader; the file is opened by ``read(_:)``.
    package init(path: String) {
        self.path = path
    }

    /// Gives up root's rights, until the end of the process, where reading means that SQLite recovers files of another account.
    ///
    /// That account could make SQLite delete any file that the process may delete.
    package func dropRootRights() throws(Failure) {
        guard geteuid() == 0 else { return }
        do throws(StoreFailure) {
            let place = try FilePlace(path)
            guard try FilePlace.size(place.log) > 0, let owner = try place.otherOwner() else { return }
            try FilePlace.become(owner, path: path)
        } catch {
            throw failure(error)
        }
    }

    /// Reads a page of events; the next page is after ``EventPage/through``.
    package func read(_ query: EventQuery) throws(Failure) -> EventPage {
        do throws(StoreFailure) {
            let place = try FilePlace(path)
            guard try place.examine() else { throw .missing(path) }
            guard try FilePlace.size(place.journal) == 0 else {
                throw .foreign(
                    path: place.journal, reason: "a journal is beside the event store, and no event store has one",
                    remedy: "find out which program has written it, and move it away")
            }
            // The log is looked for once: one that another account adds later is not read.
            let database =
                try hasReadableLog(place)
                ? StoreFile.connect(to: place) : Database(path: place.path, access: .readImmutable)
            guard try StoreSchema.check(database) else { return EventPage(through: query.after) }
            try database.execute("PRAGMA query_only = ON")
            var page = try database.page(query)
            page.removeUnused(StoreNotes.gaps(in: try database.value("gaps") ?? ""))
            return page
        } catch {
            throw failure(error)
        }
    }

    /// Whether there is a log; throws when this process may not write to it, which reading takes, or another account may.
    private func hasReadableLog(_ place: FilePlace) throws(StoreFailure) -> Bool {
        guard try FilePlace.size(place.log) > 0 else { return false }
        do throws(StoreFailure) {
            for path in [place.path, place.log] { try FilePlace.checkWriting(path) }
        } catch {
            throw .foreign(
                path: path, reason: "a daemon has it open, or was killed",
                remedy: "ask the daemon, or read it as its owner or as root")
        }
        if let owner = try place.otherOwner() {
            throw .foreign(
                path: path, reason: "the event store or its folder belongs to \(AccountDatabase.name(ofUser: owner))",
                remedy: "ask the daemon, or read it as this account or with `binnacle events` as root")
        }
        return true
    }

    private func failure(_ error: StoreFailure) -> Failure {
        switch error {
        case .system(let error) where error.isMissing: .missing(path: path)
        case .system(let error) where error.isPermission: .noPermission(error)
        case .sqlite(let error) where error.isInUse: .inUse(path: path)
        default: .unreadable(error.text(path: path))
        }
    }
}
