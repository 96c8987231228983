import CKernels

/// The forms of a kernel, which differ only in speed; all give the same bits.
package enum InstructionSet: Sendable, CaseIterable, Comparable {
    /// The reference: a loop over single samples.
    case scalar
    /// For every machine of the architecture: SSE2 on x86-64, NEON on arm64.
    case baseline
    /// Another name of the baseline, on arm64.
    case neon
    /// AVX2 intrinsics, on x86-64.
    case avx2
    /// AVX-512 (F, BW, DQ, VL) intrinsics, on x86-64.
    case avx512

    /// The instruction sets of this machine, the best one last.
    package static let available: [InstructionSet] = allCases.filter(\.isHere)

    /// The instruction set in use: that of the environment variable `BINNACLE_ISA`, or the best one.
    package static let current: InstructionSet = forced.flatMap { try? $0.get() } ?? available.last ?? .scalar

    /// Why `BINNACLE_ISA` cannot be applied; `nil` if it can, or is not set.
    package static var complaint: String? {
        guard case .failure(let complaint) = forced else { return nil }
        return complaint.text
    }

    /// The C forms of K1, K3 and K5; the scalar ones are in Swift.
    var forms: ck_forms {
        switch self {
        #if arch(x86_64)
            case .avx2: ck_forms_avx2
            case .avx512: ck_forms_avx512
        #endif
        default: ck_forms_baseline
        }
    }

    private struct Complaint: Error {
        let text: String
    }

    private static let forced: Result<InstructionSet, Complaint>? = ck_forced_instruction_set().map {
        let name = String(cString: $0)
        if let named = available.first(where: { "\($0)" == name }) { return .success(named) }
        let known = available.map { "\($0)" }.joined(separator: ", ")
        return .failure(Complaint(text: "BINNACLE_ISA=\(name): this machine has \(known)"))
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
