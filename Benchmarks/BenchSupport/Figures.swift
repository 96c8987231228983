import Binnacle
import Glibc

/// Prints a line at once, also into a pipe.
package func say(_ line: String) {
    let text = line + "\n"
    _ = write(STDOUT_FILENO, text, text.utf8.count)
}

/// The value that a share of the values does not exceed; −1 without values.
package func percentile(_ values: [Int64], _ share: Double) -> Int64 {
    let sorted = values.sorted()
    return sorted.isEmpty ? -1 : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
}

/// A percentile of nanoseconds, in microseconds.
package func us(_ values: [Int64], _ share: Double) -> String {
    decimal(Double(percentile(values, share)) * 1e-3, 1)
}

/// A percentile of nanoseconds, in milliseconds.
package func ms(_ values: [Int64], _ share: Double) -> String {
    decimal(Double(percentile(values, share)) * 1e-6, 2)
}

/// How many times b goes into a.
package func ratio(_ a: Int64, _ b: Int64) -> String { decimal(Double(a) / Double(max(b, 1)), 2) }

/// A number with a fixed count of decimals.
package func decimal(_ value: Double, _ decimals: Int) -> String {
    Figure.Value.number(value, decimals: decimals).description
}
