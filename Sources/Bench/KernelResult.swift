import Binnacle
import PlainText

/// What was measured of one kernel at one level of memory and one rate of events.
struct KernelResult {
    let level: MemoryLevel
    /// How often something happens, as a share of the samples; `nil` where that makes no difference.
    let rate: Double?
    let sampleCount: Int
    let byteCount: Int
    /// Reading alone, in nanoseconds a sample, with the instruction set that reads fastest.
    let limit: Spread
    let forms: [Contest.Figure]

    /// How many bytes belong to a sample.
    var bytesPerSample: Double { Double(byteCount) / Double(sampleCount) }

    /// Bytes a nanosecond, which are gigabytes a second.
    func rate(of times: Spread) -> Double { bytesPerSample / times.median }

    /// How much of the limit a form reaches.
    func share(of times: Spread) -> Double { limit.median / times.median }

    /// An object for each form.
    func objects(part: BenchPart, name: String) -> [JSONObject] {
        forms.map { form in
            var object = JSONObject()
            object.add("type", "kernel")
            object.add("kernel", part.rawValue)
            object.add("name", name)
            object.add("form", form.label)
            object.add("level", level.name)
            object.add("bytes", count: byteCount)
            object.add("samples", count: sampleCount)
            object.add("event_rate", number: rate)
            object.add("ns_per_sample", form.nanosecondsPerSample)
            object.add("gb_per_s", number: rate(of: form.nanosecondsPerSample))
            object.add("limit_ns_per_sample", limit)
            object.add("limit_gb_per_s", number: rate(of: limit))
            object.add("limit_percent", number: share(of: form.nanosecondsPerSample) * 100)
            object.add("is_checked", raw: "true")
            return object
        }
    }
}
