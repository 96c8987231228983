/// The sensors of the machine that were found by searching it and through the reports of udev.
struct DeviceTable {
    /// The devices, in the order in which they are chosen.
    private(set) var devices: [SensorDevice] = []
    /// Whether the machine was searched once.
    private(set) var isSearched = false
    /// Counts the changes of the devices.
    private(set) var changeCount = 0
    /// The number of udev's last report about each device that is present.
    private var reports: [String: Int] = [:]
    private var reportCount = 0
    /// The devices that a worker thread is asked to examine.
    private var examined: Set<String> = []
    /// The search that runs: the reports before it, the devices removed since, and whether another one has to follow.
    private var search: (reportCount: Int, removed: Set<String>, isOutdated: Bool)?

    /// The device with a folder in sysfs.
    subscript(path: String) -> SensorDevice? { devices.first { $0.path == path } }

    // MARK: - Searches

    /// Begins a search, or has the one that runs repeated.
    ///
    /// - Returns: Whether to search now.
    mutating func beginSearch() -> Bool {
        guard search == nil else {
            search?.isOutdated = true
            return false
        }
        search = (reportCount, [], false)
        return true
    }

    /// Takes the result of a search.
    ///
    /// - Parameter found: The devices; `nil` when the search failed, which leaves those that udev reported.
    /// - Returns: The folders of the devices that are gone, which the caller removes, and whether to search again.
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

    /// Takes a report that a device is present or has changed.
    ///
    /// - Returns: The report's number, for an examination of the device; `nil` when one is under way.
    mutating func report(_ path: String) -> Int? {
        reportCount += 1
        reports[path] = reportCount
        return examined.insert(path).inserted ? reportCount : nil
    }

    /// Takes the end of an examination that a report led to.
    ///
    /// - Returns: Whether the result is up to date, or else the number for another examination if the device is present.
    mutating func endExamination(of path: String, report: Int) -> (isCurrent: Bool, next: Int?) {
        examined.remove(path)
        guard let last = reports[path], last != report else { return (reports[path] != nil, nil) }
        examined.insert(path)
        return (false, last)
    }

    /// Adds a device, or replaces the description of one that is known.
    mutating func add(_ device: SensorDevice) {
        changeCount += 1
        guard let index = devices.firstIndex(where: { $0.path == device.path }) else {
            devices.append(device)
            DeviceIdentity.distinguish(&devices, from: devices.count - 1)
            return
        }
        var changed = device
        if changed.name == devices[index].name { changed.id = devices[index].id }
        devices[index] = changed
    }

    /// Removes a device.
    mutating func remove(_ path: String) {
        changeCount += 1
        devices.removeAll { $0.path == path }
        reports[path] = nil
        search?.removed.insert(path)
    }
}
