/// libFuzzer's own loop, which is in the sanitizer's library and in no header.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// Runs a fuzzer: what its main does.
///
/// - Parameters:
///   - argumentCount: The number of its arguments.
///   - arguments: Its arguments.
///   - body: Takes one input.
/// - Returns: The exit status.
package func runFuzzer(
    _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt {
    var argumentCount = argumentCount
    var arguments = arguments
    return runDriver(&argumentCount, &arguments, body)
}
