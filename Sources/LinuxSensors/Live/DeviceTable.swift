/// The machine's sensors, found by searches and udev's reports.
struct DeviceTable {
    /// The devices, in order of preference.
    private(set) var devices: [SensorDevice] = []
    private(set) var isSearched = false
    /// The number of changes of the devices so far, and of reports: that of light or of a switch is in no list.
    private(set) var changeCount = 0
    /// The number of udev's last report for each device that is present.
    private var reports: [String: Int] = [:]
    private var reportCount = 0
    /// The devices whose examination by a worker thread is in progress.
    private var examined: Set<String> = []
    /// The search in progress: the number of reports before it, the devices removed since, and whether it has to be repeated.
    private var search: (reportCount: Int, removed: Set<String>, isOutdated: Bool)?

    subscript(path: String) -> SensorDevice? { devices.first { $0.path == path } }

    // MARK: - Searches

    /// Begins a search, or has the current one repeated; returns whether to search now.
    mutating func beginSearch() -> Bool {
        guard search == nil else {
            search?.isOutdated = true
            return false
        }
        search = (reportCount, [], false)
        return true
    }

    /// Applies the result of a search; `nil` when it failed, which leaves the devices that udev reported.
    ///
    /// Returns the folders of the removed devices, which the caller removes, and whether to search again.
    mutating func endSearch(_ found: [SensorDevice]?) -> (gone: [String], isOutdated: Bool) {
        guard let search else { return ([], false) }
        defer {
            changeCount += 1
            isSearched = true
            self.search = nil
        }
        guard let found else { return ([], search.isOutdated) }
        let present = found.filter { !search.removed.contains($0.path) }
        guard isSearched else {
            let reported = devices
            devices = present
            for device in reported { add(device) }
            return ([], search.isOutdated)
        }
        let gone = devices.map(\.path).filter { path in
            reports[path] ?? 0 <= search.reportCount && !found.contains { $0.path == path }
        }
        for device in present { add(device) }
        return (gone, search.isOutdated)
    }

    // MARK: - Reports of udev

    /// Records a report that a device is present or has changed.
    ///
    /// Returns the report's number, for an examination of the device; `nil` when one is in progress.
    mutating func report(_ path: String) -> Int? {
        changeCount += 1
        reportCount += 1
        reports[path] = reportCount
        return examined.insert(path).inserted ? reportCount : nil
    }

    /// Ends an examination that a report started; returns whether the result is up to date, and if not the number for another
    /// examination of a device that is still present.
    mutating func endExamination(of path: String, report: Int) -> (isCurrent: Bool, next: Int?) {
        examined.remove(path)
        guard let last = reports[path], last != report else { return (reports[path] != nil, nil) }
        examined.insert(path)
        return (false, last)
    }

    /// Adds a device, or replaces its description.
    mutating func add(_ device: SensorDevice) {
        changeCount += 1
        defer { DeviceKinship.shareMatrices(&devices) }
        guard let index = devices.firstIndex(where: { $0.path == device.path }) else {
            devices.append(device)
            DeviceIdentity.distinguish(&devices, from: devices.count - 1)
            return
        }
        var changed = device
        if changed.name == devices[index].name { changed.id = devices[index].id }
        changed.hubMatrix = devices[index].hubMatrix
        devices[index] = changed
    }

    mutating func remove(_ path: String) {
        changeCount += 1
        devices.removeAll { $0.path == path }
        reports[path] = nil
        search?.removed.insert(path)
    }
}
