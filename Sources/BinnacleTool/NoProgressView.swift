import Binnacle

/// Where nobody would see progress.
final class NoProgressView: ProgressView {
    func draw(fraction: Double?) {}
    func clear() {}
}
