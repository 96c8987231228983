import CKernels

/// What a kernel is written with.
///
/// All forms of a kernel give the same bits; they differ in speed alone.
package enum InstructionSet: String, Sendable, CaseIterable, Comparable {
    /// The reference: a loop over single samples, written to be read.
    case scalar
    /// Swift's SIMD types, as every machine of the architecture can run them: SSE2 on x86-64, NEON on arm64.
    case baseline
    /// NEON by hand, on arm64.
    case neon
    /// AVX2 by hand, on x86-64.
    case avx2
    /// AVX-512 (F, BW, DQ, VL) by hand, on x86-64.
    case avx512

    /// Those that this machine has, the best one last.
    package static let available: [InstructionSet] = allCases.filter(\.isHere)

    /// The one in use: what the environment's `BINNACLE_ISA` names, or the best one.
    package static let current: InstructionSet = forced.flatMap { try? $0.get() } ?? available.last ?? .scalar

    /// Why `BINNACLE_ISA` cannot be followed; `nil` when it can, or is not set.
    package static var complaint: String? {
        guard case .failure(let complaint) = forced else { return nil }
        return complaint.text
    }

    /// Whether one is less than another, in the order in which they are listed.
    package static func < (left: InstructionSet, right: InstructionSet) -> Bool {
        left.rank < right.rank
    }

    private struct Complaint: Error {
        let text: String
    }

    private static let forced: Result<InstructionSet, Complaint>? = ck_forced_instruction_set().map {
        let name = String(cString: $0)
        if let named = InstructionSet(rawValue: name), named.isHere { return .success(named) }
        let known = available.map(\.rawValue).joined(separator: ", ")
        return .failure(Complaint(text: "BINNACLE_ISA=\(name): this machine has \(known)"))
    }

    /// Not the place in `allCases`, which is an array that would be made for every comparison.
    private var rank: Int {
        switch self {
        case .scalar: 0
        case .baseline: 1
        case .neon: 2
        case .avx2: 3
        case .avx512: 4
        }
    }

    private var isHere: Bool {
        switch self {
        case .scalar, .baseline: true
        case .avx2: ck_has_avx2() != 0
        case .avx512: ck_has_avx512() != 0
        case .neon:
            #if arch(arm64)
                true
            #else
                false
            #endif
        }
    }
}
