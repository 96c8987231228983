import Binnacle
import TableReading

extension SimulationSettings {
    /// Reads what a section says of its model; what is wrong is reported.
    ///
    /// - Parameters:
    ///   - table: The section.
    ///   - rateHz: The rate, which a section has in common with devices.
    init(reading table: TableReader, rateHz: Double) {
        self.init()
        // Whoever simulates without saying what wants to see events.
        model = table.choice("model", as: Model.self) ?? .walk
        seed = table.integer("seed", in: 0...Int.max).map(UInt64.init) ?? seed
        self.rateHz = rateHz
    }
}
