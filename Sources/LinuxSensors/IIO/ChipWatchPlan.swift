import Binnacle
import SensorGeometry

/// The events of a chip that are used, and how they are set.
struct ChipWatchPlan: Sendable, Equatable {
    /// The common type of the events that notice movement; `nil` when none is wanted.
    var type: String?
    /// The switches of the events that are on while the samples are off, as attributes.
    var switches: [String] = []
    /// The switches of events that are on as long as the device is open: taps and steps.
    var lasting: [String] = []
    var reports: Set<ChipReport> = []
    /// The attributes of the thresholds with their texts.
    var values: [Setting] = []
    /// The threshold that the chip then has, in g; `nil` when it has none to set.
    var thresholdG: Double?
    /// Whether free fall is armed as well: `x&y&z` of a magnitude that falls.
    var seesFreeFall = false
    /// Whether the event stays armed while the samples are on, because the machine may be suspended meanwhile.
    var staysArmed = false
    /// What is armed, in words.
    var words = ""

    struct Setting: Sendable, Equatable {
        let name: String
        let text: String
    }
}

extension ChipEvents {
    /// A type of event that notices movement, and whether gravity is known to be no movement to it.
    private struct Candidate {
        let type: String
        let events: [ChipEvent]
        let isRelative: Bool

        var words: String {
            events.count > 1 ? "\(type) \(events[0].direction) on x, y and z" : events[0].words
        }
    }

    /// The events that may notice movement, the best first.
    ///
    /// A rate of change and an adaptive magnitude have no gravity in them. A threshold in either direction, or a magnitude, is
    /// relative to rest with some drivers only.
    private var candidates: [Candidate] {
        let isRelative = rule?.isRelative ?? false
        let wishes = [
            ("roc", "rising", true), ("roc", "either", true), ("mag_adaptive", "rising", true),
            ("mag_adaptive", "either", true), ("mag_referenced", "rising", true), ("thresh", "either", isRelative),
            ("mag", "rising", isRelative),
        ]
        return wishes.compactMap { type, direction, isRelative in
            let all = events.filter { event in
                event.type == type && event.direction == direction
                    && (event.channel == "in_accel" || event.channel.hasPrefix("in_accel_"))
            }
            // Of an event on any of the axes one is enough. One on all of them at once misses movement along a single one.
            if let any = all.first(where: { ["", "x|y|z"].contains($0.modifier) }) {
                return Candidate(type: type, events: [any], isRelative: isRelative)
            }
            let axes = ["x", "y", "z"].compactMap { axis in all.first { $0.modifier == axis } }
            return axes.count == 3 ? Candidate(type: type, events: axes, isRelative: isRelative) : nil
        }
    }

    /// The best event that leaves out gravity, or that `watch = "chip"` would try: that it sees gravity is found at rest.
    private func best(_ watch: MotionSettings.Watch) -> Candidate? {
        candidates.first { $0.isRelative || (watch == .chip && $0.events[0].direction == "either") }
    }

    /// All events by type and direction, for messages.
    private var list: String {
        let known = Set(
            events.map { event in
                [event.type ?? event.channel, event.direction].filter { !$0.isEmpty }.joined(separator: " ")
            })
        return known.sorted().joined(separator: ", ")
    }

    /// Adds what the chip is to find by its own settings to a plan; returns that in words, and throws the reason when it cannot.
    ///
    /// A chip without activities is no failure: samples show them as well.
    func add(
        _ wanted: Set<ChipReport>, to plan: inout ChipWatchPlan, of device: SensorDevice
    ) throws(SensorFailure) -> [String] {
        func changes(of channel: String) -> [ChipEvent] {
            events.filter { $0.type == "change" && $0.channel == channel }
        }
        let directions = ["singletap"] + (wanted.contains(.doubleTaps) ? ["doubletap"] : [])
        let taps = events.filter {
            $0.type == "gesture" && directions.contains($0.direction) && $0.channel.hasPrefix("in_accel")
        }
        let (activities, steps) = (changes(of: "in_activity"), changes(of: "in_steps"))
        let known: [(report: ChipReport, events: [ChipEvent], words: String, lack: String?)] = [
            (.taps, taps, "reports taps", "reports no taps"),
            // The driver of bma400 switches steps on with the activities, and not off with them: theirs is switched off last.
            (.activity, activities.isEmpty ? [] : activities + steps, "reports walking and running", nil),
            (.steps, device.directory.has("in_steps_input") ? steps : [], "counts steps", "counts no steps"),
        ]
        var words: [String] = []
        for (report, events, text, lack) in known where wanted.contains(report) {
            if events.isEmpty, let lack { throw SensorFailure(.description, "its chip \(lack) (\(list))") }
            guard !events.isEmpty else { continue }
            for name in events.map({ $0.stem + "_en" }) where !plan.lasting.contains(name) { plan.lasting.append(name) }
            plan.reports.insert(report)
            words.append("its chip \(text) by itself")
        }
        return words
    }

