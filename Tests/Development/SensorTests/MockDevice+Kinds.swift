import Foundation

extension MockDevice {
    /// An industrial I/O device that has only a name.
    static func iio(_ number: Int, name: String) -> MockDevice {
        var device = MockDevice(
            path: "/devices/platform/chip\(number)/iio:device\(number)", node: "iio:device\(number)")
        device.properties = [
            "DEVNAME": "/dev/iio:device\(number)", "DEVTYPE": "iio_device", "MAJOR": "243", "MINOR": String(number),
        ]
        device.attributes["name"] = name
        device.rawAttributes["dev"] = Array("243:\(number)".utf8)
        return device
    }

    /// A device without a buffer: the values stand in sysfs.
    ///
    /// - Parameters:
    ///   - kind: `accel` or `magn`.
    ///   - number: The device's number.
    ///   - name: Its name.
    ///   - raw: The raw values of x, y and z.
    ///   - scale: The scale that all axes share; none without one.
    /// - Returns: The device.
    static func polled(
        _ kind: String, _ number: Int, name: String, raw: [Int], scale: String? = "0.009806650"
    ) -> MockDevice {
        var device = iio(number, name: name)
        for (axis, value) in zip(["x", "y", "z"], raw) { device.attributes["in_\(kind)_\(axis)_raw"] = String(value) }
        device.attributes["in_\(kind)_scale"] = scale
        return device
    }

    /// A device with a buffer, in the kernel's layouts, and without single values in sysfs.
    ///
    /// - Parameters:
    ///   - kind: `accel` or `magn`.
    ///   - number: The device's number.
    ///   - name: Its name.
    ///   - channels: What stands in a scan, in the order of the indices.
    ///   - scale: The scale that all axes share.
    ///   - isOld: Whether the kernel is older than 5.11 and has no `buffer0`.
    /// - Returns: The device.
    static func buffered(
        _ kind: String, _ number: Int, name: String, channels: [ScanChannel], scale: String = "0.009806650",
        isOld: Bool = false
    ) -> MockDevice {
        var device = iio(number, name: name)
        device.attributes["in_\(kind)_scale"] = scale
        device.attributes["in_\(kind)_sampling_frequency"] = "100.000000"
        device.attributes["current_timestamp_clock"] = "realtime"
        device.attributes["trigger/current_trigger"] = ""
        for folder in isOld ? ["buffer"] : ["buffer", "buffer0"] {
            device.attributes["\(folder)/enable"] = "0"
            device.attributes["\(folder)/length"] = "2"
            device.attributes["\(folder)/watermark"] = "1"
            device.attributes["\(folder)/data_available"] = "0"
        }
        for folder in isOld ? ["scan_elements"] : ["scan_elements", "buffer0"] {
            for (index, channel) in channels.enumerated() {
                device.attributes["\(folder)/\(channel.name)_en"] = "0"
                device.attributes["\(folder)/\(channel.name)_index"] = String(index)
                device.attributes["\(folder)/\(channel.name)_type"] = channel.type
            }
        }
        return device
    }

    /// A trigger, which belongs to a device by its name.
    static func trigger(_ number: Int, name: String) -> MockDevice {
        var device = MockDevice(path: "/devices/platform/hub/trigger\(number)")
        device.properties["DEVTYPE"] = "iio_trigger"
        device.attributes["name"] = name
        return device
    }

    /// An input device with three axes.
    ///
    /// - Parameters:
    ///   - number: The number of the event node.
    ///   - name: Its name.
    ///   - values: The values of x, y and z before the first event.
    ///   - resolution: Units per g; 0 where the driver does not know.
    ///   - hasProperty: Whether the driver sets `INPUT_PROP_ACCELEROMETER`.
    ///   - isTagged: Whether udev sets `ID_INPUT_ACCELEROMETER`.
    /// - Returns: The device with the one above it.
    static func evdev(
        _ number: Int, name: String, values: [Int] = [0, 0, 1000], resolution: Int = 1000, hasProperty: Bool = true,
        isTagged: Bool = true
    ) -> MockDevice {
        var input = MockDevice(path: "/devices/virtual/input/input\(number)")
        input.subsystem = "input"
        input.attributes = [
            "name": name, "capabilities/ev": "19", "capabilities/abs": "7", "capabilities/msc": "20",
            "capabilities/key": "0", "properties": hasProperty ? "40" : "0", "id/bustype": "0018",
            "id/vendor": "1209", "id/product": "5e46", "id/version": "0001", "phys": "", "uniq": "",
        ]
        var device = MockDevice(path: input.path + "/event\(number)", node: "input/event\(number)")
        device.subsystem = "input"
        device.properties = [
            "DEVNAME": "/dev/input/event\(number)", "MAJOR": "13", "MINOR": String(64 + number), "ID_INPUT": "1",
        ]
        if isTagged {
            device.properties["ID_INPUT_ACCELEROMETER"] = "1"
            input.properties["ID_INPUT_ACCELEROMETER"] = "1"
        }
        device.rawAttributes["dev"] = Array("13:\(64 + number)".utf8)
        device.links["device"] = "../../input\(number)"
        for (axis, value) in values.enumerated() { device.axes[axis] = Axis(value: value, resolution: resolution) }
        device.parent = input
        return device
    }
}
