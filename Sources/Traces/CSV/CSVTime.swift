import Glibc
import PlainText

/// The source of the stamps of a CSV file.
enum CSVTime: Equatable {
    /// Numbers; of seconds, parts may be in other columns.
    case number(column: Int, unit: TimeUnit, parts: [Part] = [])
    /// A column of times of a clock, as text; their dates may be in the column before, and the fractions of their seconds in another.
    case clock(column: Int, followsDate: Bool = false, dates: DateOrder.Choice = DateOrder.Choice(), parts: [Part] = [])
    /// The file has no times: a constant sampling rate.
    case rate(hertz: Double)

    /// A column whose numbers are added to the seconds: of their fractions, as ROS writes them, or of the minutes or hours of a clock.
    struct Part: Equatable {
        let column: Int
        let unit: TimeUnit

        var isFraction: Bool { unit.inSeconds < 1 }
        /// All numbers of the part are below it, because the next larger part counts what is more.
        var endSeconds: Int64 { isFraction ? 1 : unit == .hours ? 86_400 : 3600 }
    }

    var column: Int? {
        switch self {
        case .number(let column, _, _), .clock(let column, _, _, _): column
        case .rate: nil
        }
    }

    var parts: [Part] {
        switch self {
        case .number(_, _, let parts), .clock(_, _, _, let parts): parts
        case .rate: []
        }
    }
}

/// Chooses the column of the time, and its unit.
struct CSVTimeChoice {
    /// The time; `nil` when no column has it.
    private(set) var time: CSVTime?
    private(set) var notices: [String] = []
    /// What further rows would hardly change, so that none are waited for.
    private(set) var remarks: [String] = []
    /// The defect of the column that was found, and the apparent rate of the rows, where they show one.
    private(set) var flaw: (message: String, hertz: Double?)?
    /// Whether the unit of the times is not stated.
    private(set) var isUnitAssumed = false
    /// Whether numbers that are taken as seconds may be hours, minutes and seconds without signs between them.
    private(set) var mayBeClock = false

    private static let fewestRows = 10
    /// Shorter distances of samples are reported.
    static let shortestSeconds = 101e-6

