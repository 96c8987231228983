// Prints when the device of a recording moved: swift run moves walk.csv
import Binnacle
import Traces

let session = SensorSession {
    try TraceSource(paths: Array(CommandLine.arguments.dropFirst()))
} configure: { setup in
    try setup.detectMotion()
}
for try await event in session.events {
    print(event.kind.rawValue, event.timeNanoseconds / 1_000_000, "ms")
}
