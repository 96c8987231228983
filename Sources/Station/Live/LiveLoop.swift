import Binnacle
import LinuxSensors

/// Turns a pipeline whose source is the machine's own sensors: asks, waits when there is nothing, and asks again.
struct LiveLoop {
    let source: LiveSource
    let pipeline: Pipeline

    /// Runs until somebody says that it is enough.
    ///
    /// - Parameters:
    ///   - longestWaitMilliseconds: How long nothing may happen before `afterWait` is called all the same.
    ///   - goesOn: Asked before each turn.
    ///   - afterTurn: Told the answer of each turn.
    ///   - beforeWait: Called when there is nothing more for now.
    func run(
        longestWaitMilliseconds: () -> Int32, while goesOn: () -> Bool, afterTurn: (SampleAnswer) -> Void,
        beforeWait: () -> Void
    ) {
        while goesOn() {
            let answer = pipeline.turn()
            afterTurn(answer)
            // A signal that came while the source was asked has been cleared away with the source's own mail.
            guard case .pending = answer, goesOn() else { continue }
            beforeWait()
            source.wait(timeoutMilliseconds: longestWaitMilliseconds())
        }
    }
}