    init(
        _ columns: [ColumnName], _ names: [String], _ table: HeadTable, rate: (hertz: Double, says: String?)?
    ) {
        // A user who states a rate knows of no time, and T may be a temperature.
        let isRateStated = rate.map { $0.says == nil } ?? false
        let candidates = Self.candidates(columns, names, table).filter { !isRateStated || names[$0] != "T" }
        let split = Self.parts(candidates, columns, names, table)
        let whole = candidates.filter { place in
            place != split?.seconds && !(split?.parts.contains { $0.column == place } ?? false)
                && !ColumnWords.areOfFraction(names[place])
        }
        let best = Self.best(whole, columns, table)
        // One column that has all of the time takes precedence.
        let parts = best.map { Self.isFine($0, table) } ?? false ? nil : split
        guard let found = parts?.seconds ?? best ?? candidates.first else {
            time = rate.map { .rate(hertz: $0.hertz) }
            notices = Self.assumption(rate)
            return
        }
        // Who names a column of dates means that of the clock behind it as well.
        let hasClock =
            table.columns.indices.contains(found + 1) && table.columns[found].hasDates
            && table.columns[found + 1].hasTimesOfDay
        let column = hasClock ? found + 1 : found
        let name = names[column].printable
        if columns[column].stem != MappedColumns.stem, names.count(where: { $0 == names[column] }) > 1 {
            notices.append(
                "several columns '\(name)': #\(column + 1) is taken as the time (override with --map time=#NUMBER)")
        }
        let values =
            parts?.sum ?? (table.columns.indices.contains(column) ? table.columns[column] : nil)
        let isClock = values?.clock != nil
        if let values, !isClock, table.rowCount >= Self.fewestRows, !values.values.contains(where: \.isFinite),
            let text = values.texts.min(), text == text.printable, !ClockTime.isBeyond(text)
        {
            // The end of a field may be what is wrong, such as the name of a zone.
            let shown = text.count > 48 ? "\(text.prefix(24))…\(text.suffix(16))" : text
            use(rate, for: "no field of '\(name)' is a time, as '\(shown)' is none")
            return
        }
        let steps = values?.steps
        var unit = isClock ? TimeUnit.nanoseconds : .seconds
        if !isClock {
            if case .known(.date) = columns[column].unit {
                notices.append("'\(name)' has numbers, so that the order of dates in --map is not used")
            }
            if case .known(.time(let stated)) = columns[column].unit {
                unit = stated
            } else if parts == nil {
                if let (words, hertz) = Self.rateOfTicks(values, steps) {
                    use(rate, for: "'\(name)' counts \(words), a unit that is not read", hertz)
                    return
                }
                if let values, rate?.hertz != 1, Self.countsRows(values) {
                    use(
                        rate,
                        for:
                            "'\(name)' has no unit and rises by 1 with each row, as the numbers of rows do (if it is a time, say so "
                            + "with --map 'time=#\(column + 1):s')")
                    return
                }
                if let step = steps?.median, (1..<1000).contains(step), names[column] == "SampleTimeFine" {
                    use(rate, for: "'\(name)' counts tenths of a millisecond, a unit that is not read", 1e4 / step)
                    return
                }
                let guess = Self.guess(values, steps, rowCount: table.rowCount)
                if guess.other != nil, columns[column].unit == .none, ColumnWords.areTicks(names[column]) {
                    use(rate, for: "'\(name)' counts ticks, and nothing says how long one is")
                    return
                }
                unit = guess.unit
                isUnitAssumed = true
                mayBeClock =
                    (unit == .seconds || unit == .milliseconds) && values?.fields.first.map(Self.isClockNumber) ?? false
                if let rate, let steps, steps.median > 0 {
                    let step = steps.median * unit.inSeconds
                    let ratio = step * rate.hertz
                    let isOther = abs(log(ratio)) > log(1.5)
                    let words =
                        "the times in '\(name)' would be \(VectorStatistics.text(1 / step)) samples a second in \(unit.name), and there "
                        + "should be \(VectorStatistics.optionText(rate.hertz))\(rate.says.map { ", as " + $0 } ?? "")"
                    // For counts of a clock of unknown speed, the user's rate, and one beside which it is a decimal one, are better
                    // than a guess by their distance.
                    let isCount =
                        unit != .seconds && !guess.mayBeDate
                        && values?.values.allSatisfy { !$0.isFinite || $0 == $0.rounded() } ?? false
                    if isCount, rate.says == nil ? isOther : Self.isPowerOfTen(ratio) {
                        (isUnitAssumed, mayBeClock) = (false, false)
                        notices.append(
                            "\(words): the rate is taken, with which pauses are not seen; to use the times, name their unit with "
                                + "--map 'time=COLUMN:UNIT'")
                        time = .rate(hertz: rate.hertz)
                        return
                    }
                    if isOther {
                        notices.append("\(words): if that is not so, name their unit with --map 'time=COLUMN:UNIT'")
                    }
                }
                let map = guess.other.map { " 'time=#\(column + 1):\($0.option)'" } ?? ""
                notices.append("no unit for '\(name)': taken as \(guess.words) (override with --map\(map))")
            }
        }
        let isStated = if case .known(.time) = columns[column].unit { true } else { false }
        if let steps, table.rowCount >= Self.fewestRows, steps.median > 0, !columns.contains(where: \.isRecorded) {
            let seconds = steps.median * unit.inSeconds
            let perSecond = steps.rate / unit.inSeconds
            if let values, perSecond >= 1, Self.isInBatches(values, steps, columns, table) {
                if let rate, rate.says == nil {
                    time = .rate(hertz: rate.hertz)
                    return
                }
                notices.append(
                    "the rows come in batches: half of the times in '\(name)' are \(Self.text(seconds)) or less behind "
                        + "the one before, and there are \(VectorStatistics.text(perSecond)) rows a second, so that the times are "
                        + "not those of the samples: --rate \(VectorStatistics.optionText(perSecond.rounded())) plays them evenly"
                )
            } else if seconds < Self.shortestSeconds || isStated && seconds > 1.0001 {
                notices.append(
                    Self.implausible("'\(name)'", seconds)
                        + ": if that is not so, its unit is another one (--map 'time=COLUMN:UNIT' with s, ms, us or ns)"
                )
            }
        }
        // Samples of several sensors share a time.
        if table.rowCount >= 2 * Self.fewestRows, Set(columns.compactMap(\.sensor)).count < 2,
            !columns.contains(where: \.isRecorded), let steps
        {
            let first = table.columns[column].values.first { $0.isFinite } ?? 0
            let repeated = values.flatMap { Self.repeated($0, columns, table) } ?? steps.repeated
            if repeated > 0.75, steps.median > 0 || isClock || first.magnitude >= 1e9 {
                let hertz = steps.rate > 0 ? steps.rate / unit.inSeconds : nil
                let words =
                    steps.median > 0
                    ? "\(Int((100 * repeated).rounded())) % of the samples have the same time in '\(name)' as the one before"
                    : "all samples at the beginning have the same time in '\(name)', whose last digits "
                        + (first.magnitude >= 1e12 ? "a spreadsheet has cut off" : "are cut off")
                if let rate {
                    time = .rate(hertz: rate.hertz)
                    return
                }
                flaw = (words, hertz.map { max(2, min(100_000, $0 >= 10 ? $0.rounded() : $0)) })
            } else if repeated > 0.05 {
                notices.append(
                    "'\(name)': \(Int((100 * repeated).rounded())) % of the samples have the same time as the one before: a "
                        + "program may have cut off the last digits")
            }
        }
        if rate != nil, rate?.says == nil { notices.append("--rate is not used: '\(name)' holds the time") }
        notices += Self.unread(beside: column, parts?.parts ?? [], names, table)
        guard isClock else {
            time = .number(column: column, unit: unit, parts: parts?.parts ?? [])
            return
        }
        if case .unknown(let unit) = columns[column].unit, Self.isZone(unit) {
            remarks.append(
                "the zone \(unit.printable) in the name '\(name)' is not applied: times without a zone of their own are taken "
                    + "as UTC")
        }
        let date = Self.date(for: column, table)
        let dated = date == column - 1 ? column - 1 : column
        let units = [columns[found].unit, columns[column].unit, ColumnName(names[dated]).unit]
        let stated = units.lazy.compactMap { if case .known(.date(let order)) = $0 { order } else { nil } }.first
        let orders = stated.map { [$0] } ?? table.columns[dated].dateOrder.possible
        if let taken = orders.first, orders.count > 1 {
            let others = orders.dropFirst().map(\.words).joined(separator: " or ")
            let options = orders.map { "'time=#\(column + 1):\($0.rawValue)'" }.joined(separator: " or ")
            remarks.append(
                "the dates in '\(names[dated].printable)' are taken as \(taken.words), and \(others) is possible: "
                    + "say which with --map \(options)")
        }
        time = .clock(
            column: column, followsDate: date == column - 1,
            dates: DateOrder.Choice(order: orders.first, isAssumed: orders.count != 1), parts: parts?.parts ?? [])
        if let date, date != column - 1 {
            notices.append(
                "the dates in '\(names[date].printable)' are not used, because the column does not stand before '\(name)': "
                    + "another day begins where the clock starts again")
        }
    }