    /// Adds to a plan how movement above a threshold is noticed; throws the reason when it cannot be.
    func add(
        _ watch: MotionSettings.Watch, thresholdG: Double, rateHz: Double, to plan: inout ChipWatchPlan,
        of device: SensorDevice
    ) throws(SensorFailure) {
        guard let usable = best(watch) else {
            throw SensorFailure(
                .description,
                candidates.isEmpty
                    ? "its chip has no event of movement (\(list))"
                    : "its chip's events (\(list)) are not known to leave out gravity, "
                        + "so that rest could not be told from movement")
        }
        let thresholds = usable.events.compactMap { threshold(of: $0, thresholdG, rateHz: rateHz, device) }
        var values: [ChipWatchPlan.Setting] = []
        for (setting, _) in thresholds where !values.contains(setting) { values.append(setting) }
        plan.type = usable.type
        plan.switches = usable.events.map { $0.stem + "_en" }
        plan.values = values
        plan.thresholdG = thresholds.last?.g
        plan.words = usable.words
    }

    /// What sets an event's threshold, and the threshold in g that the chip then has: as wanted, or the next one that is easier
    /// to pass; `nil` when its unit is not known.
    private func threshold(
        of event: ChipEvent, _ wantedG: Double, rateHz: Double, _ device: SensorDevice
    ) -> (ChipWatchPlan.Setting, g: Double)? {
        guard let name = event.attribute("value", in: folder),
            let (step, _, least) = Self.step(of: event, device, folder, rule), step > 0
        else { return nil }
        let wanted = wantedG * Gravity.standard
        if event.type == "roc", rule?.threshold == .ratePerSecond {
            return (.init(name: name, text: SysfsNumber.text((wanted * rateHz * 1e6).rounded() / 1e6)), wantedG)
        }
        // Whether a rate of change counts a sample or a second is the driver's; its own default stays.
        if event.type == "roc", rule == nil, event.attribute("scale", in: folder) == nil { return nil }
        let steps = (wanted / step / least).rounded(event.direction == "falling" ? .up : .down)
        let raw = min(max(1, steps) * least, rule?.limit ?? 1e9)
        return (.init(name: name, text: SysfsNumber.text(raw)), raw * step / Gravity.standard)
    }

    /// Adds a free fall to a plan, if the chip reports one: all axes below a magnitude at once.
    func add(freeFallG: Double, to plan: inout ChipWatchPlan, of device: SensorDevice) {
        let found = events.first { event in
            event.type == "mag" && event.direction == "falling" && event.modifier == "x&y&z"
                && event.channel.hasPrefix("in_accel_")
        }
        guard let found else { return }
        plan.seesFreeFall = true
        plan.switches.append(found.stem + "_en")
        plan.words += " and '\(found.words)'"
        // A second or more is inactivity to the driver of adxl345: 55 s at first.
        if let name = found.attribute("period", in: folder), found.periodSeconds.map({ $0 >= 1 }) == true {
            plan.values.append(.init(name: name, text: "0.1"))
        }
        guard let (setting, _) = threshold(of: found, freeFallG, rateHz: 0, device) else { return }
        plan.values.append(setting)
    }

    /// Adds waking the machine to a plan; `false` when the driver cannot.
    func addWaking(to plan: inout ChipWatchPlan) -> Bool {
        let name = "../../power/wakeup"
        guard folder.has(name) else { return false }
        plan.staysArmed = true
        plan.values.append(.init(name: name, text: "enabled"))
        return true
    }

    /// What `watch` of a detector of motion would do with the chip, in one sentence.
    package var watchAdvice: String {
        guard let best = best(.chip) else {
            return "watch of [motion.NAME] has no use here: no event leaves out gravity"
        }
        guard best.isRelative, line != .missing else {
            return "watch = \"chip\" of [motion.NAME] would try '\(best.words)'; \"auto\" would not, because "
                + (best.isRelative ? "no interrupt was found" : "it may see gravity")
        }
        return "watch = \"chip\" or \"auto\" of [motion.NAME] lets it sleep at rest, woken by '\(best.words)'"
    }
}
