import Binnacle
import CommandRows
import EventSocket
import LinuxSystem
import PlainText
import Station

/// `binnacle samples`: prints the samples of the daemon's sensors.
enum SamplesCommand {
    static func run(_ arguments: Arguments, _ console: Console) throws(StationError) -> ExitStatus {
        var samples = SamplesRequest()
        if arguments.has(.sensor) { samples.sensors = Set(arguments.all(.sensor)) }
        if arguments.has(.kind) { samples.kinds = Set(try arguments.words(.kind, "no such kind of samples")) }
        samples.isRaw = arguments.has(.raw)
        let path = arguments.socketPath
        let (output, writesJSON) = (console.output, arguments.has(.json))
        console.errors.sayOwnDaemon(path, isNamed: arguments.has(.socket))
        let session = try EventSubscriber(SubscriptionRequest(samples: samples), path: path, patience: .none, console)
        // Without samples there are no columns either, as when the daemon refuses the request.
        var hasHead = writesJSON
        while let message = try session.next() {
            guard case .samples(let batch) = message else { continue }
            if !hasHead { output.write("time_ns,sensor,kind,x,y,z") }
            hasHead = true
            if batch.lostCount > 0 {
                let what = "\(batch.sensor.printable), \(batch.kind.rawValue)"
                console.errors.report("\(what): lost \(batch.lostCount) samples, which were not read in time")
            }
            if writesJSON { output.write(message.json) } else { write(batch, output) }
            output.flush()
            guard output.failure == nil else { return .ok }
        }
        return session.status
    }

    private static func write(_ batch: StreamedSamples, _ output: LineWriter) {
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