    /// Takes the rate in place of a column that is no time; without one that column is the flaw.
    private mutating func use(
        _ rate: (hertz: Double, says: String?)?, for words: String, _ hertz: Double? = nil
    ) {
        time = rate.map { .rate(hertz: $0.hertz) }
        notices += Self.assumption(rate)
        if rate == nil { flaw = (words, hertz) }
    }

    /// Whether a ratio is 10, 100 and so on, or one to it.
    private static func isPowerOfTen(_ ratio: Double) -> Bool {
        let exponent = log10(ratio)
        return exponent.magnitude > 0.5 && abs(exponent - exponent.rounded()) < 0.01
    }

    /// Whether whole numbers rise by 1 in each row, as numbers of rows do, and are no seconds since 1970.
    private static func countsRows(_ column: HeadTable.Column) -> Bool {
        let values = column.values
        return values.count >= fewestRows && !dates.contains(values[0]) && values[0].magnitude < 1e11
            && zip(values, values.dropFirst()).allSatisfy { $1 - $0 == 1 }
            && column.fields.allSatisfy { !$0.utf8.contains(CSVDialect.point) }
    }

    /// The share of samples that have the time of the one before in their column, because kinds that have rows of their own may share
    /// a time; `nil` without a sample.
    private static func repeated(
        _ stamps: HeadTable.Column, _ columns: [ColumnName], _ table: HeadTable
    ) -> Double? {
        let times = stamps.stamps
        var (repeats, count) = (0, 0)
        for (place, name) in columns.enumerated() where table.columns.indices.contains(place) {
            guard case .axis = name.role else { continue }
            let own = zip(times, table.columns[place].values).filter { $0.isFinite && $1.isFinite }
            repeats += zip(own, own.dropFirst()).count { $0.0 == $1.0 }
            count += max(own.count - 1, 0)
        }
        return count > 0 ? Double(repeats) / Double(count) : nil
    }

