import Binnacle

/// The description of an IIO device in sysfs: its channels, and how their raw values become samples.
struct IIODevice: Sendable {
    let directory: SysfsDirectory
    let properties: [String: String]

    init(_ device: SensorDevice) {
        directory = device.directory
        properties = device.properties
    }

    init(directory: SysfsDirectory, properties: [String: String]) {
        self.directory = directory
        self.properties = properties
    }

    static func prefix(_ kind: SampleKind) -> String {
        switch kind {
        case .accelerometer: "in_accel"
        case .magnetometer: "in_magn"
        }
    }

    static func channels(_ kind: SampleKind) -> [String] {
        ["x", "y", "z"].map { prefix(kind) + "_" + $0 }
    }

    /// What the device measures with all three axes.
    ///
    /// A name has to fit exactly: `in_accel_linear_x`, `in_gravity_x` or `in_accel_x_peak_raw` are something else.
    static func kinds(in directory: SysfsDirectory) -> [SampleKind] {
        let names = Set(directory.names())
        let elements = IIOBufferDirectory.all(in: directory).flatMap { $0.elements.names() }
        return SampleKind.allCases.filter { kind in
            channels(kind).allSatisfy { names.contains($0 + "_raw") || elements.contains($0 + "_en") }
        }
    }

    /// Whether single values can be read through sysfs.
    func canPoll(_ kind: SampleKind) -> Bool {
        Self.channels(kind).allSatisfy { directory.has($0 + "_raw") }
    }

    /// The scale of an axis: its own, its kind's, or the device's; 1 without any.
    func scale(_ channel: String, _ kind: SampleKind) throws(SensorFailure) -> Double {
        for name in [channel + "_scale", Self.prefix(kind) + "_scale", "in_scale"] {
            guard let scale = try directory.number(name) else { continue }
            guard scale != 0 else {
                throw SensorFailure(
                    .description, "\(directory.path(name)): the scale is 0, which makes every sample 0")
            }
            return try plausible(scale, name)
        }
        return 1
    }

    /// Refuses numbers that no sensor has, with which samples would overflow.
    private func plausible(_ number: Double, _ name: String) throws(SensorFailure) -> Double {
        guard abs(number) < 1e15 else {
            throw SensorFailure(.description, "\(directory.path(name)): \(number) is beyond any sensor")
        }
        return number
    }

    /// The offset of an axis: its own, its kind's, or the device's; 0 without any.
    func offset(_ channel: String, _ kind: SampleKind) throws(SensorFailure) -> Double {
        for name in [channel + "_offset", Self.prefix(kind) + "_offset", "in_offset"] {
            if let offset = try directory.number(name) { return try plausible(offset, name) }
        }
        return 0
    }

    /// The mount matrix and where it was found; the identity from nowhere without any.
    func matrix(_ kind: SampleKind) throws(SensorFailure) -> (matrix: MountMatrix, source: String?) {
        var places: [(text: String, source: String)] = []
        // udev's property comes from the hardware database, for the accelerometer alone.
        if kind == .accelerometer, let text = properties["ACCEL_MOUNT_MATRIX"] {
            places.append((text, "udev ACCEL_MOUNT_MATRIX"))
        }
        for name in [Self.prefix(kind) + "_mount_matrix", "mount_matrix", "in_mount_matrix"] {
            if let text = try directory.textIfPresent(name) { places.append((text, directory.path(name))) }
        }
        guard let place = places.first else { return (.identity, nil) }
        return (try Self.matrix(place.text, from: place.source), place.source)
    }

    /// Reads a matrix; an error names its source.
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

    /// How raw values become samples.
    func scaling(_ kind: SampleKind, _ settings: SensorSettings) throws(SensorFailure) -> AxisScaling {
        var scales: [Double] = []
        var offsets: [Double] = []
        for channel in Self.channels(kind) {
            scales.append(try scale(channel, kind))
            offsets.append(try offset(channel, kind))
        }
        let matrix: MountMatrix
        if let given = settings.mountMatrix { matrix = given } else { matrix = try self.matrix(kind).matrix }
        let factor: Double =
            switch kind {
            case .accelerometer: settings.acceleration.factor
            // The kernel's unit is the gauss.
            case .magnetometer: 100
            }
        return AxisScaling(scales: scales, offsets: offsets, matrix: matrix, factor: factor)
    }
}
