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

    private func allocations(_ library: String, _ trace: TemporaryFile, _ options: [String]) throws -> Int {
        let result = try TemporaryFile()
        let process = Binary.process(["replay", "--json"] + options + [trace.path])
        process.environment = ["LD_PRELOAD": library, "COUNT_FILE": result.path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try #require(Int(try result.text()))
    }

    @Test func tenTimesTheSamplesTakeNoMoreAllocations() throws {
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
        // Both detectors at work, and one heading in all.
        let traces = try [10_000, 100_000].map { count in
            var text = "t_ms,ax,ay,az,mx,my,mz\n"
            for row in 0..<count { text += "\(row * 10),0.01,0,9.8,0,21,-45\n" }
            return try TemporaryFile(text, suffix: ".csv")
        }
        let recordings = try [10_000, 100_000].map { count in
            var text = "# EVEMU 1.3\nN: a\nA: 00 0 0 0 0 256\nA: 01 0 0 0 0 256\nA: 02 0 0 0 0 256\n"
            text += "E: 0.0 0003 0001 0000\nE: 0.0 0003 0002 0256\n"
            for frame in 0..<count {
                let stamp = "\(frame / 100).\(frame % 100 + 100)0000".replacing(".1", with: ".")
                text += "E: \(stamp) 0003 0000 \(frame % 2)\nE: \(stamp) 0000 0000 0000\t# SYN_REPORT\n"
            }
            return try TemporaryFile(text, suffix: ".evemu")
        }
        for (files, options) in [(traces, []), (traces, ["--batch", "1"]), (recordings, [])] {
            let counts = try files.map { try allocations(library.path, $0, options) }
            print("allocations \(options): \(counts[0]) for 10,000 samples, \(counts[1]) for 100,000")
            #expect(counts[0] > 100)
            #expect(abs(counts[1] - counts[0]) < 100)
        }
    }
}
