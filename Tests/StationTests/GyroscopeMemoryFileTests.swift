import Binnacle
import Foundation
import Station
import TestSupport
import Testing

/// What was learned of gyroscopes, kept in a file.
@Suite struct GyroscopeMemoryFileTests {
    private static let hour: Int64 = 3_600_000_000_000
    private static let then: Int64 = 1_790_000_000_000_000_000

    private static func sensor(_ device: String, axes: String? = "1, 0, 0; 0, 1, 0; 0, 0, 1") -> MountedSensor {
        MountedSensor(device: device, axes: axes)
    }

    private func state(_ device: String?, isLearned: Bool = true, x: Double = 0.01) -> GyroscopeState {
        let memory = FusionMemory(
            offset: SIMD3(x, -0.02, 0.03), sigmaDegrees: SIMD3(0.04, 0.05, 0.06), field: (44.5, -66.25))
        return GyroscopeState(
            gyroscope: device.map { Self.sensor($0) }, memory: memory, isLearned: isLearned, isAtRest: true,
            secondsAlone: nil)
    }

    @Test func whatTurnsHaveShownIsKept() throws {
        let errors = SensorErrors(
            iron: SIMD3(12.5, -30.25, 4), ironSigma: SIMD3(0.5, 0.75, 1), scale: 1.0125, scaleSigma: 0.0015)
        let memory = FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: 0.03), errors: errors)
        let book = GyroscopeMemoryFile(path: nil)
        let (gyroscope, magnetometer) = (Self.sensor("imu"), Self.sensor("compass"))
        func record(_ memory: FusionMemory, magnetometer: MountedSensor?, at time: Int64) {
            book.record(
                GyroscopeState(
                    gyroscope: gyroscope, magnetometer: magnetometer, memory: memory, isLearned: true, isAtRest: true,
                    secondsAlone: nil),
                at: time)
        }
        func recalled() -> SensorErrors? {
            let field = book.recall(.magnetometer, magnetometer, at: 0)
            return book.recall(.gyroscope, gyroscope, at: 0)?.with(magnetometer: field).errors
        }
        record(memory, magnetometer: magnetometer, at: 0)
        #expect(GyroscopeMemoryFile.entries(of: book.removeContents()) == book.entries)
        #expect(book.entries.count == 2 && recalled() == errors)
        // What a detector without a magnetometer notes later leaves it as it is, and so does one whose calibration hides the iron.
        let rest = FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: 0.02))
        record(rest, magnetometer: nil, at: 0)
        #expect(recalled() == errors)
        var calibrated = rest
        calibrated.errors = SensorErrors.scale(errors.scale, sigma: errors.scaleSigma)
        calibrated.field = (48, 66)
        record(calibrated, magnetometer: magnetometer, at: 0)
        #expect(recalled() == errors)
        // What a compass without a gyroscope notes later is the iron alone.
        let iron = SensorErrors.iron(SIMD3(1, 2, 3), sigma: SIMD3(repeating: 2))
        let compass = GyroscopeState(
            gyroscope: nil, magnetometer: magnetometer,
            memory: FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: 0.5), errors: iron),
            isLearned: true, isAtRest: true, secondsAlone: nil, hasGyroscope: false)
        book.record(compass, at: 2)
        // The same iron again is nothing to write, and nothing gets older by it.
        _ = book.removeContents()
        book.record(compass, at: 86_400_000_000_000)
        #expect(!book.isChanged)
        #expect(book.recall(.gyroscope, gyroscope, at: 0)?.sigmaDegrees.x == 0.02)
        #expect(book.recall(.magnetometer, magnetometer, at: 2)?.field?.strength == 48)
        #expect(recalled()?.iron == iron.iron && recalled()?.scale == 1.0125)
        // A day later it is worth less, and no less after a year.
        let (day, year) = (memory.aged(seconds: 86_400), memory.aged(seconds: 3e7))
        #expect(day.errors == year.errors && (day.errors?.ironSigma.x ?? 0) > 2)
    }

    /// Another magnetometer has other iron, and other axes turn it.
    @Test func whatWasLearnedOfASensorIsNotThatOfAnother() throws {
        let book = GyroscopeMemoryFile(path: nil)
        func record(_ magnetometer: MountedSensor, iron: Double) {
            let errors = SensorErrors(
                iron: SIMD3(iron, 0, 0), ironSigma: SIMD3(repeating: 1), scale: 1.01, scaleSigma: 0.002)
            let memory = FusionMemory(
                offset: SIMD3(0.01, 0, 0), sigmaDegrees: SIMD3(repeating: 0.03), field: (48, 66), errors: errors)
            book.record(
                GyroscopeState(
                    gyroscope: Self.sensor("imu"), magnetometer: magnetometer, memory: memory, isLearned: true,
                    isAtRest: true, secondsAlone: nil), at: 0)
        }
        func iron(_ magnetometer: MountedSensor) -> Double? {
            book.recall(.magnetometer, magnetometer, at: 0)?.errors?.iron.x
        }
        let (first, second, turned) = (
            Self.sensor("mag1"), Self.sensor("mag2"), Self.sensor("mag1", axes: "-1, 0, 0; 0, -1, 0; 0, 0, 1")
        )
        record(first, iron: 30)
        #expect(iron(first) == 30 && iron(second) == nil && iron(turned) == nil && iron(Self.sensor("imu")) == nil)
        record(second, iron: -10)
        #expect(iron(first) == 30 && iron(second) == -10)
        record(turned, iron: -30)
        #expect(iron(first) == nil && iron(turned) == -30)
        #expect(book.recall(.gyroscope, Self.sensor("imu"), at: 0)?.errors?.scale == 1.01)
        #expect(book.recall(.gyroscope, Self.sensor("imu", axes: turned.axes), at: 0) == nil)
    }

    /// Version 0.3 kept all of it under the gyroscope's device, which says whose the iron is where that has both sensors.
    @Test func theFileOfVersion03IsRead() throws {
        let text = """
            {"version":1,"gyroscopes":[{"device":"chip","time":"2026-09-21T14:13:20Z","offset_rad_s":[0.01,0,0],\
            "sigma_dps":[0.04,0.05,0.06],"field":44.5,"dip_deg":66,"iron_uT":[30,-10,20],"iron_sigma_uT":[1,1,1],\
            "scale":1.01,"scale_sigma":0.002}]}
            """
        let folder = try TemporaryFolder()
        let path = folder.path + "/gyroscopes.json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let book = GyroscopeMemoryFile(path: path)
        #expect(book.read() == nil)
        let rates = try #require(book.recall(.gyroscope, Self.sensor("chip"), at: Self.then))
        #expect(rates.offset.x == 0.01 && rates.errors?.scale == 1.01 && rates.errors?.isIronKnown == false)
        #expect(book.recall(.magnetometer, Self.sensor("chip"), at: Self.then)?.errors?.iron.x == 30)
        #expect(book.recall(.magnetometer, Self.sensor("other"), at: Self.then) == nil)
        #expect(GyroscopeMemoryFile.entries(of: book.removeContents()) == book.entries)
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/gyroscopes.json"
        let book = GyroscopeMemoryFile(path: path)
        #expect(book.read() == nil && !book.isChanged)
        book.record(state("pci0000:00/\"chip\"/ü"), at: Self.then)
        book.record(state("other", x: 0.5), at: Self.then)
        book.record(state(nil), at: Self.then)
        book.record(state("guess", isLearned: false), at: Self.then)
        #expect(book.isChanged)
        try Data(book.removeContents()).write(to: URL(fileURLWithPath: path))
        #expect(!book.isChanged)
        let next = GyroscopeMemoryFile(path: path)
        #expect(next.read() == nil && next.entries == book.entries && next.entries.count == 2)
        // The same again is no change; something else replaces it.
        next.record(state("other", x: 0.5), at: Self.then + 1)
        #expect(!next.isChanged)
        next.record(state("other", x: 0.4), at: Self.then + 1)
        #expect(next.isChanged && next.entries.count == 2)
    }

    @Test func itIsWorthLessTheOlderItIs() throws {
        let book = GyroscopeMemoryFile(path: nil)
        book.record(state("chip"), at: Self.then)
        func recall(_ device: String, at time: Int64) -> FusionMemory? {
            book.recall(.gyroscope, Self.sensor(device), at: time)
        }
        #expect(recall("other", at: Self.then) == nil)
        let fresh = try #require(recall("chip", at: Self.then))
        #expect(fresh.sigmaDegrees == SIMD3(0.04, 0.05, 0.06) && fresh.offset.x == 0.01)
        let later = try #require(recall("chip", at: Self.then + 100_000_000_000))
        #expect(abs(later.sigmaDegrees.x - (0.04 * 0.04 + 0.01).squareRoot()) < 1e-9 && later.offset == fresh.offset)
        #expect(recall("chip", at: Self.then + Self.hour)?.sigmaDegrees.x == 0.5)
        // A clock that is behind says nothing of the age.
        #expect(recall("chip", at: Self.then - 1)?.sigmaDegrees.x == 0.5)
    }

    @Test func atMost128SensorsAreKept() {
        let book = GyroscopeMemoryFile(path: nil)
        for number in 0..<134 { book.record(state("chip \(number)"), at: Self.then) }
        #expect(book.entries.count == 128 && book.entries.first?.sensor.device == "chip 6")
    }

    @Test func aFileThatIsNoneIsToldAndReplaced() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/gyroscopes.json"
        for text in [
            "", "{", "[]", "{\"version\":2,\"gyroscopes\":[]}", String(repeating: " ", count: 140_000), "\u{0}",
        ] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let book = GyroscopeMemoryFile(path: path)
            #expect(book.read()?.contains("cannot be read") == true, "\(text.prefix(40))")
            #expect(book.entries.isEmpty)
        }
        #expect(GyroscopeMemoryFile(path: folder.path).read()?.contains("directory") == true)
        #expect(GyroscopeMemoryFile(path: folder.path + "/none/gyroscopes.json").read() == nil)
    }

    @Test func anEntryThatMakesNoSenseIsLeftOut() throws {
        let book = GyroscopeMemoryFile(path: nil)
        book.record(state("chip"), at: Self.then)
        let text = String(decoding: book.removeContents(), as: UTF8.self)
        #expect(GyroscopeMemoryFile.entries(of: Array(text.utf8))?.count == 1)
        for (old, new) in [
            ("0.010000000", "2"), ("0.010000000", "1e999"), ("0.010000000", "\"0\""), ("0.040000", "-1"),
            ("\"chip\"", "null"), ("\"chip\"", "\"\""), ("\"time\":\"2", "\"time\":\"x"), ("[0.010000000,", "["),
        ] {
            let changed = text.replacing(old, with: new)
            #expect(changed != text)
            #expect(GyroscopeMemoryFile.entries(of: Array(changed.utf8)) == [], "\(changed)")
        }
        // A field that makes no sense costs the magnetometer's entry alone, unless its iron is known.
        let magnetic = GyroscopeState(
            gyroscope: nil, magnetometer: Self.sensor("compass"), memory: state("chip").memory, isLearned: true,
            isAtRest: true, secondsAlone: nil)
        book.record(magnetic, at: Self.then)
        let both = String(decoding: book.removeContents(), as: UTF8.self)
        #expect(GyroscopeMemoryFile.entries(of: Array(both.utf8))?.count == 2)
        let entries = GyroscopeMemoryFile.entries(of: Array(both.replacing("44.5000", with: "0").utf8))
        #expect(entries?.map(\.kind) == [.gyroscope])
    }
}
