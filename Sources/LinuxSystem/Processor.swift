import CLinux

/// The processors of the machine, by their numbers.
package enum Processor {
    /// The one on which the calling thread runs; `nil` when nobody knows.
    package static var current: Int? {
        let number = clinux_processor()
        return number < 0 ? nil : Int(number)
    }

    /// Has the calling thread, and those that it starts from now on, run on one processor.
    ///
    /// - Parameter number: The processor.
    /// - Throws: ``SystemError`` when that is not allowed.
    package static func pin(to number: Int) throws(SystemError) {
        try systemCall("sched_setaffinity") { clinux_pin(Int32(number)) }
    }
}
