import Testing

/// Limits how many scenarios run at the same time: each has two processes, and a machine that is overrun is slower than
/// what a stall watchdog forgives.
struct FewAtATime: SuiteTrait, TestTrait, TestScoping {
    private static let gate = Gate(places: 6)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A test function is the scope of its cases, and takes no place of its own.
        guard testCase != nil else { return try await function() }
        await Self.gate.enter()
        do {
            try await function()
        } catch {
            await Self.gate.leave()
            throw error
        }
        await Self.gate.leave()
    }
}

extension Trait where Self == FewAtATime {
    static var fewAtATime: Self { FewAtATime() }
}

/// So many may be inside; the others wait, and enter in their order.
private actor Gate {
    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        self.places = places
    }

    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}
