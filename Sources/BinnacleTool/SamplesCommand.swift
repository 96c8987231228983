import Binnacle
import CommandRows
import EventSocket
import LinuxSystem
import PlainText
import Station

/// `binnacle samples`: prints the samples of the daemon's sensors.
struct SamplesCommand {
    private let request: SubscriptionRequest
    private let path: String
    private let isSocketNamed: Bool
    private let writesJSON: Bool

    init(_ arguments: Arguments) throws(StationError) {
        try arguments.refuseOperands("samples")
        var samples = SamplesRequest()
        if arguments.has(.sensor) { samples.sensors = Set(arguments.all(.sensor)) }
        if arguments.has(.kind) {
            samples.kinds = []
            for name in arguments.all(.kind) {
                guard let kind = SampleKind(rawValue: name) else {
                    let hint = Spelling.hint(for: name, among: SampleKind.allCases.map(\.rawValue))
                    throw StationError(.usage, "--kind \(name): no such kind of samples (\(hint))")
                }
                samples.kinds?.insert(kind)
            }
        }
        samples.isRaw = arguments.has(.raw)
        request = SubscriptionRequest(samples: samples)
        path = arguments.socketPath
        isSocketNamed = arguments.has(.socket)
        writesJSON = arguments.has(.json)
    }

    func run(
        _ output: LineWriter, _ errors: LineWriter, _ signals: SignalListener
    ) throws(StationError) -> ExitStatus {
        errors.sayOwnDaemon(path, isNamed: isSocketNamed)
        let session = try EventSubscriber(request, path: path, patience: .none, errors: errors, signals: signals)
        // Without samples there are no columns either, as when the daemon refuses the request.
        var hasHead = writesJSON
        while true {
            switch try session.next() {
            case .samples(let batch):
                if !hasHead { output.write("time_ns,sensor,kind,x,y,z") }
                hasHead = true
                if batch.lostCount > 0 {
                    let what = "\(batch.sensor.printable), \(batch.kind.rawValue)"
                    errors.report("\(what): lost \(batch.lostCount) samples, which were not read in time")
                }
                if writesJSON { output.write(SocketMessage.samples(batch).json) } else { write(batch, output) }
                output.flush()
                guard output.failure == nil else { return .ok }
            // Not requested.
            case .event: break
            case .ended(let status): return status
            }
        }
    }

    private func write(_ batch: StreamedSamples, _ output: LineWriter) {
        var name = batch.sensor.printable
        if name.contains(where: { $0 == "," || $0 == "\"" }) {
            name = "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
        for sample in batch.samples {
            let axes = [sample.x, sample.y, sample.z].map { $0.isFinite ? $0.description : "" }.joined(separator: ",")
            output.write("\(sample.timeNanoseconds),\(name),\(batch.kind.rawValue),\(axes)")
        }
    }
}
