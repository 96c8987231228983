/// How a kernel goes through memory.
enum AccessPattern: String, CaseIterable {
    /// One stream: scans, or one column.
    case stream
    /// Three columns of 4-byte values.
    case columns
    /// A column of stamps and three of 4-byte values.
    case samples
    /// Six columns of 4-byte values.
    case pairs

    /// How many bytes belong to one sample.
    var bytesPerSample: Int {
        switch self {
        case .stream: 16
        case .columns: 12
        case .samples: 20
        case .pairs: 24
        }
    }

    /// What it is, in a few words.
    var title: String {
        switch self {
        case .stream: "one stream (scans)"
        case .columns: "x y z side by side"
        case .samples: "t x y z side by side"
        case .pairs: "six columns side by side"
        }
    }

    /// How many samples fit, in whole pieces of 64, because the ends of loops are no part of what is measured.
    static func sampleCount(byteCount: Int, bytesPerSample: Int) -> Int {
        max(64, byteCount / bytesPerSample / 64 * 64)
    }
}
