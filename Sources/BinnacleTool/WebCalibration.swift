import Binnacle
import Calibration
import EventSocket
import Glibc
import LinuxSystem
import PlainText
import Station
import Synchronization
import Workbench

/// Calibrates a sensor before a page: `calibrate` judges the daemon's samples, and the page may save what it finds.
struct WebCalibration: Sendable {
    /// The path that saves.
    static let saving = "/calibration/save"
    /// How often the page gets the state, and how often it gets the judgement, in nanoseconds.
    private static let pauses = (state: Int64(200_000_000), judgement: Int64(1_000_000_000))
    private static let longestNanoseconds: Int64 = 900_000_000_000
    /// How many results wait to be saved.
    private static let most = 16

    /// Where calibrations are saved; `nil` for nowhere.
    let folder: String?
    private let results = Results()

    private final class Results: Sendable {
        let all = Mutex<(last: Int, found: [Int: (sensor: String, result: CalibrationResult)])>((0, [:]))
    }

    init(folder: String?) { self.folder = folder }

    static func check(_ folder: String) throws(StationError) {
        guard let status = try? fileStatus(folder), status.isFolder, access(folder, W_OK | X_OK) == 0 else {
            throw .cannotCreate("--calibrations \(folder.printable): has to be a folder in which files can be made")
        }
    }

    /// Sends what the samples of a sensor show, until the client is gone.
    func stream(
        _ connection: HTTPConnection, _ request: HTTPConnection.Request, socketPath: String
    ) throws(HTTPRefusal) {
        guard let sensor = request.text("sensor"), !sensor.isEmpty else {
            throw .malformed("sensor is missing: the name of the sensor to calibrate.")
        }
        guard let kind = request.text("kind").flatMap(SampleKind.init(rawValue:)),
            SensorCalibration.kinds.contains(kind)
        else {
            let kinds = SensorCalibration.kinds.map(\.rawValue).joined(separator: ", ")
            throw .malformed("kind is missing or unknown: what to calibrate, one of \(kinds).")
        }
        let run = results.all.withLock { all in
            all.last += 1
            return all.last
        }
        var wanted = SubscriptionRequest()
        wanted.filter.kinds = []
        var samples = SamplesRequest()
        samples.sensors = [sensor]
        samples.kinds = [kind]
        samples.isRaw = true
        samples.intervalNanoseconds = Self.pauses.state / 2
        wanted.samples = samples
        let reader = SubscriptionReader(
            wanted, path: socketPath, patience: .none, cancelling: connection.stream.input)
        let task = kind.calibrationTask(MagnetometerJudge())
        let end = SystemClock.monotonic() + Self.longestNanoseconds
        var next = (state: Int64.min, judgement: Int64.min)
        guard connection.begin("200 OK", type: "text/event-stream"),
            connection.write(event: "state", Self.state(of: task, run, sensor).text)
        else { return }
        while SystemClock.monotonic() < end {
            do throws(EventSubscriptionError) {
                switch try reader.next() {
                case .samples(let batch):
                    for sample in batch.samples { task.add(sample) }
                    let now = SystemClock.monotonic()
                    guard now >= next.state else { continue }
                    next.state = now + Self.pauses.state
                    task.review()
                    var state = Self.state(of: task, run, sensor)
                    if now >= next.judgement {
                        next.judgement = now + Self.pauses.judgement
                        judge(task, run, sensor, &state)
                    }
                    guard connection.write(event: "state", state.text) else { return }
                case .end, nil: return
                default: continue
                }
            } catch {
                _ = connection.write(event: "trouble", JSONObject.quoted(error.description))
                return
            }
        }
        let text = "ended after \(Self.longestNanoseconds / 60_000_000_000) minutes: start it again"
        _ = connection.write(event: "trouble", JSONObject.quoted(text))
    }

    private static func state(of task: any CalibrationTask, _ run: Int, _ sensor: String) -> JSONObject {
        var state = task.progress
        state.add("run", raw: "\(run)")
        state.add("sensor", sensor)
        return state
    }

    private func judge(_ task: any CalibrationTask, _ run: Int, _ sensor: String, _ state: inout JSONObject) {
        guard task.mayFinish else { return }
        do throws(CalibrationRefusal) {
            let result = try task.finish()
            state.add("report", list: result.report.map { JSONObject.quoted($0) })
            state.add("file", CalibrationFile.text(result))
            state.add("path", folder.map { Self.path($0, sensor) })
            results.all.withLock { all in
                all.found[run] = (sensor, result)
                if all.found.count > Self.most, let oldest = all.found.keys.filter({ $0 != run }).min() {
                    all.found[oldest] = nil
                }
            }
        } catch {
            state.add("report", list: [JSONObject.quoted("no calibration yet: " + error.description)])
            state.add("file", raw: "null")
            state.add("path", raw: "null")
            results.all.withLock { $0.found[run] = nil }
        }
    }

    /// Writes the last result of a run, and returns what to do with it.
    func save(_ request: HTTPConnection.Request) throws(HTTPRefusal) -> String {
        guard let folder else {
            throw .forbidden("This service saves nothing: binnacle web --calibrations FOLDER --token-file FILE does.")
        }
        guard let run = request.parameter("run").flatMap({ Int($0) }),
            let found = results.all.withLock({ $0.found[run] })
        else { throw .notFound("There is no such calibration any more: calibrate again.") }
        let isSafe = found.sensor.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        guard isSafe, found.sensor.first != "." else {
            throw .malformed(
                "The name of this sensor is none for a file: 'binnacle calibrate -o FILE' saves its calibration.")
        }
        let path = Self.path(folder, found.sensor)
        do throws(StationError) {
            let file = try CalibrationFile(path: path, for: found.result.name, replacing: false)
            guard !file.replacesTable || request.parameter("replace") == "1" else {
                throw .cannotCreate("\(path.printable): has a calibration of the \(found.result.name) already")
            }
            try file.write(found.result)
            return """
                saved to \(path.printable). In [sensor.\(found.sensor)] of the configuration: calibration = \
                \(JSONObject.quoted(file.absolutePath)), then systemctl reload binnacle.

                """
        } catch {
            throw HTTPRefusal(status: "409 Conflict", text: error.description)
        }
    }

    private static func path(_ folder: String, _ sensor: String) -> String { "\(folder)/\(sensor).toml" }
}
