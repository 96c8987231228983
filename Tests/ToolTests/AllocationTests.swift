import Foundation
import TestSupport
import Testing

/// The promise that reading and detecting allocate nothing per sample, counted in the binary that users run.
@Suite struct AllocationTests {
    /// Counts every call that hands out memory, and says how many there were when the process ends.
    private static let counter = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <stdio.h>
        static unsigned long count;
        void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
        void *__libc_memalign(size_t, size_t);
        void *malloc(size_t n) { count++; return __libc_malloc(n); }
        void *calloc(size_t n, size_t m) { count++; return __libc_calloc(n, m); }
        void *realloc(void *p, size_t n) { count++; return __libc_realloc(p, n); }
        void *aligned_alloc(size_t a, size_t n) { count++; return __libc_memalign(a, n); }
        int posix_memalign(void **p, size_t a, size_t n) { count++; *p = __libc_memalign(a, n); return *p ? 0 : 12; }
        __attribute__((destructor)) static void report(void) {
            FILE *file = fopen(getenv("COUNT_FILE"), "w");
            if (file) { fprintf(file, "%lu", count); fclose(file); }
        }
        """

    /// Compiles the counter.
    private func makeCounter() throws -> TemporaryFile {
        let source = try TemporaryFile(Self.counter, suffix: ".c")
        let library = try TemporaryFile("", suffix: ".so")
        // The toolchain's own clang; where swift is a link into the toolchain, clang stands beside its target.
        let clang = #"clang=$(command -v clang) || clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang;"#
        let compiler = Child(
            ["sh", "-c", clang + #"exec "$clang" "$@""#, "sh"]
                + ["-shared", "-fPIC", "-O1", "-o", library.path, source.path])
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return library
    }

    /// A device that is read as soon as it has a scan, so that scans come one by one.
    private static let sensor = """
        [sensor.lid]
        source = "iio"
        match = { name = "accel_3d" }
        latency_s = 0