    /// What is said about a rate that the user does not state, and that is taken because there are no times.
    private static func assumption(_ rate: (hertz: Double, says: String?)?) -> [String] {
        guard let rate, let says = rate.says else { return [] }
        return [
            "no column holds the time: taken as \(VectorStatistics.optionText(rate.hertz)) samples a second, as \(says)"
        ]
    }

    /// Whether a text in the place of a unit is a zone other than UTC, such as `+0200` or `UTC-7`.
    private static func isZone(_ text: String) -> Bool {
        let zone = ["UTC", "GMT"].contains { text.hasPrefix($0) } ? text.dropFirst(3) : text[...]
        guard let sign = zone.first, "+-".contains(sign) else { return false }
        return zone.dropFirst().allSatisfy { $0.isNumber || $0 == ":" } && zone.contains { "123456789".contains($0) }
    }

    /// What columns beside those of a clock's parts say, and is not read.
    private static func unread(beside column: Int, _ parts: [CSVTime.Part], _ names: [String], _ table: HeadTable)
        -> [String]
    {
        let places = [column] + parts.map(\.column)
        let beside = Set(places.flatMap { [$0 - 1, $0 + 1] }).subtracting(places).sorted().filter {
            names.indices.contains($0) && table.columns.indices.contains($0)
        }
        let halves: Set<String> = ["AM", "PM", "A.M.", "P.M."]
        var found: [String] = []
        let half = beside.first { place in
            let fields = table.columns[place].fields.filter { !$0.isEmpty }
            return !fields.isEmpty && fields.allSatisfy { halves.contains($0.uppercased()) }
        }
        if let half {
            found.append(
                "AM and PM in '\(names[half].printable)' are not read, so that times after noon are 12 hours early, and fall at noon: "
                    + "write them behind the time")
        }
        let hasHours = parts.contains { $0.unit == .hours }
        if let day = beside.first(where: {
            hasHours && ["year", "month", "day", "date"].contains(names[$0].lowercased())
        }) {
            found.append(
                "'\(names[day].printable)' is not read with the hours: another day begins where the clock starts again, and the times have "
                    + "no date")
        }
        return found
    }

    /// Whether a number may be hours, minutes and seconds without signs between them, as in 141503.20, or with thousandths behind them.
    private static func isClockNumber(_ field: String) -> Bool {
        let digits = field.prefix { ("0"..."9").contains($0) }
        guard let all = Int(digits), [5, 6, 9].contains(digits.count) else { return false }
        let number = digits.count == 9 ? all / 1000 : all
        return number < 240_000 && number / 100 % 100 < 60 && number % 100 < 60
    }

    /// The column of the dates of a clock's times that have none, the one before if that is one; `nil` for none.
    private static func date(for column: Int, _ table: HeadTable) -> Int? {
        guard table.columns[column].hasTimesOfDay else { return nil }
        let dates = table.columns.indices.filter { table.columns[$0].hasDates }
        return dates.contains(column - 1) ? column - 1 : dates.first
    }

    /// The words for a distance of samples that sensors do not have.
    static func implausible(_ name: String, _ seconds: Double) -> String {
        let rate = seconds < 1 ? " (\(VectorStatistics.optionText((1 / seconds).rounded())) samples a second)" : ""
        let sensor = seconds < 20e-6 || seconds > 1 ? "no sensor" : "hardly any sensor"
        return "\(name) has \(text(seconds)) between samples\(rate), which \(sensor) has"
    }

    private static func text(_ seconds: Double) -> String {
        seconds < 1e-3 ? "\(VectorStatistics.text(seconds * 1e6)) µs" : "\(VectorStatistics.text(seconds)) s"
    }

