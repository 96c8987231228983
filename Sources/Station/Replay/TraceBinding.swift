package import Binnacle
import Configuration
import Glibc
import LinuxSystem
import PlainText
package import Traces

/// The recordings that a user names, with the options that describe them.
package struct TraceSet: Sendable {
    /// One `--bind SENSOR=FILE[:kind]`.
    package struct Binding: Equatable, Sendable {
        package let sensor: String
        package let path: String
        package let kind: SampleKind?

        package init(sensor: String, path: String, kind: SampleKind?) {
            self.sensor = sensor
            self.path = path
            self.kind = kind
        }
    }

    /// The files, in the order given.
    package var paths: [String]
    /// Bindings of files to sensors; other streams are bound by kind.
    package var bindings: [Binding] = []
    /// Columns and units given on the command line.
    package var map: ColumnMap?
    /// Sampling rate of files without timestamps, in Hz.
    package var rateHz: Double?
    /// Sensors by the sign of their recordings' acceleration: gravity, or specific force.
    package var gravitySensors: Set<String> = []
    package var otherSensors: Set<String> = []
    /// The same of the devices in whose place the files play; `record` has turned their samples already.
    var gravityDevices: Set<String> = []
    var otherDevices: Set<String> = []
    /// Whether the same command plays other recordings, to which options for this one would apply as well.
    package var isOneOfSeveral = false
    /// Whether samples are decoded again from recorded raw scans.
    package var decodesScans = false
    /// Number of processors for reading large files of CSV and Arrow.
    package var processorCount = 1
    /// What was left out of folders, or is missing at the end of files that were unpacked, a line for each.
    package private(set) var leftOut: [String] = []
    /// The entries of archives among the files, and files that were unpacked.
    private(set) var entries = UnpackedEntries()
    /// Whether the command accepts `--bind`.
    var takesBindings = true

    package var isEmpty: Bool { paths.isEmpty && bindings.isEmpty }

    /// Puts the files of each folder or zip archive that is named, such as an app's export, in its place.
    ///
    /// An interruption ends looking at a whole file.
    package mutating func openFolders(_ interruption: Interruption = .never) throws(StationError) {
        var opened: [String] = []
        for path in paths {
            let folder = try mapError({ interruption.explain($0, path) }) { () throws(TraceError) in
                try RecordingFolder(
                    path: path, hints: TraceHints(map: map, rateHz: rateHz),
                    isCancelled: { interruption.isRequested })
            }
            if let notice = folder?.notice { leftOut.append(notice) }
            if let folder { entries.formUnion(folder.entries) }
            opened += folder?.files ?? [path]
        }
        paths = opened
        try refuseStrays()
    }

    /// Unpacks each compressed file, for a command that opens it several times.
    package mutating func unpack(_ interruption: Interruption) throws(StationError) {
        for path in files {
            do throws(TraceError) {
                let notice = try entries.unpack(path, isCancelled: { interruption.isRequested })
                if let notice { leftOut.append(notice.description) }
            } catch {
                throw interruption.explain(error, path)
            }
        }
    }

    /// Refuses a recording that is named twice, also by another path to its file: its samples would count twice.
    ///
    /// Of a binding, each sensor has samples of its own, so that several may name a file.
    package func refuseRepeats() throws(StationError) {
        var known: [(path: String, file: stat, entry: Substring)] = []
        for (index, path) in (paths + bindings.map(\.path).filter { !paths.contains($0) }).enumerated() {
            let name = RecordingFolder.file(path)
            guard let file = try? fileStatus(name) else { continue }
            let entry = path.dropFirst(name.count)
            if let first = known.first(where: { $0.entry == entry && $0.file.isSameFile(as: file) })?.path {
                throw .usage("\(path.printable): is named twice\(first == path ? "" : ", first as \(first.printable)")")
            }
            if index < paths.count { known.append((path, file, entry)) }
        }
    }

    /// Refuses pipes and devices among files, as a pattern of the shell finds them: they may have no writer and no end.
    ///
    /// What the shell itself makes, as in `<(zcat a.csv.gz)`, has both, and several pipes without a file are meant.
    private func refuseStrays() throws(StationError) {
        let named = paths.filter { !SmallFile.isOpenedByShell($0) }
        let kinds = named.map { (path: $0, status: try? fileStatus(RecordingFolder.file($0))) }
        guard kinds.contains(where: { $0.status?.isRegular == true }),
            let stray = kinds.first(where: { $0.status?.isRegular == false })?.path
        else { return }
        throw .usage(
            "\(stray.printable): is a pipe or a device among files, which may never end: leave it out, or play it as "
                + "<(cat \(ShellText.quoted(stray))) or with --bind")
    }

    /// Each file once, in the order given.
    package var files: [String] {
        var files: [String] = []
        for path in paths + bindings.map(\.path) where !files.contains(path) { files.append(path) }
        return files
    }

    /// Which signs the devices have where the files do not say which of them they play; `nil` if it is clear.
    fileprivate var ambiguity: String? {
        guard bindings.isEmpty, let one = gravityDevices.sorted().first, let other = otherDevices.sorted().first else {
            return nil
        }
        return
            "acceleration = \"gravity\" of sensor '\(one)' is not applied, because sensor '\(other)' has the other sign: say with "
            + "--bind \(one)=FILE which file plays it"
    }

    /// The options that apply to a file.
    func hints(for path: String) -> TraceHints {
        let bound = bindings.filter { $0.path == path }
        var hints = TraceHints(map: map, assumedKind: bound.lazy.compactMap(\.kind).first, rateHz: rateHz)
        let sensors = Set(bound.map(\.sensor))
        hints.gravitySensors = bound.isEmpty ? gravitySensors : gravitySensors.intersection(sensors)
        hints.otherSensors = bound.isEmpty ? otherSensors : otherSensors.intersection(sensors)
        hints.hasDeviceOfGravity =
            bound.isEmpty ? !gravityDevices.isEmpty && otherDevices.isEmpty : !gravityDevices.isDisjoint(with: sensors)
        hints.isOnlyFile = files.count == 1 && !isOneOfSeveral
        return hints
    }

    package init(_ paths: [String] = [], map: ColumnMap? = nil) {
        self.paths = paths
        self.map = map
    }
}

