/// The figures of one kernel as a table: a row for each level of memory and rate of events, three columns for each form.
struct KernelTable {
    private let title: String
    private let hasRates: Bool
    private var table: TextTable

    /// Begins a table.
    ///
    /// - Parameters:
    ///   - title: What the kernel is.
    ///   - forms: The labels of its forms.
    ///   - hasRates: Whether rows differ in how often something happens.
    init(title: String, forms: [String], hasRates: Bool) {
        self.title = title
        self.hasRates = hasRates
        table = TextTable(
            ["level"] + (hasRates ? ["events"] : []) + ["read GB/s"] + forms.flatMap { ["\($0) ns", "GB/s", "%"] }
                + ["spread"])
    }

    /// Adds what was measured at one level and rate.
    mutating func add(_ result: KernelResult) {
        var row = [result.level.name]
        if hasRates { row.append(result.rate.map(Self.rate) ?? "") }
        row.append(NumberText.text(result.rate(of: result.limit), decimals: 1))
        for form in result.forms {
            row.append(NumberText.nanoseconds(form.nanosecondsPerSample.median))
            row.append(NumberText.text(result.rate(of: form.nanosecondsPerSample), decimals: 1))
            row.append(NumberText.percent(result.share(of: form.nanosecondsPerSample)))
        }
        // How far the passes lay apart, of the form where that was worst.
        let worst = result.forms.map(\.nanosecondsPerSample.unrest).max() ?? 1
        row.append("+\(NumberText.percent(worst - 1)) %")
        table.add(row)
    }

    /// The table, with its title.
    var lines: [String] { [title] + table.lines }

    /// How often something happens, in percent.
    private static func rate(_ rate: Double) -> String {
        let decimals = rate == 0 || rate >= 0.01 ? 0 : 2
        return NumberText.text(rate * 100, decimals: decimals) + " %"
    }
}
