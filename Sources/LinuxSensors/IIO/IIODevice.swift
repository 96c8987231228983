import Binnacle
import PlainText

/// The description of an IIO device in sysfs: its channels, and the conversion of their raw values to samples.
struct IIODevice: Sendable {
    private let device: SensorDevice
    private var directory: SysfsDirectory { device.directory }

    init(_ device: SensorDevice) { self.device = device }

    static func prefix(_ kind: SampleKind) -> String {
        switch kind {
        case .accelerometer: "in_accel"
        case .magnetometer: "in_magn"
        case .gyroscope: "in_anglvel"
        }
    }

    static func channels(_ kind: SampleKind) -> [String] {
        ["x", "y", "z"].map { prefix(kind) + "_" + $0 }
    }

    /// The kinds for which the device has all three axes.
    ///
    /// Names have to match exactly: `in_accel_linear_x`, `in_gravity_x` or `in_accel_x_peak_raw` are other quantities.
    static func kinds(in directory: SysfsDirectory) -> [SampleKind] {
        let names = Set(directory.names())
        let elements = IIOBufferDirectory.all(in: directory).flatMap { $0.elements.names() }
        return SampleKind.allCases.filter { kind in
            channels(kind).allSatisfy { names.contains($0 + "_raw") || elements.contains($0 + "_en") }
        }
    }

    /// Why kinds of which the device has an axis are not among its ``kinds(in:)``, in words.
    static func flaws(in directory: SysfsDirectory) -> [String] {
        let names = Set(directory.names())
        let complete = kinds(in: directory)
        return SampleKind.allCases.compactMap { kind in
            guard !complete.contains(kind) else { return nil }
            let axes = channels(kind).filter { names.contains($0 + "_raw") }
            if !axes.isEmpty {
                let letters = Spelling.list(axes.map { String($0.suffix(1)) })
                return "its \(kind.rawValue) has no axis but \(letters): all three are needed"
            }
            guard let channel = channels(kind).first(where: { names.contains($0 + "_input") }) else { return nil }
            return "its \(kind.rawValue) has processed values alone, such as \(channel)_input: raw ones are needed"
        }
    }

    /// Whether single values can be read through sysfs.
    func canPoll(_ kind: SampleKind) -> Bool {
        Self.channels(kind).allSatisfy { directory.has($0 + "_raw") }
    }

    /// The scale of an axis, or else of its kind, or of the device; 1 without any.
    func scale(_ channel: String, _ kind: SampleKind) throws(SensorFailure) -> Double {
        guard let (scale, path) = try number("_scale", channel, kind) else { return 1 }
        guard scale != 0 else {
            throw SensorFailure(.description, "\(path): the scale is 0, which makes every sample 0")
        }
        return scale
    }

    /// The offset of an axis, or else of its kind, or of the device; 0 without any.
    func offset(_ channel: String, _ kind: SampleKind) throws(SensorFailure) -> Double {
        try number("_offset", channel, kind)?.value ?? 0
    }

    /// A number of an axis, its kind or the device; refuses numbers beyond any sensor, which would make samples overflow.
    private func number(
        _ name: String, _ channel: String, _ kind: SampleKind
    ) throws(SensorFailure) -> (value: Double, path: String)? {
        guard let (number, path) = try directory.number(name, of: channel, Self.prefix(kind)) else { return nil }
        guard abs(number) < 1e15 else { throw SensorFailure(.description, "\(path): \(number) is beyond any sensor") }
        return (number, path)
    }

    /// The mount matrix and its source; the identity and `nil` without one.
    ///
    /// A gyroscope without a matrix uses that of the accelerometer on the same chip, even of another device, and one in a sensor hub, as
    /// the hub's magnetometer does, the rotation of the hub's accelerometer.
    func matrix(_ kind: SampleKind) throws(SensorFailure) -> (matrix: MountMatrix, source: String?) {
        var place = try Self.matrixText(kind, in: directory, device.properties["ACCEL_MOUNT_MATRIX"])
        if place == nil { place = try chipMatrixText(kind) }
        guard let place else {
            return (
                device.hubMatrix ?? .identity,
                device.hubMatrix.map { _ in Self.matrixProperty + " of its hub's accelerometer" }
            )
        }
        let matrix = try Self.matrix(place.text, from: place.source)
        guard device.isInBase, place.source == Self.matrixProperty else { return (matrix, place.source) }
        // Older databases have one entry for both sensors of a Chromebook, whose axes are the same when it lies open flat.
        let name = try? directory.textIfPresent("name")
        let isOfBoth = matrix == .reversed && name?.hasPrefix("cros-ec-accel") == true
        return (isOfBoth ? matrix : matrix.openedFlat, place.source)
    }

    private static func matrixText(
        _ kind: SampleKind, in directory: SysfsDirectory, _ property: String? = nil
    ) throws(SensorFailure) -> (text: String, source: String)? {
        func attribute(_ name: String) throws(SensorFailure) -> (text: String, source: String)? {
            try directory.textIfPresent(name).map { ($0, directory.path(name)) }
        }
        let own = prefix(kind) + "_mount_matrix"
        // udev's property is the hardware database's for the accelerometer; the gyroscope on its chip has the same axes unless
        // its driver states others.
        let property = property.map { (text: $0, source: matrixProperty) }
        switch kind {
        case .accelerometer: if let property { return property }
        case .gyroscope:
            if let found = try attribute(own) { return found }
            if let property { return property }
        case .magnetometer: break
        }
        for name in [own, "mount_matrix", "in_mount_matrix"] {
            if let found = try attribute(name) { return found }
        }
        return nil
    }

    private func chipMatrixText(_ kind: SampleKind) throws(SensorFailure) -> (text: String, source: String)? {
        guard kind == .gyroscope else { return nil }
        for folder in [directory] + directory.siblings where Self.kinds(in: folder).contains(.accelerometer) {
            if let found = try Self.matrixText(.accelerometer, in: folder) { return found }
        }
        return nil
    }

    /// The source of a matrix of udev's hardware database.
    static let matrixProperty = "udev ACCEL_MOUNT_MATRIX"

    /// Parses a matrix; an error names its source.
    static func matrix(_ text: String, from source: String) throws(SensorFailure) -> MountMatrix {
        do throws(MountMatrix.Flaw) {
            return try MountMatrix(text)
        } catch {
            switch error {
            case .shape:
                throw SensorFailure(
                    .description,
                    "\(source): '\(text.prefix(80))' is no mount matrix: it has to be three rows of three numbers, as in "
                        + "1, 0, 0; 0, 1, 0; 0, 0, 1")
            case .singular:
                throw SensorFailure(
                    .description,
                    "\(source): the mount matrix '\(text.prefix(80))' has determinant 0: two axes would become one. Correct "
                        + "it, or set mount_matrix for the sensor")
            }
        }
    }

    func scaling(_ kind: SampleKind, _ settings: SensorSettings) throws(SensorFailure) -> AxisScaling {
        var scales: [Double] = []
        var offsets: [Double] = []
        for channel in Self.channels(kind) {
            scales.append(try scale(channel, kind))
            offsets.append(try offset(channel, kind))
        }
        let (matrix, factor) = try settings.mounting(kind) { () throws(SensorFailure) in try self.matrix(kind).matrix }
        return AxisScaling(scales: scales, offsets: offsets, matrix: matrix, factor: factor)
    }
}
