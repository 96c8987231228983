package import PlainText

extension LiveValues {
    /// The readings as a JSON object on one line.
    ///
    /// Values of samples have as many digits as tell them from their neighbours.
    public var json: String {
        JSONObject.text([
            "time_ns": "\(timeNanoseconds)", "interval_s": "\(Double(intervalNanoseconds) / 1e9)",
            "skipped": "\(skippedCount)", "streams": JSONObject.list(streams.map(\.json)),
            "detectors": JSONObject.list(detectors.map(\.json)),
        ])
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

extension LiveValues.Span {
    fileprivate var json: String { "[\(least),\(greatest),\(last)]" }

    fileprivate init?(_ value: JSONValue?) {
        guard let numbers = value?.elements(\.float), numbers.count == 3 else { return nil }
        self.init(least: numbers[0], greatest: numbers[1], last: numbers[2])
    }
}

extension LiveValues.Stream {
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
        x = LiveValues.Span(object["x"])
        y = LiveValues.Span(object["y"])
        z = LiveValues.Span(object["z"])
        length = LiveValues.Span(object["length"])
    }
}

extension LiveValues.Limit {
    fileprivate var json: String {
        var object = JSONObject()
        object.add("name", name)
        object.add("of", measure)
        object.add("side", isAbove ? "above" : "below")
        object.add("begin", raw: "\(begin)")
        object.add("end", raw: "\(end)")
        if isAlwaysShown { object.add("always_shown", raw: "true") }
        return object.text
    }

    fileprivate init?(_ object: JSONValue) {
        guard let name = object["name"]?.text, let measure = object["of"]?.text, let side = object["side"]?.text,
            let begin = object["begin"]?.float, let end = object["end"]?.float
        else { return nil }
        self.init(
            name, of: measure, isAbove: side != "below", begin: begin, end: end,
            isAlwaysShown: object["always_shown"] == .boolean(true))
    }
}

extension LiveValues.Detector {
    fileprivate var json: String {
        var object = JSONObject()
        object.add("detector", name)
        object.add("kind", kind)
        object.add("sensors", list: sensors.map(JSONObject.quoted))
        object.add("running", raw: String(isRunning))
        if isWaiting { object.add("waiting", raw: "true") }
        object.add("state", state)
        if isActive { object.add("active", raw: "true") }
        object.add(
            "measures", list: measures.map { "{\"name\":\(JSONObject.quoted($0.name)),\"span\":\($0.span.json)}" })
        object.add("limits", list: limits.map(\.json))
        var values = JSONObject()
        for figure in figures { values.add(figure.name, figure.value) }
        object.add("figures", raw: values.text)
        if let lanes { object.add("lanes", list: lanes.map(\.json)) }
        if let spectrum { object.add("spectrum", raw: spectrum.json) }
        return object.text
    }

    fileprivate init?(_ object: JSONValue) {
        guard let name = object["detector"]?.text, let kind = object["kind"]?.text,
            case .boolean(let isRunning)? = object["running"],
            let sensors = object["sensors"]?.elements(\.text),
            let limits = object["limits"]?.elements(LiveValues.Limit.init),
            let measures = object["measures"]?.elements({ value -> LiveValues.Measure? in
                guard let name = value["name"]?.text, let span = LiveValues.Span(value["span"]) else { return nil }
                return LiveValues.Measure(name, span)
            }), case .object(let members)? = object["figures"]
        else { return nil }
        self.init(name: name, kind: kind, isRunning: isRunning)
        self.sensors = sensors
        state = object["state"]?.text
        self.limits = limits
        self.measures = measures
        self.figures = Figure.figures(of: members)
        isActive = object["active"] == .boolean(true)
        isWaiting = object["waiting"] == .boolean(true)
        lanes = object["lanes"]?.elements(Lane.init)
        spectrum = object["spectrum"].flatMap(LiveValues.Spectrum.init)
    }
}

extension LiveValues.Spectrum {
    fileprivate var json: String {
        JSONObject.text([
            "time_ns": "\(timeNanoseconds)", "unit": "\"g\"", "from_hz": "\(fromHz)", "step_hz": "\(stepHz)",
            "values": JSONObject.list(values.map(\.description)), "bands": JSONObject.list(bands.map(\.json)),
        ])
    }

