package import SensorGeometry

/// The mount matrix: rotates the sensor's axes to the device's.
///
/// The text is the kernel's and udev's: `1, 0, 0; 0, 1, 0; 0, 0, 1`, rows separated by semicolons. A determinant of −1 is common
/// in the field, because it carries the sign of the acceleration; a determinant of 0 is an error.
public struct MountMatrix: Sendable, Equatable, CustomStringConvertible {
    /// From the sensor's axes to the device's.
    package let matrix: Matrix3

    /// The nine elements, row by row.
    package var elements: [Double] { matrix.elements }

    /// The sensor's axes are the device's.
    package static let identity = MountMatrix(unchecked: .identity)
    /// All signs are reversed.
    package static let reversed = MountMatrix(unchecked: Matrix3(elements: [-1, 0, 0, 0, -1, 0, 0, 0, -1]))

    /// Why a text is not a mount matrix.
    public enum Flaw: Error, Sendable, Equatable {
        /// The text is not three rows of three numbers.
        case shape
        /// The determinant is 0, so two axes would coincide.
        case singular
    }

    private init(unchecked matrix: Matrix3) {
        self.matrix = matrix
    }

    /// Creates a matrix from nine elements, row by row.
    public init(_ elements: [Double]) throws(Flaw) {
        guard elements.count == 9, elements.allSatisfy({ $0.isFinite && abs($0) <= 1e6 }) else { throw .shape }
        matrix = Matrix3(elements: elements)
        // With rows of length 1; below this limit two rows differ by less than a sensor's noise.
        let volume = matrix.rows.map { ($0 * $0).sum().squareRoot() }.reduce(1, *)
        guard volume > 0, abs(determinant) > 1e-3 * volume else { throw .singular }
    }

    /// Parses the kernel's or udev's text.
    package init(_ text: String) throws(Flaw) {
        let rows = text.split(separator: ";", omittingEmptySubsequences: false)
        guard rows.count == 3 else { throw .shape }
        var elements: [Double] = []
        for row in rows {
            let cells = row.split(separator: ",", omittingEmptySubsequences: false)
            guard cells.count == 3 else { throw .shape }
            for cell in cells {
                guard let number = SysfsNumber.parse(String(cell)) else { throw .shape }
                elements.append(number)
            }
        }
        try self.init(elements)
    }

    /// The determinant: 1 for a rotation, −1 for a rotation with a reflection.
    package var determinant: Double { matrix.determinant }

    /// How far it is from a rotation, with or without a reflection: the largest change of a length, or cosine between two axes.
    package var distortion: Double {
        let rows = matrix.rows.map { ($0, dot($0, $0).squareRoot()) }
        let lengths = rows.map { ($0.1 - 1).magnitude }
        let cosines = [(0, 1), (1, 2), (2, 0)].map { first, second in
            (dot(rows[first].0, rows[second].0) / (rows[first].1 * rows[second].1)).magnitude
        }
        return (lengths + cosines).max() ?? 0
    }

    /// What is wrong with its values, which a rotation would keep; `nil` where they are rounded at most.
    package var distortionWords: String? {
        // Three digits of a matrix that a driver or a user has rounded are within it.
        let distortion = distortion
        guard distortion > 0.02 else { return nil }
        let percent = SysfsNumber.text((distortion * 100).rounded())
        return
            "it is no rotation: it changes lengths or angles by up to \(percent) %, and with them every value and threshold"
    }

    /// The sign for an angular velocity, which is an axial vector and transforms by det(M)·M·ω.
    ///
    /// A reflection reverses the sense of rotation. Most accelerometer matrices with determinant −1 only carry the sign of the
    /// acceleration, which does not apply to a gyroscope.
    package var turnSign: Double { determinant < 0 ? -1 : 1 }

    /// The rotation of a matrix whose determinant of −1 carries the sign of the acceleration.
    var proper: MountMatrix {
        determinant < 0 ? MountMatrix(unchecked: Matrix3(rows: matrix.rows.map { -$0 })) : self
    }

    /// This matrix of udev's hardware database for a sensor in the base of a laptop, with half a turn around x.
    ///
    /// There the axes of base and screen are the same when the laptop is closed (systemd's 60-sensor.hwdb), here when it lies open flat.
    package var openedFlat: MountMatrix {
        let rows = matrix.rows
        return MountMatrix(unchecked: Matrix3(rows: [rows[0], -rows[1], -rows[2]]))
    }

    /// The matrix in the format of the kernel and udev.
    public var description: String {
        matrix.rows.map { row in
            (0..<3).map { SysfsNumber.text(row[$0]) }.joined(separator: ", ")
        }.joined(separator: "; ")
    }
}