    /// Whether the median distance is far below the mean one, with several pauses, and each row has all values.
    private static func isInBatches(
        _ column: HeadTable.Column, _ steps: (median: Double, isRising: Bool, repeated: Double, rate: Double),
        _ columns: [ColumnName], _ table: HeadTable
    ) -> Bool {
        guard steps.isRising, table.rowCount >= 2 * fewestRows, steps.rate * steps.median < 0.2 else { return false }
        let stamps = column.stamps.filter(\.isFinite)
        guard zip(stamps, stamps.dropFirst()).count(where: { $1 - $0 > 5 * steps.median }) > 2 else { return false }
        return columns.indices.allSatisfy { place in
            guard case .axis = columns[place].role, table.columns.indices.contains(place) else { return true }
            return table.columns[place].isNumeric
        }
    }

    /// The columns that may be the time, the likelier first.
    private static func candidates(_ columns: [ColumnName], _ names: [String], _ table: HeadTable) -> [Int] {
        var times = columns.indices.filter { columns[$0].role == .time }
        if let mapped = times.first(where: { columns[$0].stem == MappedColumns.stem }) { return [mapped] }
        if table.rowCount >= fewestRows { times.removeAll { table.isEmpty($0) } }
        let firstAxis = columns.firstIndex { if case .axis = $0.role { true } else { false } } ?? 0
        if times.isEmpty {
            // An export of single signals has their seconds before each: X [s].
            times = columns.indices.prefix(firstAxis).filter { place in
                guard case .known(.time) = columns[place].unit, ColumnWords(names[place]).axis != nil else {
                    return false
                }
                return table.columns[place].isRisingSteadily
            }.suffix(1)
        }
        // A column `t` may also be a temperature, so every other time column takes precedence.
        func rank(_ column: Int) -> Int {
            if case .known = columns[column].unit { return columns[column].strangeWords > 0 ? 1 : 0 }
            if columns[column].unit == .none { return names[column].lowercased() == "t" ? 3 : 2 }
            return 4
        }
        func place(_ column: Int) -> (Int, Int, Int) { (rank(column), ColumnWords.timeRank(names[column]), column) }
        return times.sorted { place($0) < place($1) }
    }

    /// The column of seconds, or of times of a clock in whole seconds, those of its parts, and the sum of all from the first row.
    private static func parts(
        _ candidates: [Int], _ columns: [ColumnName], _ names: [String], _ table: HeadTable
    ) -> (seconds: Int, parts: [CSVTime.Part], sum: HeadTable.Column)? {
        for place in candidates {
            let isClock = table.columns[place].clock != nil
            let isSeconds = columns[place].unit == .known(.time(.seconds))
            guard isClock ? !table.columns[place].hasDates : isSeconds || areOfEpoch(place, columns, table) else {
                continue
            }
            let larger = isClock ? [] : minutesAndHours(of: place, names, table)
            let whole = table.sum(of: place, larger)
            let fraction = fraction(of: place, whole.stamps, candidates, columns, names, table)
            let parts = (fraction.map { [$0] } ?? []) + larger
            if !parts.isEmpty { return (place, parts, table.sum(of: place, parts)) }
        }
        return nil
    }

    /// Whether numbers without a unit are whole seconds since 1970.
    private static func areOfEpoch(_ place: Int, _ columns: [ColumnName], _ table: HeadTable) -> Bool {
        columns[place].unit == .none
            && table.columns[place].values.allSatisfy { dates.contains($0) && $0 == $0.rounded() }
    }

    /// Whether no time lies before the one before it, unless another day begins.
    private static func areRising(_ seconds: [Double]) -> Bool {
        let seconds = seconds.filter(\.isFinite)
        return zip(seconds, seconds.dropFirst()).allSatisfy { $0 <= $1 || $0 - $1 > 43_200 }
    }

