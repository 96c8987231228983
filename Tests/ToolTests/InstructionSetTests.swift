import Foundation
import TestSupport
import Testing

/// Whatever instructions the kernels are written with, and on whatever machine: a replay gives the same events.
@Suite struct InstructionSetTests {
    /// What the binary calls the machine's own sets; the best one is in use without being asked for.
    private static let names = ["scalar", "baseline"]

    private func replay(_ name: String, _ command: [String], _ environment: [String: String]) throws -> Binary.Result {
        let child = Child(command + [Binary.path] + GoldenTests.arguments(name))
        child.folder = Binary.golden
        child.environment = environment
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        child.standardOutput = try output.writer()
        child.standardError = try errors.writer()
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationReason == .exit, "\(command) \(environment)")
        return Binary.Result(
            status: child.terminationStatus, output: try output.text(), errors: try errors.text())
    }

    private func expected(_ name: String) throws -> String {
        try String(contentsOfFile: "\(Binary.golden)/\(name).events", encoding: .utf8)
    }

    @Test(arguments: GoldenTests.names, names)
    func everyInstructionSetGivesTheGoldenEvents(name: String, set: String) throws {
        #expect(try replay(name, [], ["BINNACLE_ISA": set]).output == expected(name))
    }

    #if arch(x86_64)
        /// An old processor without AVX, and one with AVX2 whatever this machine has.
        @Test(.enabled(if: Binary.hasEmulator, "needs qemu-x86_64"), arguments: ["Nehalem", "Haswell"])
        func otherProcessorsGiveTheGoldenEvents(processor: String) throws {
            for name in ["simulated-drop", "simulated-turn", "xio"] {
                let result = try replay(name, ["qemu-x86_64", "-cpu", processor], [:])
                #expect(try result.output == expected(name), "\(name): \(result.errors)")
            }
        }

        /// The emulator is what it says: a set that the processor does not have is refused.
        @Test(.enabled(if: Binary.hasEmulator, "needs qemu-x86_64"))
        func whatAProcessorDoesNotHaveIsNotUsed() throws {
            let command = ["qemu-x86_64", "-cpu", "Nehalem"]
            let result = try replay("simulated-drop", command, ["BINNACLE_ISA": "avx2"])
            #expect(result.errors.contains("this machine has scalar, baseline"), "\(result)")
        }
    #endif
}

extension Binary {
    /// Whether programs can be run as on other processors.
    fileprivate static let hasEmulator: Bool = {
        let child = Child(["qemu-x86_64", "--version"])
        guard (try? child.run()) != nil else { return false }
        child.waitUntilExit()
        return child.terminationStatus == 0
    }()
}
