// swift-tools-version: 6.2
// A program of your own with Binnacle's library: copy this folder, and name the repository from which you have it.
import PackageDescription

let package = Package(
    name: "moves",
    dependencies: [.package(url: "https://example.org/binnacle.git", .upToNextMinor(from: "0.3.0"))],
    targets: [
        .executableTarget(
            name: "moves",
            dependencies: [.product(name: "Binnacle", package: "binnacle"), .product(name: "Traces", package: "binnacle")])
    ]
)
