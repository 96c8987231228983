/// Whether this process may use a device.
public enum AuthorizationStatus: Sendable, Equatable {
    /// The device was not opened yet, or there is none.
    case notDetermined
    /// Everything that is needed can be opened.
    case authorized
    /// Something cannot be opened; the reason names it, its owner and mode, and what would open it.
    case denied(reason: String)
}

extension Detector {
    /// Whether this process may use the devices that the detector needs.
    ///
    /// Denied when one of them is; not determined while one of them is not.
    public var authorizationStatus: AuthorizationStatus {
        var result = AuthorizationStatus.authorized
        if streams.isEmpty { result = .notDetermined }
        for stream in streams {
            switch stream.sensor.authorizationStatus {
            case .authorized: break
            case .notDetermined: result = .notDetermined
            case .denied(let reason): return .denied(reason: reason)
            }
        }
        return result
    }
}
