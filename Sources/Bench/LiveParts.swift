import Binnacle
import Kernels
import LinuxSensors
import LinuxSystem
import VirtualDevices

/// The parts of the way from a device to a delegate, each by itself on the same scans.
private final class LiveParts {
    private let batch: Int
    private let scans: [UInt8]
    private let format: ScanFormat
    private let conversion = ScanConversion(x: [0.01, 0, 0, 0], y: [0, 0.01, 0, 0], z: [0, 0, 0.01, 0])
    private let delivery: SampleDelivery
    private let manager: MotionManager
    private let events = EventCounter()
    private var stamper = ScanStamper(rateHz: nil)
    private var stamps: [Int64]
    private var time = SystemClock.monotonic()

    init(batch: Int) throws(BenchError) {
        self.batch = batch
        guard
            let format = ScanFormat(
                stride: 16, element: .int16LittleEndian, axisOffsets: (0, 2, 4), timestampOffset: 8)
        else { throw .unavailable("the layout of the scans is not supported") }
        self.format = format
        scans = (0..<batch).flatMap { FifoNode.scan(3, -2, 981, Int64($0) * 2000) }
        stamps = Array(repeating: 0, count: batch)
        let stream = SampleStream(sensor: Sensor(name: "accel_3d"), kind: .accelerometer)
        delivery = SampleDelivery(streams: [stream], capacity: 4096)
        manager = MotionManager(accelerometer: stream, settings: DetectionForm.threshold.settings)
        manager.delegate = events
        manager.startDetection()
    }

    func decode() {
        delivery.removeAll()
        delivery.batches[0].append(count: batch) { times, x, y, z in
            scans.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                decodeScans(
                    start, count: batch, format: format, conversion: conversion, times: times, x: x, y: y, z: z)
            }
        }
    }

    func stamp() {
        for index in 0..<batch { stamps[index] = time + 2000 * Int64(index) }
        time += 2000 * Int64(batch)
        stamps.withUnsafeMutableBufferPointer { stamps in
            guard let start = stamps.baseAddress else { return }
            stamper.stamp(start, count: batch, isStamped: true, arrival: time, behind: 0) { _, _ in Sink.consume(1) }
        }
    }

    /// Detects in samples of which the last one is a blow if `blow` is set.
    func detect(blow: Bool) {
        delivery.removeAll()
        for index in 0..<batch {
            time += 2000
            delivery.batches[0].append(
                timeNanoseconds: time, x: 0, y: 0, z: blow && index == batch - 1 ? 40 : 9.81)
        }
        manager.process(delivery)
    }

    /// What ``detect(blow:)`` does besides detecting.
    func fill() {
        delivery.removeAll()
        for _ in 0..<batch {
            time += 2000
            delivery.batches[0].append(timeNanoseconds: time, x: 0, y: 0, z: 9.81)
        }
    }

    /// What ``stamp()`` does besides stamping.
    func count() {
        for index in 0..<batch { stamps[index] = time + 2000 * Int64(index) }
        time += 2000 * Int64(batch)
    }
}

extension Bench {
    /// Measures the parts of the live path for deliveries of a size, in nanoseconds for a delivery; `whole` is all of it.
    func liveParts(_ batch: Int, read: Double, whole: Double) throws(BenchError) -> [FigureRow] {
        let parts = try LiveParts(batch: batch)
        let (tree, node, epoll) = try mapError(BenchError.init) { () throws(SystemError) in
            let tree = try FifoTree()
            let node = try FifoNode(path: "\(tree.root)/wait")
            let epoll = try Epoll()
            try epoll.add(node.raw, token: 1)
            try node.write([UInt8](repeating: 0, count: 16))
            return (tree, node, epoll)
        }
        defer { withExtendedLifetime((tree, node)) {} }
        let times = try times(
            [
                Variant("wait") { epoll.wait(timeoutMilliseconds: 0) { token, _ in Sink.consume(token) } },
                Variant("decode") { parts.decode() },
                Variant("count") { parts.count() }, Variant("stamp") { parts.stamp() },
                Variant("fill") { parts.fill() }, Variant("detect") { parts.detect(blow: false) },
                Variant("tell") { parts.detect(blow: true) },
            ]
        ).map(\.median)
        var rows: [FigureRow] = []
        let found = [
            ("wait", times[0]), ("read", read), ("decode", times[1]), ("stamp", times[3] - times[2]),
            ("detect", times[5] - times[4]),
        ]
        let rest = whole - found.reduce(0) { $0 + $1.1 }
        for (part, nanoseconds) in found + [("rest", rest), ("whole", whole), ("tell an event", times[6] - times[5])] {
            var row = FigureRow(type: "live_part")
            row.add("batch", count: batch, head: "batch")
            row.add("part", part, head: "part")
            row.add("ns_per_delivery", number: nanoseconds, decimals: 1, head: "ns a delivery")
            row.add("ns_per_sample", number: nanoseconds / Double(batch), decimals: 2, head: "ns a sample")
            rows.append(row)
        }
        return rows
    }
}
