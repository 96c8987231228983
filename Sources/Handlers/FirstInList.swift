/// Elements in the order in which they came.
struct FirstInList<Element> {
    private var elements: [Element?] = []
    private var first = 0

    /// Creates an empty list.
    init() {}

    /// How many there are.
    var count: Int { elements.count - first }
    /// Whether there is none.
    var isEmpty: Bool { count == 0 }

    /// Adds an element behind the others.
    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Takes the element that came first.
    ///
    /// - Complexity: Constant on average: the rest moves up once half of the list is free.
    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first]
        elements[first] = nil
        first += 1
        if 2 * first >= elements.count {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}
