import Kernels
import TestSupport
import Testing

/// Marks in every form that this machine has, against a loop over the bytes.
@Suite struct MarkFuzzTests {
    @Test func everyFormMarksTheSameBytes() {
        KernelFuzz.run("marks") { number, generator in
            let alphabet = Array(",;\t\n.-+ 0123456789".utf8) + [0, 0x80, 0xFF]
            func byte() -> UInt8 { alphabet.randomElement(using: &generator) ?? 0 }
            let sought = (byte(), byte(), byte(), byte())
            let blockCount = number % 40
            let offset = Int.random(in: 0...63, using: &generator)
            let text = FuzzColumn((0..<64 * blockCount).map { _ in byte() }, offset: offset)
            for set in InstructionSet.available {
                let words = FuzzColumn([UInt64](repeating: 77, count: blockCount + 1), offset: offset)
                MarkKernel(sought, using: set).mark(text.start, blockCount: blockCount, into: words.start)
                for place in 0..<64 * blockCount {
                    let byte = text.start[place]
                    let isSought = [sought.0, sought.1, sought.2, sought.3].contains(byte)
                    let isMarked = words.start[place / 64] >> UInt64(place % 64) & 1 == 1
                    if isMarked != isSought { return "\(set), byte \(place) of \(blockCount) blocks: \(isMarked)" }
                }
                if words.start[blockCount] != 77 { return "\(set): wrote past the end" }
            }
            return nil
        }
    }
}