        """

    /// Records scans that come one by one from a buffer.
    private func allocationsOfRecording(_ library: String, _ count: Int) throws -> Int {
        let tree = try FifoTree()
        // Without values of its own, it is not polled when a busy machine keeps its scans waiting.
        let node = try #require(try tree.addDevice(0, name: "accel_3d", values: nil))
        let result = try TemporaryFile()
        let trace = try TemporaryFile()
        let configuration = try TemporaryFile(Self.sensor, suffix: ".toml")
        let process = Binary.process(
            ["record", "--config", configuration.path, "--root", tree.root, "--force", "-o", trace.path])
        process.environment = ["LD_PRELOAD": library, "COUNT_FILE": result.path]
        try process.run()
        let start = monotonicNanoseconds()
        for number in 0..<count {
            try node.write(FifoNode.scan(Int16(number % 100), 0, 981, start + Int64(number) * 100_000))
            try waitUntil("the program to read a scan") { node.unreadCount == 0 || !process.isRunning }
        }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try trace.text().split(separator: "\n").count == count + 1)
        return try #require(Int(try result.text()))
    }

    private func monotonicNanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Test func tenTimesTheScansTakeNoMoreAllocations() throws {
        let library = try makeCounter()
        try expectNoMore("of record for 300 and 3,000 scans", within: 100) {
            try [300, 3000].map { try allocationsOfRecording(library.path, $0) }
        }
    }

    /// Runs a daemon on scans that come one by one, and counts what it allocates, perhaps after a client has subscribed to
    /// live readings and left again.
    private func allocationsOfDaemon(_ library: String, _ count: Int, afterReadings readings: Bool) throws -> Int {
        let tree = try FifoTree()
        let node = try #require(try tree.addDevice(0, name: "accel_3d", values: nil))
        let result = try TemporaryFile()
        let folder = try TemporaryFolder()
        let socket = folder.path + "/s"
        let daemon = try DaemonRun(
            """
            [socket]
            path = "\(socket)"
            \(Self.sensor)
            [motion.moved]
            accelerometer = "lid"
            """, ["--root", tree.root], environment: ["LD_PRELOAD": library, "COUNT_FILE": result.path])
        try daemon.start()
        try daemon.waitForMessage("runs with")
        if readings {
            let client = Child(
                ["python3", "-c"] + [
                    """
                    import socket, sys
                    s = socket.socket(socket.AF_UNIX)
                    s.connect(sys.argv[1])
                    s.sendall(b'{"subscribe":{"kinds":[],"readings":{"interval_s":0.05}}}\\n')
                    f = s.makefile()
                    for i in range(3): assert f.readline()
                    """, socket,
                ])
            try client.run()
            client.waitUntilExit()
            #expect(client.terminationStatus == 0)
        }
        let start = monotonicNanoseconds()
        for number in 0..<count {
            try node.write(FifoNode.scan(Int16(number % 3), 0, 981, start + Int64(number) * 100_000))
            try waitUntil("the daemon to read a scan") { node.unreadCount == 0 || !daemon.process.isRunning }
        }
        #expect(daemon.stop() == 0)
        return try #require(Int(try result.text()))
    }

    /// Live readings allocate nothing without a subscriber, before as after a subscription.
    @Test(arguments: [false, true]) func withoutASubscriptionNothingIsAllocatedForReadings(wasSubscribed: Bool) throws {
        let library = try makeCounter()
        try expectNoMore("of run for 300 and 3,000 scans", within: 150) {
            try [300, 3000].map { try allocationsOfDaemon(library.path, $0, afterReadings: wasSubscribed) }
        }
    }

    /// Expects that two counts, the second one of many more samples, differ by less than a limit.
    ///
    /// The set-up differs a little from run to run, because its threads do. What happens on a busy machine alone, such as a
    /// device that seems silent and is opened again, costs more, and is counted again: an allocation for each sample is in
    /// every run.
    private func expectNoMore(_ what: String, within limit: Int, count: () throws -> [Int]) throws {
        var all: [[Int]] = []
        while all.last.map({ abs($0[1] - $0[0]) >= limit }) ?? true, all.count < 10 { all.append(try count()) }
        print("allocations \(what): \(all)")
        let last = try #require(all.last)
        #expect(last[0] > 100)
        #expect(abs(last[1] - last[0]) < limit)
    }

    private func allocations(_ library: String, _ trace: TemporaryFile?, _ options: [String]) throws -> Int {
        let result = try TemporaryFile()
        let process = Binary.process(["replay", "--json"] + options + (trace.map { [$0.path] } ?? []))
        process.environment = ["LD_PRELOAD": library, "COUNT_FILE": result.path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try #require(Int(try result.text()))
    }

    /// A device at rest with both sensors, whose rows differ only in their stamps.
    private func makeTrace(_ count: Int) throws -> TemporaryFile {
        var text = "t_ms,ax,ay,az,mx,my,mz\n"
        for row in 0..<count { text += "\(row * 10),0.01,0,9.8,0,21,-45\n" }
        return try TemporaryFile(text, suffix: ".csv")
    }

    @Test func tenTimesTheSamplesTakeNoMoreAllocations() throws {
        let library = try makeCounter()
        // Both detectors at work, and one heading in all.
        let traces = try [10_000, 100_000].map(makeTrace)
        let recordings = try [10_000, 100_000].map { count in
            var text = "# EVEMU 1.3\nN: a\nA: 00 0 0 0 0 256\nA: 01 0 0 0 0 256\nA: 02 0 0 0 0 256\n"
            text += "E: 0.0 0003 0001 0000\nE: 0.0 0003 0002 0256\n"
            for frame in 0..<count {
                let stamp = "\(frame / 100).\(frame % 100 + 100)0000".replacing(".1", with: ".")
                text += "E: \(stamp) 0003 0000 \(frame % 2)\nE: \(stamp) 0000 0000 0000\t# SYN_REPORT\n"
            }
            return try TemporaryFile(text, suffix: ".evemu")
        }
        let streams = try traces.map { trace in
            let stream = try TemporaryFile("", suffix: ".arrows")
            try #require(try Binary.run("convert", trace.path, "--force", "-o", stream.path).status == 0)
            return stream
        }
        let all = [
            (traces, []), (traces, ["--batch", "1"]), (recordings, []), (streams, []), (streams, ["--batch", "1"]),
        ]
        let detectors = try TemporaryFile(
            "[sensor.w]\nsource = \"auto\"\n"
                + ["tap", "steps", "stationary"].map { "[\($0).\($0)]\naccelerometer = \"w\"\n" }.joined(),
            suffix: ".toml")
        let others = [(traces, ["--config", detectors.path])]
        for (files, options) in all + others {
            try expectNoMore("\(options) for 10,000 and 100,000 samples", within: 100) {
                try files.map { try allocations(library.path, $0, options) }
            }
        }
    }

    /// Of a CSV file that is so large that several threads read it; the memory for what they read is used again.
    @Test func largeFilesTakeNoMoreAllocations() throws {
        let library = try makeCounter()
        let traces = try [160_000, 480_000].map(makeTrace)
        // A delivery of 4096 samples takes two.
        try expectNoMore("of large files for 160,000 and 480,000 samples", within: 320) {
            try traces.map { try allocations(library.path, $0, []) }
        }
    }

    /// With a gyroscope: motion by linear acceleration, rotations, and headings of all three sensors.
    @Test(arguments: ["1", "7", "4096"])
    func tenTimesTheSamplesWithAGyroscopeTakeNoMoreAllocations(batch: String) throws {
        let library = try makeCounter()
        let runs = try [10_000, 100_000].map { count in
            // It turns steadily, slower than a rotation, and its own acceleration stays below every threshold.
            var text = "t_ms,gx,gy,gz,ax,ay,az,mx,my,mz\n"
            for row in 0..<count { text += "\(row * 10),0.0\(row % 3),0,0.3,0.0\(row % 5),0,9.8,0,21,-45\n" }
            let trace = try TemporaryFile(text, suffix: ".csv")
            let configuration = try TemporaryFile(
                """
                [sensor.box]
                source = "trace"
                file = "\(trace.path)"
                [motion.moved]
                accelerometer = "box"
                measure = "linear_acceleration"
                detect = ["motion", "rotation"]
                [north.bow]
                accelerometer = "box"
                magnetometer = "box"
                heading_filter_deg = 180
                """, suffix: ".toml")
            return (trace: trace, configuration: configuration)
        }
        try expectNoMore("with a gyroscope for 10,000 and 100,000 samples in batches of \(batch)", within: 100) {
            try runs.map {
                try allocations(library.path, nil, ["--batch", batch, "--config", $0.configuration.path])
            }
        }
        withExtendedLifetime(runs) {}
    }
}
