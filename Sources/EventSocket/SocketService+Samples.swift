import Binnacle

/// The samples of streams: kept while a client subscribes to them, and sent from the rings.
extension SocketService {
    func publish(_ queues: [SampleQueue]) {
        // What comes after the last subscriber has gone is of no use.
        for queue in queues { sampleRings[queue.origin]?.append(queue) }
        for (identifier, served) in connections where served.samples != nil && served.feed != nil { pump(identifier) }
    }

    /// Uses the streams that there are now; a client that has named one that is gone is refused.
    func offer(_ streams: [SampleOrigin]) {
        guard streams != sampleStreams else { return }
        sampleStreams = streams
        for connection in Array(connections.values) where connection.feed != nil {
            do throws(SamplesRequest.Missing) {
                try connection.samples?.choose(from: streams, sampleRings)
            } catch {
                refuseAndWait(connection, "the configuration has changed: \(error.message)")
            }
        }
        subscriptionsChanged(without: nil)
    }

    /// Makes the rings of the streams that subscribers want, and removes the others.
    func keepSamples(of wanted: Set<SampleOrigin>) {
        guard wanted != Set(sampleRings.keys) else { return }
        sampleRings = sampleRings.filter { wanted.contains($0.key) }
        for origin in wanted where sampleRings[origin] == nil { sampleRings[origin] = SampleRing(origin) }
        surroundings.samplesChanged(wanted)
    }

    /// When a connection that can be written to has lines that are due later; `nil` for none.
    func samplesDue(_ connection: ServedConnection) -> Int64? {
        guard !connection.hasOutput, let feed = connection.samples, feed.request.intervalNanoseconds > 0,
            connection.feed != nil, feed.hasSamples(in: sampleRings)
        else { return nil }
        return feed.dueNanoseconds
    }
}
