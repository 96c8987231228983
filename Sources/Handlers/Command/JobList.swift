/// Jobs in the order in which they came.
struct JobList {
    private var jobs: [CommandJob?] = []
    private var first = 0

    /// How many there are.
    var count: Int { jobs.count - first }
    /// Whether there is none.
    var isEmpty: Bool { count == 0 }

    /// Adds a job behind the others.
    mutating func append(_ job: CommandJob) {
        jobs.append(job)
    }

    /// Takes the job that came first.
    ///
    /// - Complexity: Constant on average: the rest moves up once half of the list is free.
    mutating func popFirst() -> CommandJob? {
        guard first < jobs.count else { return nil }
        let job = jobs[first]
        jobs[first] = nil
        first += 1
        if 2 * first >= jobs.count {
            jobs.removeFirst(first)
            first = 0
        }
        return job
    }
}
