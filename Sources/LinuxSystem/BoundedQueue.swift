/// Items in the order in which they came, of which a limited number may wait.
///
/// Room is taken by an item from ``append(_:load:isBounded:)`` to ``finish(_:)``, so that a taken item that is not done
/// keeps its room; a thread that works in batches gives the room back at once with ``begin()``.
package struct BoundedQueue<Item: Sendable>: Sendable {
    /// The room taken by items that wait, and by taken items that are not done.
    package private(set) var load = 0
    /// The load of the items that are worked on and take no room.
    private var begun = 0
    /// The load of the items that are done.
    package private(set) var doneCount = 0
    /// The items that a stop left no time for.
    package var abandonedCount = 0

    private let capacity: Int
    private var items: [Item] = []
    /// The place of the first waiting item; those before it were taken.
    private var first = 0
    /// Storage for more items than this is freed when they were taken.
    private static var usualCount: Int { 1024 }

    /// Creates an empty queue.
    ///
    /// - Parameter capacity: The most room that items may take.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// The number of items that wait.
    package var waitingCount: Int { items.count - first }
    /// Whether no item waits.
    package var isEmpty: Bool { first == items.count }
    /// The load of the items that are not known to be done.
    package var unfinishedCount: Int { load + begun }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - load: How much room it takes.
    ///   - isBounded: Whether it is refused when there is no room.
    /// - Returns: Whether it was added.
    package mutating func append(_ item: Item, load: Int = 1, isBounded: Bool = true) -> Bool {
        guard !isBounded || load == 0 || self.load + load <= capacity else { return false }
        self.load += load
        items.append(item)
        return true
    }

    /// Takes the item that has waited longest.
    ///
    /// - Complexity: Constant on average: the rest moves up once half of the list is free.
    package mutating func popFirst() -> Item? {
        guard first < items.count else { return nil }
        let item = items[first]
        first += 1
        if 2 * first >= items.count {
            items.removeFirst(first)
            first = 0
        }
        return item
    }

    /// Takes all items that wait, in exchange for the storage of a list.
    package mutating func takeAll(into list: inout [Item]) {
        if list.capacity > Self.usualCount { list = [] } else { list.removeAll(keepingCapacity: true) }
        swap(&list, &items)
        if first > 0 {
            list.removeFirst(first)
            first = 0
        }
    }

    /// Gives back the room of all items that were taken; they count as unfinished until the next call.
    package mutating func begin() {
        doneCount += begun
        begun = load
        load = 0
    }

    /// Gives back the room of items that are done.
    package mutating func finish(_ load: Int = 1) {
        self.load -= load
        doneCount += load
    }
}
