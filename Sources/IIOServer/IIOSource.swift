import Binnacle
import LinuxSystem

/// The devices of a daemon or of recordings, for one client: each connection has a source of its own.
package protocol IIOSource: AnyObject {
    /// What the context says of itself.
    var summary: String { get }
    /// The devices, in an order that is the same for every connection.
    func devices() throws(IIOFailure) -> [IIODevice]
    /// Begins to take the scans of a device.
    func open(_ device: IIODevice) throws(IIOFailure) -> any IIOFeed
    /// The scan at this moment, for a program that polls; while it waits for one, `isWanted` is asked again and again.
    func latest(_ device: IIODevice, until deadline: Int64, isWanted: () -> Bool) throws(IIOFailure) -> IIOScan
    func attribute(_ name: String, of device: IIODevice) throws(IIOFailure) -> String
}

extension IIOFeed {
    /// The next scans; none at a time on CLOCK_MONOTONIC, and when they are not wanted any more.
    package func next(until deadline: Int64, isWanted: () -> Bool) throws(IIOFailure) -> [IIOScan] {
        while true {
            let now = SystemClock.monotonic()
            let scans = try next(until: min(deadline, Units.later(now, by: IIOLimits.look)))
            // What is there is for a client that has said all that it will, too.
            if !scans.isEmpty || now >= deadline || !isWanted() { return scans }
        }
    }
}

/// The scans of one device for one client, in their order.
package protocol IIOFeed: AnyObject {
    /// The next scans, as many as are there; none when none has come until a time on CLOCK_MONOTONIC.
    func next(until deadline: Int64) throws(IIOFailure) -> [IIOScan]
    /// The number of scans that were lost since the last call, because the client was too slow.
    func removeLost() -> Int
}