    /// The column of the fractions of whole seconds, whose stamps are given.
    ///
    /// The fraction is below a second in each row, and begins again where the seconds rise. In rows of less than a second the names have
    /// to say that both belong together.
    private static func fraction(
        of seconds: Int, _ stamps: [Double], _ candidates: [Int], _ columns: [ColumnName], _ names: [String],
        _ table: HeadTable
    ) -> CSVTime.Part? {
        let isClock = table.columns[seconds].clock != nil
        let whole = isClock ? stamps.map { $0 / 1e9 } : stamps
        for other in candidates where other != seconds {
            guard case .known(.time(let unit)) = columns[other].unit, unit.inSeconds < 1 else { continue }
            let pairs = zip(whole, table.columns[other].values).filter { $0.isFinite && $1.isFinite }
            // Minutes and hours have been multiplied.
            guard !pairs.isEmpty,
                pairs.allSatisfy({ abs($0 - $0.rounded()) < 1e-9 && 0 <= $1 && $1 * unit.inSeconds < 1 }),
                areRising(pairs.map { $0 + $1 * unit.inSeconds })
            else { continue }
            let rest = ColumnWords.withoutUnits(names[other])
            let isSame = ColumnWords.withoutUnits(names[seconds]) == rest
            let isCut = zip(pairs, pairs.dropFirst()).contains { $0.1 > $1.1 }
            // What goes on while the seconds rise counts from the start.
            let goesOn = !isCut && pairs.first?.0 != pairs.last?.0
            let isMeant = ColumnWords.areOfFraction(names[other]) || !isClock && !goesOn && pairs.contains { $0.0 >= 1 }
            guard isCut && abs(seconds - other) == 1 || isSame && (isCut || isMeant) else { continue }
            return CSVTime.Part(column: other, unit: unit)
        }
        return nil
    }

    /// The columns of the whole minutes, and of the hours, of a clock whose seconds are in a column beside them.
    ///
    /// The seconds begin again where the minutes rise; in rows of less than a minute the names have to be the units' alone.
    private static func minutesAndHours(of seconds: Int, _ names: [String], _ table: HeadTable) -> [CSVTime.Part] {
        let rest = ColumnWords.withoutUnits(names[seconds])
        func larger(_ unit: TimeUnit, beside place: Int, below end: Double) -> CSVTime.Part? {
            [place - 1, place + 1].first { other in
                names.indices.contains(other) && table.columns.indices.contains(other)
                    && ColumnWords.unitOfTime(names[other]) == unit && ColumnWords.withoutUnits(names[other]) == rest
                    && table.columns[other].values.allSatisfy {
                        $0.isNaN || $0 == $0.rounded() && (0..<end).contains($0)
                    }
            }.map { CSVTime.Part(column: $0, unit: unit) }
        }
        let values = table.columns[seconds].values.filter(\.isFinite)
        guard let minutes = larger(.minutes, beside: seconds, below: 60), values.allSatisfy({ (0..<60).contains($0) }),
            rest.isEmpty || zip(values, values.dropFirst()).contains(where: { $0 > $1 })
        else { return [] }
        let parts = [minutes, larger(.hours, beside: minutes.column, below: 24)].compactMap { $0 }
        return areRising(table.sum(of: seconds, parts).values) ? parts : []
    }

    /// Whether a column's times rise with most samples.
    private static func isFine(_ place: Int, _ table: HeadTable) -> Bool {
        let column = table.columns[place]
        guard column.isNumeric || column.clock != nil else { return false }
        guard let steps = column.steps else { return table.rowCount < 2 }
        return steps.isRising && steps.repeated <= 0.5
    }

    /// The first candidate that rises; numbers are preferred to times of a clock, and both to whole seconds.
    private static func best(_ candidates: [Int], _ columns: [ColumnName], _ table: HeadTable) -> Int? {
        guard candidates.count > 1, table.rowCount > 0 else { return candidates.first }
        var candidates = candidates
        if candidates.contains(where: { table.columns[$0].hasTimesOfDay }) {
            candidates.removeAll { table.columns[$0].hasDates }
        }
        let fine = candidates.filter { isFine($0, table) }
        return fine.first { table.columns[$0].isNumeric } ?? fine.first
            ?? candidates.first { table.columns[$0].isNumeric || table.columns[$0].clock != nil } ?? candidates.first
    }

    /// What stamps of Windows, .NET or MATLAB count, with a date from 2000 to 2100, and the samples a second; `nil` for other stamps.
    private static func rateOfTicks(
        _ column: HeadTable.Column?, _ steps: (median: Double, isRising: Bool, repeated: Double, rate: Double)?
    ) -> (words: String, hertz: Double)? {
        guard let first = column?.values.first(where: \.isFinite), let steps else { return nil }
        if (1.2591e17...1.5748e17).contains(first) || (6.308e17...6.624e17).contains(first),
            (1e3...1e7).contains(steps.median)
        {
            return ("100 ns since 1601 or the year 1", (1e7 / steps.median).rounded())
        }
        let hertz = steps.rate / TimeUnit.days.inSeconds
        guard (730_486...767_376).contains(first), (1...100_000).contains(hertz) else { return nil }
        return ("days since the year 0, as MATLAB does", hertz.rounded())
    }