extension Interruption {
    /// The error of a file that was not opened; what is missing in one that was not looked at to its end is no fault of it.
    fileprivate func explain(_ error: TraceError, _ path: String) -> StationError {
        isRequested
            ? StationError(exitStatus, "\(path.printable): not opened, because that was cancelled")
            : StationError(error)
    }
}

struct TraceBinding {
    private let files: [TraceFile]
    private let bindings: [TraceSet.Binding]
    private let takesBindings: Bool
    private let ambiguity: String?
    private let leftOut: [String]
    private var sensors: [[Sensor?]]

    /// Opens the files; an interruption ends waiting for a pipe, and looking at a whole file.
    init(_ traces: TraceSet, interruption: Interruption) throws(StationError) {
        try traces.refuseRepeats()
        var files: [TraceFile] = []
        let chunking = Chunking(processorCount: traces.processorCount, fileCount: traces.files.count)
        for path in traces.files {
            let file = try mapError({ interruption.explain($0, path) }) { () throws(TraceError) in
                try TraceFile(
                    path: path, entries: traces.entries, hints: traces.hints(for: path),
                    makeDecoder: traces.decodesScans ? { RecordedScans($0) } : nil, chunking: chunking,
                    isCancelled: { interruption.isRequested })
            }
            files.append(file)
        }
        self.files = files
        bindings = traces.bindings
        takesBindings = traces.takesBindings
        ambiguity = traces.ambiguity
        leftOut = traces.leftOut
        sensors = files.map { $0.contents.map { _ in nil } }
    }

    /// What the recordings do not say.
    var assumptions: [String] { files.flatMap(\.notices).map(\.description) + [ambiguity].compactMap { $0 } }

    var notices: [String] { leftOut + assumptions }

    var unused: [String] { streams.filter { $0.sensor == nil }.map { "\($0.words) plays no sensor" } }

    var used: [String] {
        streams.compactMap { stream in stream.sensor.map { "\(stream.words) plays sensor '\($0.name)'" } }
    }

    private var streams: [(words: String, kind: SampleKind, sensor: Sensor?)] {
        zip(files, sensors).flatMap { file, sensors in
            zip(file.contents, sensors).map { content, sensor in
                ("\(file.path.printable): its \(content.kind.rawValue)", content.kind, sensor)
            }
        }
    }

    /// Binds every stream to a sensor: by the user's bindings, by names in the file, or by kind.
    mutating func bindEverything() throws(StationError) -> TraceSource {
        for binding in bindings {
            try bind(binding, to: sensor(named: binding.sensor), kinds: SampleKind.allCases)
        }
        sensors = TraceSource.nameSensors(of: files, given: sensors)
        return source()
    }

