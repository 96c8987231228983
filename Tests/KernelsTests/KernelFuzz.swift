import Foundation
import Kernels
import TestSupport
import Testing

/// Random cases for the kernels: the same ones for the same number, on every machine.
///
/// `BINNACLE_CASES` says how many; `make test-long` has ten times as many as `make test`, and `make fuzz` millions.
enum KernelFuzz {
    /// How many cases each kernel gets.
    static let caseCount =
        ProcessInfo.processInfo.environment["BINNACLE_CASES"].flatMap { Int($0) } ?? TestForm.count(300, long: 3000)

    /// Values that comparisons and sums trip over.
    static let special: [Float] = [
        .nan, -.nan, .signalingNaN, .infinity, -.infinity, 0, -0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1e30, -1e-30,
    ]

    /// Runs every case until one fails, which is reported with its number.
    ///
    /// - Parameters:
    ///   - name: What is tested; each name has its own cases.
    ///   - body: Runs one case, with random numbers of its own, and says what is wrong.
    static func run(_ name: String, _ body: (Int, inout SeededGenerator) -> String?) {
        let seed = name.utf8.reduce(UInt64(0)) { ($0 &+ UInt64($1)) &* 0x100_0000_01B3 }
        for number in 0..<caseCount {
            var random = SeededGenerator(seed: seed &+ UInt64(number))
            guard let fault = body(number, &random) else { continue }
            Issue.record("\(name), case \(number): \(fault)")
            return
        }
    }

    /// A length: each from 0 to 257 in turn, and now and then a longer one.
    static func length(_ number: Int, _ random: inout SeededGenerator) -> Int {
        number % 5 == 4 ? Int.random(in: 258...2000, using: &random) : number % 258
    }

    /// A share of samples, with both ends and small ones among them.
    static func share(_ random: inout SeededGenerator) -> Double {
        let some = Double.random(in: 0...1, using: &random)
        return [0, 1, 0.001, 0.01, 0.1, 0.5, some, some * some].randomElement(using: &random) ?? some
    }

    /// Where a range is cut: nowhere, or at some random places.
    static func cuts(_ range: Range<Int>, _ random: inout SeededGenerator) -> [Range<Int>] {
        let count = Int.random(in: 0...3, using: &random)
        let places = (0..<count).map { _ in Int.random(in: range.lowerBound...range.upperBound, using: &random) }
        let bounds = [range.lowerBound] + places.sorted() + [range.upperBound]
        return zip(bounds, bounds.dropFirst()).map { $0..<$1 }
    }
}

/// A column at an address that is no multiple of a vector's length, with nothing readable promised behind it.
final class FuzzColumn<Element> {
    let count: Int
    let start: UnsafeMutablePointer<Element>
    private let memory: UnsafeMutablePointer<Element>

    init(_ values: [Element], offset: Int) {
        count = values.count
        // Exactly as long as it has to be: an address sanitizer sees what reads past the end.
        memory = .allocate(capacity: offset + values.count)
        start = memory + offset
        if let first = values.first { memory.initialize(repeating: first, count: offset) }
        for (index, value) in values.enumerated() { (start + index).initialize(to: value) }
    }

    deinit {
        memory.deallocate()
    }
}

extension CrossingList {
    /// Whether a crossing leads to *inside*.
    func isRising(_ position: Int) -> Bool { startsRising == position.isMultiple(of: 2) }
}
