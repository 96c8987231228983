/// The weight that a sample has in a running mean whose first samples count alike, so that the mean does not hang on the
/// noise of the very first.
struct RunningWeight {
    /// For how long there have been samples, up to the mean's time constant.
    private(set) var seconds = 0.0
    private let timeConstantSeconds: Double

    init(timeConstantSeconds: Double) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    /// Takes the step to the next sample; returns how much of the way to it the mean goes.
    mutating func update(_ stepSeconds: Double) -> Double {
        seconds = min(seconds + stepSeconds, timeConstantSeconds)
        return seconds > 0 ? min(stepSeconds / seconds, 1) : 0
    }

    mutating func reset() {
        seconds = 0
    }
}
