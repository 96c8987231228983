import Binnacle
import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

import LinuxSensors

/// Light and proximity of a tree of files, as the kernel has them.
@Suite struct ReadingWatcherTests {
    private static let iio = "sys/bus/iio/devices/iio:device"

    struct Device: Sendable, CustomTestStringConvertible {
        let name: String
        let files: [String: String]
        let kind: AmbientReading.Kind
        let reading: AmbientReading
        var testDescription: String { name }
    }

    private static let devices = [
        Device(
            name: "lux", files: [iio + "0/in_illuminance_input": "12.5\n"], kind: .light, reading: .light(12.5, .lux)),
        Device(
            name: "raw lux", files: [iio + "0/in_illuminance_raw": "40", iio + "0/in_illuminance_scale": "0.25"],
            kind: .light, reading: .light(10, .lux)),
        Device(
            name: "raw lux from an offset",
            files: [
                iio + "0/in_illuminance_raw": "40", iio + "0/in_illuminance_scale": "0.25",
                iio + "0/in_illuminance_offset": "-8",
            ], kind: .light, reading: .light(8, .lux)),
        Device(
            name: "numbered", files: [iio + "0/name": "x", iio + "3/in_illuminance0_raw": "7"], kind: .light,
            reading: .light(7, .lux)),
        Device(
            name: "numbered, with the scale of its type",
            files: [
                iio + "0/in_illuminance0_raw": "40", iio + "0/in_illuminance_scale": "0.25",
                iio + "0/in_illuminance_offset": "-8",
            ], kind: .light, reading: .light(8, .lux)),
        Device(
            name: "with the scale of the device",
            files: [iio + "0/in_illuminance_raw": "40", iio + "0/scale": "0.25"], kind: .light,
            reading: .light(10, .lux)),
        Device(
            name: "intensity", files: [iio + "0/in_intensity_clear_raw": "33"], kind: .light,
            reading: .light(33, .percent)),
        Device(
            name: "hwmon", files: ["sys/class/hwmon/hwmon2/device/light": "(51,0)\n"], kind: .light,
            reading: .light(20, .percent)),
        Device(
            name: "proximity",
            files: [iio + "1/in_proximity_raw": "150", iio + "1/in_proximity_nearlevel": "100"], kind: .proximity,
            reading: .proximity(1.5)),
        Device(
            name: "numbered proximity",
            files: [iio + "1/in_proximity0_raw": "50", iio + "1/in_proximity0_nearlevel": "100"], kind: .proximity,
            reading: .proximity(0.5)),
        Device(
            name: "behind one without a level",
            files: [
                iio + "0/in_proximity_raw": "3", iio + "1/in_proximity_raw": "50",
                iio + "1/in_proximity_nearlevel": "100",
            ], kind: .proximity, reading: .proximity(0.5)),
    ]

    @Test(arguments: devices) func valuesHaveTheirUnits(_ device: Device) throws {
        let folder = try TemporaryFolder(device.files)
        let found = try AmbientFinder(root: folder.path).device(device.kind)
        #expect(try found.read() == device.reading)
    }

    @Test func whatIsMissingOrMakesNoSenseIsNamed() throws {
        let folder = try TemporaryFolder([
            Self.iio + "0/in_proximity_raw": "3", "sys/class/hwmon/hwmon0/light": "dark",
        ])
        func reason(_ body: () throws -> Void) -> String {
            do {
                try body()
                return ""
            } catch { return "\(error)" }
        }
        let finder = AmbientFinder(root: folder.path)
        #expect(
            reason { _ = try finder.device(.proximity) }
                == "\(folder.path)/\(Self.iio)0/in_proximity_nearlevel: there is no level at which something is near")
        #expect(
            reason { _ = try finder.device(.light).read() }
                == "\(folder.path)/sys/class/hwmon/hwmon0/light: 'dark' has no level")
        #expect(reason { _ = try finder.device(.tabletMode) } == "this machine has no sensor of tablet mode")
    }

    @Test func aWatcherTellsValuesAndWhatIsMissing() throws {
        let folder = try TemporaryFolder([Self.iio + "0/in_illuminance_input": "1"])
        let told = Mutex<[String]>([])
        let watcher = try AmbientWatcher([.light, .tabletMode], root: folder.path)
        try watcher.start { outcome in
            switch outcome {
            case .read(let reading, _): told.withLock { $0.append("\(reading)") }
            case .failed(let kind, let failure as SensorFailure):
                told.withLock { $0.append("\(kind): \(failure.category)") }
            case .failed(let kind, let failure): told.withLock { $0.append("\(kind): \(failure)") }
            }
        }
        defer { watcher.stop() }
        try waitUntil("both are told") { told.withLock { $0.count >= 2 } }
        #expect(told.withLock { $0.prefix(2) } == ["light(1.0, Binnacle.LightEvent.Unit.lux)", "tabletMode: missing"])
        try folder.write(Self.iio + "0/in_illuminance_input", "2")
        try waitUntil("the new value is told") {
            told.withLock { $0.contains("light(2.0, Binnacle.LightEvent.Unit.lux)") }
        }
    }
}
