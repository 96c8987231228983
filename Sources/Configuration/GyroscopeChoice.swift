import Binnacle
import TableReading

package enum GyroscopeChoice: Sendable, Equatable {
    /// The gyroscope of the accelerometer's sensor, if it has one.
    case automatic
    case none
    case sensor(String)

    private static let noneWord = "none"

    init(reading key: Key, of table: TableReader, sensors: [String]) {
        guard let node = table.entry(key.name)?.node else {
            self = .automatic
            return
        }
        let name = table.reference(key.name, node, to: "sensor", among: sensors + [Self.noneWord])
        self = name.map { $0 == Self.noneWord ? .none : .sensor($0) } ?? .automatic
    }

    /// The stream used beside an accelerometer; `nil` for none.
    func stream(beside accelerometer: String, among streams: [SampleStream]) -> SampleStream? {
        switch self {
        case .automatic: streams.first(accelerometer, .gyroscope)
        case .none: nil
        case .sensor(let name): streams.first(name, .gyroscope)
        }
    }

    func needs(beside accelerometer: String) -> [StreamNeed] {
        let rate = StreamNeed.RateHz.gyroscope
        return switch self {
        case .automatic: [StreamNeed(sensor: accelerometer, kind: .gyroscope, rateHz: rate, isOptional: true)]
        case .none: []
        case .sensor(let name): [StreamNeed(sensor: name, kind: .gyroscope, rateHz: rate)]
        }
    }
}