    /// Binds the streams that detectors need; throws when one is missing.
    mutating func bind(
        _ needs: [Configuration.Need], optionalNeeds: [Configuration.Need] = []
    ) throws(StationError) -> TraceSource {
        for binding in bindings {
            let kinds = needs.filter { $0.sensor == binding.sensor }.map(\.kind)
            guard !kinds.isEmpty else {
                let known = Set(needs.map(\.sensor)).sorted().joined(separator: ", ")
                throw .usage(
                    "--bind \(binding.sensor)=\(binding.path): no detector uses a sensor of that name; used are \(known)"
                )
            }
            try bind(binding, to: sensor(named: binding.sensor), kinds: kinds)
        }
        for need in needs where !isBound(need.sensor, need.kind) {
            guard let place = freePlace(for: need) else {
                let remedy =
                    takesBindings
                    ? ", or say which with --bind \(need.sensor)=FILE:\(need.kind.rawValue)" : " with --trace"
                throw .usage(
                    "\(need.by) needs the \(need.kind.rawValue) of sensor '\(need.sensor)', and no trace is left to play it: "
                        + "name another file\(remedy)")
            }
            sensors[place.file][place.content] = sensor(named: need.sensor)
        }
        for need in optionalNeeds where !isBound(need.sensor, need.kind) {
            guard let place = freePlace(for: need, in: files(of: need.sensor)) else { continue }
            sensors[place.file][place.content] = sensor(named: need.sensor)
        }
        return source()
    }

    /// The files in the order of preference for a sensor.
    private func files(of name: String) -> [Int] {
        let playing = files.indices.filter { sensors[$0].contains { $0?.name == name } }
        return playing + files.indices.filter { !playing.contains($0) }
    }

    private func source() -> TraceSource {
        TraceSource(zip(files, sensors).map { (file: $0, sensors: $1) })
    }

    private func sensor(named name: String) -> Sensor {
        sensors.joined().lazy.compactMap { $0 }.first { $0.name == name } ?? Sensor(name: name)
    }

    private func isBound(_ name: String, _ kind: SampleKind) -> Bool {
        streams.contains { $0.kind == kind && $0.sensor?.name == name }
    }

    /// A stream of the kind whose recording names the sensor, else the first unbound one.
    private func freePlace(
        for need: Configuration.Need, in order: [Int]? = nil
    ) -> (file: Int, content: Int)? {
        let free = (order ?? Array(files.indices)).flatMap { file in
            files[file].contents.indices.compactMap { content in
                sensors[file][content] == nil && files[file].contents[content].kind == need.kind ? (file, content) : nil
            }
        }
        return free.first { files[$0.0].contents[$0.1].sensor == need.sensor } ?? free.first
    }

    private mutating func bind(
        _ binding: TraceSet.Binding, to sensor: Sensor, kinds: [SampleKind]
    ) throws(StationError) {
        guard let file = files.firstIndex(where: { $0.path == binding.path }) else { return }
        let wanted = binding.kind.map { [$0] } ?? kinds
        let contents = files[file].contents
        // If the recording names the sensor, only the columns under that name are bound.
        let isNamed = contents.contains { $0.sensor == sensor.name }
        var places = contents.indices.filter { place in
            wanted.contains(contents[place].kind) && sensors[file][place] == nil
                && (!isNamed || contents[place].sensor == sensor.name)
        }
        // Of several recorded sensors it is the first that has most of what is wanted.
        func kindCount(_ place: Int) -> Int {
            Set(places.filter { contents[$0].sensor == contents[place].sensor }.map { contents[$0].kind }).count
        }
        if !isNamed, let first = places.max(by: { kindCount($0) < kindCount($1) }) {
            places.removeAll { contents[$0].sensor != contents[first].sensor }
        }
        guard !places.isEmpty else {
            let kind = wanted.map(\.rawValue).joined(separator: " or ")
            throw .usage("\(binding.path.printable): has no \(kind) left for sensor '\(binding.sensor.printable)'")
        }
        for place in places {
            let kind = files[file].contents[place].kind
            guard !isBound(sensor.name, kind) else {
                throw .usage(
                    "--bind \(binding.sensor)=\(binding.path): the \(kind.rawValue) of '\(sensor.name)' is bound already"
                )
            }
            sensors[file][place] = sensor
        }
    }
}
