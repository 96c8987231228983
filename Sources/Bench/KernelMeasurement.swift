import Binnacle
import Kernels

/// One kernel at each level of memory and each rate of events: a table.
struct KernelMeasurement: Measurement {
    /// The part it belongs to.
    let part: BenchPart
    /// What figures are known by.
    let name: String
    /// What it is, in a line.
    let title: String
    /// The labels of what is compared beside the kernel's own forms.
    let others: [String]
    /// How often something happens, as a share of the samples; `nil` where that makes no difference.
    let rates: [Double?]
    /// Fills columns and names the variants that work on them.
    let makeContest: (_ course: Course) -> Contest

    /// Where a contest takes place.
    struct Course {
        let level: MemoryLevel
        let rate: Double
        let arena: Arena
        let instructionSets: [InstructionSet]
    }

    init(
        _ part: BenchPart, name: String, title: String, others: [String] = [], rates: [Double?],
        makeContest: @escaping (_ course: Course) -> Contest
    ) {
        self.part = part
        self.name = name
        self.title = title
        self.others = others
        self.rates = rates
        self.makeContest = makeContest
    }

    func stepCount(_ levels: [MemoryLevel]) -> Int { levels.count { !$0.isShared } * rates.count }

    func run(_ session: Session) throws(BenchError) {
        var table: KernelTable?
        // A cache that others use as well says little about a kernel.
        for level in session.levels where !level.isShared {
            for rate in rates {
                session.arena.removeAll()
                let course = Course(
                    level: level, rate: rate ?? 0, arena: session.arena,
                    instructionSets: session.machine.instructionSets)
                let contest = makeContest(course)
                if let label = contest.findFault() { throw .wrongResult("\(title), \(label), \(level.name)") }
                let (limit, forms) = try contest.measure(session.rounds, isCancelled: session.isCancelled)
                session.unrest.note(limit, at: level)
                let result = KernelResult(
                    level: level, rate: rate, sampleCount: contest.sampleCount, byteCount: contest.byteCount,
                    limit: limit, forms: forms)
                for object in result.objects(part: part, name: name) { session.record(object) }
                if table == nil { table = KernelTable(title: title, forms: forms.map(\.label), hasRates: rate != nil) }
                table?.add(result)
                session.didStep()
            }
        }
        session.say([""] + (table?.lines ?? []))
    }
}
