// swift-tools-version: 6.2
// Binnacle: a daemon, a program and a library that make events of accelerometers, magnetometers and gyroscopes.
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

// What `make` sets to test and to measure: optimised kernels, because thousands of random cases take minutes without, and the
// targets in `development`. A plain build has neither. No package may pass these flags on.
let isDevelopment = Context.environment["BINNACLE_DEVELOPMENT"] != nil
let kernelSettings =
    settings + (isDevelopment ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
// Tests are compiled beside what is released, without optimisation: it would take longer than they run.
let testSettings = settings + (isDevelopment ? [.unsafeFlags(["-Onone"], .when(configuration: .release))] : [])
let kernelCSettings: [CSetting] = isDevelopment ? [.unsafeFlags(["-O2"], .when(configuration: .debug))] : []

// The rigs of `make bench`, and the tests on devices that umockdev plays.
let development: [Target] =
    !isDevelopment
    ? []
    : [
        .target(
            name: "BenchSupport", dependencies: ["LinuxSystem", "Binnacle", "VirtualDevices"],
            path: "Benchmarks/BenchSupport", swiftSettings: settings),
        .executableTarget(
            name: "SensorBench", dependencies: ["BenchSupport", "LinuxSensors", "Binnacle"],
            path: "Benchmarks/SensorBench", swiftSettings: settings),
        .executableTarget(
            name: "DaemonBench",
            dependencies: ["BenchSupport", "EventSocket", "LinuxSystem", "Binnacle", "PlainText", "VirtualDevices"],
            path: "Benchmarks/DaemonBench", exclude: ["stamp.c"], swiftSettings: settings),
        .executableTarget(
            name: "CompareBench", dependencies: ["Bench", "BenchSupport", "Kernels", "LinuxSystem"],
            path: "Benchmarks/CompareBench", swiftSettings: settings),
        .systemLibrary(
            name: "CUMockdev", path: "Tests/CUMockdev", pkgConfig: "umockdev-1.0",
            providers: [.apt(["umockdev", "libumockdev-dev"])]),
        .executableTarget(
            name: "mockdev", dependencies: ["CUMockdev"], path: "Tests/MockDevices",
            cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "MockEvents", path: "Tests/MockEvents"),
        // Beside it lies the main of all tests that `make` builds.
        .testTarget(
            name: "SensorTests", dependencies: ["TestSupport", "mockdev"], path: "Tests/Development/SensorTests",
            swiftSettings: testSettings),
    ]

// `make fuzz` asks for these targets; they have no main of their own, and flags that no package may pass on.
let fuzzers: [Target] =
    Context.environment["BINNACLE_FUZZ"] == nil
    ? []
    : [
        .target(name: "FuzzDriver", path: "Tests/FuzzDriver", swiftSettings: settings),
        .executableTarget(
            name: "FuzzSensors", dependencies: ["FuzzDriver", "LinuxSensors"], path: "Tests/FuzzSensors",
            exclude: ["Seeds"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
        .executableTarget(
            name: "FuzzSocket", dependencies: ["FuzzDriver", "EventSocket", "PlainText", "Binnacle"],
            path: "Tests/FuzzSocket",
            exclude: ["Seeds"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
        .executableTarget(
            name: "FuzzArrow", dependencies: ["FuzzDriver", "Traces", "Binnacle"], path: "Tests/FuzzArrow",
            exclude: ["Seeds"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
        .executableTarget(
            name: "FuzzIIO", dependencies: ["FuzzDriver", "IIOServer", "LinuxSystem", "Binnacle"],
            path: "Tests/FuzzIIO",
            exclude: ["Seeds"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
    ]

// Who may know whom stands here alone; `make lint` fails when an import breaks it.
let package = Package(
    name: "binnacle",
    products: [
        .library(name: "Binnacle", targets: ["Binnacle", "SensorGeometry"]),
        .library(name: "BinnacleHeading", targets: ["BinnacleHeading"]),
        .library(name: "Geomagnetism", targets: ["Geomagnetism"]),
        .library(name: "Calibration", targets: ["Calibration", "SensorGeometry"]),
        .library(name: "Traces", targets: ["Traces"]),
        .library(name: "LinuxSensors", targets: ["LinuxSensors", "SensorGeometry"]),
        .library(name: "EventSocket", targets: ["EventSocket"]),
        .library(name: "BinnacleTesting", targets: ["BinnacleTesting"]),
        .executable(name: "binnacle", targets: ["BinnacleTool"]),
    ] + (isDevelopment ? [.library(name: "MockEvents", type: .dynamic, targets: ["MockEvents"])] : []),
    targets: [
        // Instructions that only some machines have, chosen at run time: a package may pass no flags on that allow them.
        .target(name: "CKernels", cSettings: kernelCSettings),
        .target(name: "Kernels", dependencies: ["CKernels"], swiftSettings: kernelSettings),
        .target(name: "PlainText", swiftSettings: settings),
        .target(
            name: "Binnacle", dependencies: ["SensorGeometry", "Kernels", "PlainText", "PosixCalls"],
            swiftSettings: settings),
        .target(
            name: "BinnacleHeading", dependencies: ["SensorGeometry", "Kernels", "Binnacle"], swiftSettings: settings),
        .target(name: "BinnacleTesting", dependencies: ["Binnacle", "BinnacleHeading"], swiftSettings: settings),
        .target(name: "Geomagnetism", dependencies: ["BinnacleHeading"], swiftSettings: settings),
        .target(name: "SensorGeometry", swiftSettings: settings),
        .target(name: "Calibration", dependencies: ["SensorGeometry", "Binnacle"], swiftSettings: settings),
        .target(name: "PosixCalls", swiftSettings: settings),
        .target(name: "CMappedFile"),
        .target(name: "CZstd", dependencies: ["CLoading"]),
        .target(name: "CArchive", dependencies: ["CLoading"]),
        .target(name: "ArrowStream", swiftSettings: settings),
        .target(
            name: "Traces",
            dependencies: [
                "ArrowStream", "SensorGeometry", "Binnacle", "Kernels", "PlainText", "PosixCalls", "CMappedFile",
                "CZstd", "CArchive",
            ],
            swiftSettings: settings),
        .target(name: "CLoading"),
        .target(name: "CUdev", dependencies: ["CLoading"]),
        .target(name: "CEvdev", dependencies: ["CLoading"]),
        .target(name: "CLinux"),
        .target(name: "LinuxSystem", dependencies: ["PosixCalls", "CLinux"], swiftSettings: settings),
        .target(
            name: "LinuxSensors",
            dependencies: [
                "SensorGeometry", "Kernels", "Binnacle", "PlainText", "LinuxSystem", "CUdev", "CEvdev", "CLinux",
            ],
            swiftSettings: settings),
        // What programs write to /dev/uhid.
        .target(name: "CVirtual"),
        .target(name: "VirtualDevices", dependencies: ["LinuxSystem", "CEvdev", "CVirtual"], swiftSettings: settings),
        // Both load their library when it is used, so they need its headers only.
        .target(name: "CSQLite", dependencies: ["CLoading"]),
        .target(name: "CMosquitto", dependencies: ["CLoading"]),
        .target(name: "CCurl", dependencies: ["CLoading"]),
        .target(name: "CSDBus", dependencies: ["CLoading"]),
        .target(
            name: "CTOML",
            cxxSettings: [.define("TOML_HEADER_ONLY", to: "1"), .define("TOML_EXCEPTIONS", to: "0")]),
        .target(
            name: "TableReading", dependencies: ["Binnacle", "PlainText", "LinuxSystem", "CTOML"],
            swiftSettings: settings),
        .target(
            name: "Handlers",
            dependencies: ["Binnacle", "PlainText", "LinuxSystem", "TableReading", "CLinux", "CCurl"],
            swiftSettings: settings),
        .target(
            name: "MQTT",
            dependencies: ["Handlers", "Binnacle", "PlainText", "LinuxSystem", "TableReading", "CMosquitto"],
            swiftSettings: settings),
        .target(
            name: "Store", dependencies: ["Binnacle", "PlainText", "LinuxSystem", "CSQLite"], swiftSettings: settings),
        .target(
            name: "EventSocket", dependencies: ["Binnacle", "PlainText", "LinuxSystem", "CLinux"],
            swiftSettings: settings),
        .target(
            name: "DesktopBus", dependencies: ["Binnacle", "PlainText", "LinuxSystem", "CSDBus"],
            swiftSettings: settings),
        .target(
            name: "Configuration",
            dependencies: [
                "SensorGeometry", "Binnacle", "BinnacleHeading", "Calibration", "Geomagnetism", "PlainText",
                "LinuxSystem",
                "LinuxSensors", "TableReading",
                "Handlers", "MQTT", "Store", "EventSocket", "DesktopBus",
            ],
            swiftSettings: settings),
        .target(
            name: "Station",
            dependencies: [
                "Binnacle", "BinnacleHeading", "Kernels", "PlainText", "Traces", "LinuxSystem", "LinuxSensors",
                "TableReading", "Handlers",
                "Store", "EventSocket", "DesktopBus", "Configuration", "Pictures",
            ],
            swiftSettings: settings),
        .target(
            name: "Workbench",
            dependencies: [
                "SensorGeometry", "Binnacle", "Calibration", "PlainText", "Traces", "LinuxSystem", "LinuxSensors",
                "VirtualDevices",
                "TableReading", "Handlers", "EventSocket", "IIOServer", "Configuration", "Station",
            ],
            swiftSettings: settings),
        .target(
            name: "IIOServer", dependencies: ["Binnacle", "PlainText", "LinuxSystem"], swiftSettings: settings),
        // The page's style and scripts are files, whose bytes become part of the program.
        .target(name: "CPage", exclude: ["page.css", "page.js", "panel.js", "web.js"]),
        .target(
            name: "Pictures", dependencies: ["Binnacle", "Kernels", "PlainText", "CPage"], swiftSettings: settings),
        .target(name: "CBench"),
        .target(
            name: "Bench",
            dependencies: [
                "Kernels", "Binnacle", "PlainText", "Traces", "LinuxSensors", "LinuxSystem", "VirtualDevices", "CBench",
            ],
            swiftSettings: settings),
        // The options of the command line, of which the program and its manual are made.
        .target(name: "CommandRows", dependencies: ["Binnacle", "PlainText"], swiftSettings: settings),
        // What `make documents` runs.
        .executableTarget(
            name: "BinnacleDocs",
            dependencies: ["CommandRows", "Configuration", "TableReading", "Binnacle", "PlainText"],
            swiftSettings: settings),
        .executableTarget(
            name: "BinnacleTool",
            dependencies: [
                "CommandRows", "Bench", "Station", "Workbench", "Configuration", "TableReading", "Handlers", "Store",
                "EventSocket", "Pictures", "IIOServer", "DesktopBus",
                "Traces", "LinuxSystem", "Binnacle", "BinnacleHeading", "PlainText", "Kernels", "Geomagnetism",
                "Calibration",
                "VirtualDevices", "PosixCalls",
            ],
            swiftSettings: settings,
            // What `make build` sets: the program alone is linked with the libraries of Swift, and the tests beside it are not,
            // because their library is a shared one. SwiftPM's own option is for all, and compiles all modules for each way.
            linkerSettings: Context.environment["BINNACLE_STATIC"] == nil ? [] : [.unsafeFlags(["-static-stdlib"])]),
        .testTarget(
            name: "KernelsTests", dependencies: ["Kernels", "KernelReferences", "TestSupport"],
            swiftSettings: kernelSettings),
        // Tests/KernelForms has the same beside the forms in C, on machines that are only played.
        .target(name: "KernelReferences", path: "Tests/KernelForms/References", cSettings: kernelCSettings),
        .testTarget(
            name: "GeomagnetismTests", dependencies: ["Geomagnetism", "Binnacle", "BinnacleHeading", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "CalibrationTests",
            dependencies: ["SensorGeometry", "Calibration", "Binnacle", "BinnacleHeading", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "BinnacleTests",
            dependencies: [
                "SensorGeometry", "Binnacle", "BinnacleHeading", "BinnacleTesting", "PlainText", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "TracesTests",
            dependencies: [
                "Traces", "Binnacle", "BinnacleHeading", "BinnacleTesting", "SensorGeometry", "PlainText",
                "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "LinuxSensorsTests",
            dependencies: ["Kernels", "LinuxSensors", "LinuxSystem", "Binnacle", "PlainText", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "VirtualDevicesTests", dependencies: ["VirtualDevices", "LinuxSystem", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "PicturesTests",
            dependencies: ["Pictures", "Binnacle", "BinnacleHeading", "Kernels", "PlainText", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "HandlersTests",
            dependencies: [
                "Handlers", "MQTT", "LinuxSystem", "Binnacle", "BinnacleHeading", "PlainText", "TableReading",
                "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "StoreTests", dependencies: ["Store", "LinuxSystem", "Binnacle", "PlainText", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "EventSocketTests",
            dependencies: ["EventSocket", "LinuxSystem", "Binnacle", "PlainText", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "IIOServerTests",
            dependencies: ["IIOServer", "LinuxSystem", "Binnacle", "PlainText", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "DesktopBusTests",
            dependencies: ["DesktopBus", "CSDBus", "LinuxSystem", "Binnacle", "PlainText", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "StationTests",
            dependencies: [
                "Station", "SensorGeometry", "VirtualDevices", "BinnacleHeading", "Geomagnetism", "LinuxSensors",
                "LinuxSystem",
                "Handlers", "MQTT", "Store", "DesktopBus",
                "EventSocket", "Traces",
                "Binnacle",
                "PlainText", "TableReading", "Configuration", "Workbench", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(name: "BenchTests", dependencies: ["Bench", "Binnacle"], swiftSettings: testSettings),
        .testTarget(
            name: "ToolTests",
            dependencies: ["BinnacleDocs", "EventSocket", "LinuxSystem", "Binnacle", "PlainText", "TestSupport"],
            swiftSettings: testSettings),
        // What only tests use: nothing above depends on it, so it is built with the tests and is part of no product.
        .target(
            name: "TestSupport", dependencies: ["Binnacle", "VirtualDevices", "CBench"], path: "Tests/TestSupport",
            swiftSettings: settings),
    ] + development + fuzzers,
    cxxLanguageStandard: .cxx17
)

// For work on one part: BINNACLE_TESTS="StoreTests ToolTests" builds these test targets, and neither the others nor the rigs;
// with BINNACLE_DEVELOPMENT also SensorTests, whose folder has the main of all.
if let named = Context.environment["BINNACLE_TESTS"] {
    let wanted = named.split(separator: " ").map(String.init)
    package.targets.removeAll { target in
        target.type == .test && target.name != "SensorTests" && !wanted.contains(target.name)
            || target.type == .executable && target.name.hasSuffix("Bench")
    }
}