    /// The unit of stamps that state none.
    struct Guess {
        var unit: TimeUnit
        /// The unit and its reason.
        var words: String
        /// A unit that is about as likely.
        var other: TimeUnit?
        /// Whether the stamps are as large as times since 1970.
        var mayBeDate = false

        static let seconds = Guess(unit: .seconds, words: "seconds")

        static func date(_ unit: TimeUnit) -> Guess {
            Guess(unit: unit, words: "\(unit.name) since 1970", mayBeDate: true)
        }
    }

    /// Finds the unit of stamps without one: times since 1970 are recognised by their date, others by their distance.
    static func guess(
        _ column: HeadTable.Column?, _ steps: (median: Double, isRising: Bool, repeated: Double, rate: Double)?,
        rowCount: Int
    ) -> Guess {
        let first = column?.values.first { $0.isFinite }?.magnitude ?? 0
        // A device that is up for days counts as many nanoseconds as there are microseconds since 1970, or fewer.
        let since1970 = [TimeUnit.nanoseconds, .microseconds, .milliseconds].first {
            dates.contains(first * $0.inSeconds)
        }
        // Seconds would be thousands of years.
        let isCount = first >= 1e11
        guard rowCount >= fewestRows || isCount && since1970 == nil, let step = steps?.median, step > 0 else {
            if let since1970 { return .date(since1970) }
            return isCount ? Guess(unit: .nanoseconds, words: "nanoseconds") : .seconds
        }
        // Stamps may have been truncated, so the step may be too long, but never too short.
        if let since1970, (20e-6...1.0001).contains(step * since1970.inSeconds) {
            return .date(since1970)
        }
        // As seconds, no sensor would have such distances, of the median nor on average.
        if (20_000..<80_000).contains(first), step < 20e-6, 50_000..<100_000_000 ~= steps?.rate ?? 0 {
            return Guess(unit: .spreadsheetDays, words: "days of a spreadsheet")
        }
        guard step >= 1.0001 else { return .seconds }
        let unit = step >= 1e6 ? TimeUnit.nanoseconds : step >= 1e3 ? .microseconds : .milliseconds
        let finer = unit == .milliseconds ? TimeUnit.microseconds : .nanoseconds
        let (rate, other) = (1 / (step * unit.inSeconds), 1 / (step * finer.inSeconds))
        // Sensors have both rates.
        if unit != finer, rate <= 10 {
            let rates = [rate, other].map(VectorStatistics.text)
            let words = "\(unit.name), \(rates[0]) samples a second; \(finer.name) would be \(rates[1])"
            return Guess(unit: unit, words: words, other: finer)
        }
        // A device that is up for weeks writes such numbers, too.
        let larger = since1970 ?? (dates.contains(first) ? .seconds : nil)
        let note = larger.map { "; \($0.name) since 1970 would be as large" } ?? ""
        let words = "\(unit.name), which fit the distance of the samples\(note)"
        return Guess(unit: unit, words: words, mayBeDate: larger != nil)
    }

    /// The times from 2000 to 2100 in seconds since 1970.
    private static let dates = 9.46e8...4.11e9

    /// A column of rising times without a name for time; a row counter does not qualify.
    static func unnamed(_ table: HeadTable, where mayBeTime: (_ column: Int) -> Bool) -> CSVTime? {
        for (place, column) in table.columns.enumerated()
        where (column.isNumeric || column.clock != nil) && mayBeTime(place) {
            guard let steps = column.steps, steps.isRising, steps.repeated < 0.5, steps.median > 0 else { continue }
            if column.clock != nil { return .clock(column: place) }
            // A fraction of a second falls with each second.
            let numbers = column.values.filter(\.isFinite)
            // Numbers of packets rise by a few, too; stamps since 1970 are larger.
            let isCount = steps.median < 10 && numbers.allSatisfy { $0 == $0.rounded() && $0 < 1e9 }
            let isFalling = zip(numbers, numbers.dropFirst()).contains { $0 > $1 }
            guard !isCount, !isFalling, table.rowCount >= fewestRows else { continue }
            return .number(column: place, unit: guess(column, steps, rowCount: table.rowCount).unit)
        }
        return nil
    }
}
