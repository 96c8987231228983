/// Told by a worker when its program is over.
protocol CommandWorkerDelegate: AnyObject {
    /// Tells the delegate what became of the program.
    ///
    /// Called once for each worker, on the supervisor's thread: from within `start()` when the program cannot be run,
    /// otherwise when its leader was reaped and its group was killed. Nothing of the worker's is open by then.
    func commandWorker(_ worker: CommandWorker, didFinish outcome: CommandOutcome)
}
