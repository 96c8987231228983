package import Station

/// What a conversion came to, for people.
package struct ConvertSummary {
    /// How many samples were written, of what, and what was passed over; one line each.
    package var lines: [String] = []
    /// The first places where something was passed over.
    package var repairNotices: [String] = []
    /// What went wrong.
    package var failures: [StationError] = []
    /// Whether a person cancelled it.
    package var isCancelled = false
}
