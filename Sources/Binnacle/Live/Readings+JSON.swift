package import PlainText

extension Readings {
    /// The readings as a JSON object on one line.
    ///
    /// Values of samples have as many digits as tell them from their neighbours.
    package var json: String {
        var object = JSONObject()
        object.add("time_ns", raw: String(timeNanoseconds))
        object.add("interval_s", raw: "\(Double(intervalNanoseconds) / 1e9)")
        object.add("skipped", raw: String(skippedCount))
        object.add("streams", list: streams.map(\.json))
        object.add("detectors", list: detectors.map(\.json))
        return object.text
    }

    /// The readings that an object describes; `nil` when a key is missing or of the wrong type.
    ///
    /// Keys that this version does not know are passed over.
    package init?(_ object: JSONValue) {
        guard let time = object["time_ns"]?.integer, let interval = object["interval_s"]?.double,
            let length = Int64(exactly: (interval * 1e9).rounded()), let skipped = object["skipped"]?.count,
            let streams = object["streams"]?.elements(Stream.init),
            let detectors = object["detectors"]?.elements(Detector.init)
        else { return nil }
        self.init(timeNanoseconds: time, intervalNanoseconds: length)
        skippedCount = skipped
        self.streams = streams
        self.detectors = detectors
    }
}

extension Readings.Span {
    fileprivate var json: String { "[\(least),\(greatest),\(last)]" }

    fileprivate init?(_ value: JSONValue?) {
        guard let numbers = value?.elements(\.float), numbers.count == 3 else { return nil }
        self.init(least: numbers[0], greatest: numbers[1], last: numbers[2])
    }
}

extension Readings.Stream {
    fileprivate var json: String {
        var object = JSONObject()
        object.add("sensor", sensor)
        object.add("kind", kind.rawValue)
        object.add("unit", unit)
        object.add("active", raw: String(isActive))
        if isSimulated { object.add("simulated", raw: "true") }
        object.add("samples", raw: String(sampleCount))
        object.add("rate_hz", raw: rateHz.map { "\($0)" } ?? "null")
        object.add("age_s", raw: ageSeconds.map { "\($0)" } ?? "null")
        object.add("losses", raw: String(lossCount))
        object.add("lost_samples", raw: String(lostSampleCount))
        object.add("gaps", raw: String(gapCount))
        for (key, span) in [("x", x), ("y", y), ("z", z), ("length", length)] {
            object.add(key, raw: span?.json ?? "null")
        }
        return object.text
    }

    fileprivate init?(_ object: JSONValue) {
        guard let sensor = object["sensor"]?.text, let kind = object["kind"]?.text.flatMap(SampleKind.init(rawValue:)),
            case .boolean(let isActive)? = object["active"], let sampleCount = object["samples"]?.count,
            let lossCount = object["losses"]?.count, let lostSampleCount = object["lost_samples"]?.count,
            let gapCount = object["gaps"]?.count
        else { return nil }
        self.init(sensor: sensor, kind: kind, isActive: isActive)
        isSimulated = object["simulated"] == .boolean(true)
        self.sampleCount = sampleCount
        rateHz = object["rate_hz"]?.double
        ageSeconds = object["age_s"]?.double
        self.lossCount = lossCount
        self.lostSampleCount = lostSampleCount
        self.gapCount = gapCount
        x = Readings.Span(object["x"])
        y = Readings.Span(object["y"])
        z = Readings.Span(object["z"])
        length = Readings.Span(object["length"])
    }
}

extension Readings.Limit {
    fileprivate var json: String {
        var object = JSONObject()
        object.add("name", name)
        object.add("of", measure)
        object.add("side", isAbove ? "above" : "below")
        object.add("begin", raw: "\(begin)")
        object.add("end", raw: "\(end)")
        return object.text
    }

    fileprivate init?(_ object: JSONValue) {
        guard let name = object["name"]?.text, let measure = object["of"]?.text, let side = object["side"]?.text,
            let begin = object["begin"]?.float, let end = object["end"]?.float
        else { return nil }
        self.init(name, of: measure, isAbove: side != "below", begin: begin, end: end)
    }
}

extension Readings.Detector {
    fileprivate var json: String {
        var object = JSONObject()
        object.add("detector", name)
        object.add("kind", kind)
        object.add("sensors", list: sensors.map(JSONObject.quoted))
        object.add("running", raw: String(isRunning))
        object.add("state", state)
        object.add(
            "measures", list: measures.map { "{\"name\":\(JSONObject.quoted($0.name)),\"span\":\($0.span.json)}" })
        object.add("limits", list: limits.map(\.json))
        var values = JSONObject()
        for figure in figures { values.add(figure.name, figure.value) }
        object.add("figures", raw: values.text)
        return object.text
    }

    fileprivate init?(_ object: JSONValue) {
        guard let name = object["detector"]?.text, let kind = object["kind"]?.text,
            case .boolean(let isRunning)? = object["running"],
            let sensors = object["sensors"]?.elements(\.text),
            let limits = object["limits"]?.elements(Readings.Limit.init),
            let measures = object["measures"]?.elements({ value -> Readings.Measure? in
                guard let name = value["name"]?.text, let span = Readings.Span(value["span"]) else { return nil }
                return Readings.Measure(name, span)
            }), case .object(let members)? = object["figures"]
        else { return nil }
        self.init(name: name, kind: kind, isRunning: isRunning)
        self.sensors = sensors
        state = object["state"]?.text
        self.limits = limits
        self.measures = measures
        self.figures = Figure.figures(of: members)
    }
}

extension JSONValue {
    /// The elements of an array, each read; `nil` when it is no array, or one of them cannot be read.
    fileprivate func elements<Element>(_ read: (JSONValue) -> Element?) -> [Element]? {
        guard case .array(let values) = self else { return nil }
        var elements: [Element] = []
        for value in values {
            guard let element = read(value) else { return nil }
            elements.append(element)
        }
        return elements
    }

    /// A finite number; `nil` for other values.
    fileprivate var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    fileprivate var float: Float? {
        guard case .number(let text) = self, let value = Float(text), value.isFinite else { return nil }
        return value
    }

    fileprivate var count: Int? { integer.flatMap { $0 >= 0 ? Int(exactly: $0) : nil } }
}