    /// The spectrum in a JSON object; `nil` for anything else.
    package init?(_ object: JSONValue) {
        guard let time = object["time_ns"]?.integer, let from = object["from_hz"]?.double,
            let step = object["step_hz"]?.double, let values = object["values"]?.elements(\.float),
            let bands = object["bands"]?.elements(Band.init)
        else { return nil }
        self.init(timeNanoseconds: time, fromHz: from, stepHz: step, values: values, bands: bands)
    }
}

extension LiveValues.Spectrum.Band {
    fileprivate var json: String {
        JSONObject.text([
            "name": JSONObject.quoted(name), "of": JSONObject.quoted(measure), "unit": JSONObject.quoted(unit),
            "from_hz": "\(fromHz)", "to_hz": "\(toHz)", "scale": "[\(scale.x),\(scale.y)]",
            "floor": floor.map { "\($0)" } ?? "null",
        ])
    }

    fileprivate init?(_ object: JSONValue) {
        guard let name = object["name"]?.text, let measure = object["of"]?.text, let unit = object["unit"]?.text,
            let from = object["from_hz"]?.double, let to = object["to_hz"]?.double,
            from <= to, let scale = object["scale"]?.elements(\.double), scale.count == 2
        else { return nil }
        self.init(
            name: name, measure: measure, unit: unit, fromHz: from, toHz: to, scale: SIMD2(scale[0], scale[1]),
            floor: object["floor"]?.double)
    }
}

extension Lane {
    fileprivate var json: String {
        var object = JSONObject()
        object.add("title", title)
        object.add("unit", unit)
        object.add("curves", list: curves.map { JSONObject.texts([$0.label, $0.name]) })
        if let direction { object.add("direction", raw: JSONObject.texts([direction.name, direction.accuracy])) }
        object.add("states", list: states.map { JSONObject.texts([$0.prefix, $0.name]) })
        object.add(
            "sectors", list: sectors.map { "[\(JSONObject.quoted($0.label)),\($0.from),\($0.to),\($0.margin)]" })
        return object.text
    }

    fileprivate init?(_ object: JSONValue) {
        func pairs(_ value: JSONValue?) -> [(String, String)]? {
            value?.elements { pair in
                guard let texts = pair.elements(\.text), texts.count == 2 else { return nil }
                return (texts[0], texts[1])
            }
        }
        guard let title = object["title"]?.text, let unit = object["unit"]?.text,
            let curves = pairs(object["curves"]), let states = pairs(object["states"]),
            let sectors = object["sectors"]?.elements(Sector.init)
        else { return nil }
        self.init(title: title, unit: unit)
        self.curves = curves.map { Curve(label: $0, name: $1) }
        self.states = states.map { States(name: $1, prefix: $0) }
        self.sectors = sectors
        if let names = object["direction"]?.elements(\.text), names.count == 2 {
            direction = Direction(name: names[0], accuracy: names[1])
        }
    }
}

extension Lane.Sector {
    fileprivate init?(_ value: JSONValue) {
        guard case .array(let parts) = value, parts.count == 4, let label = parts[0].text,
            let from = parts[1].double, let to = parts[2].double, let margin = parts[3].double
        else { return nil }
        self.init(label: label, from: from, to: to, margin: margin)
    }
}

extension JSONValue {
    var float: Float? {
        guard case .number(let text) = self, let value = Float(text), value.isFinite else { return nil }
        return value
    }

    var count: Int? { integer.flatMap { $0 >= 0 ? Int(exactly: $0) : nil } }
}
