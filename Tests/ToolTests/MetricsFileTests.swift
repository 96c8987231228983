import EventSocket
import Foundation
import TestSupport
import Testing

/// `binnacle metrics --file`, when the daemon gives no status.
@Suite struct MetricsFileTests {
    /// Without the right to ask, too, the values of before would look like those of now.
    @Test(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs root and setpriv"))
    func withoutTheRightToAskTheFileSaysThatTheDaemonIsAway() throws {
        let double = try SocketDouble()
        double.stop()
        chmod(double.folder.path, 0o755)
        try double.start { $0.mode = 0o600 }
        let folder = try TemporaryFolder(["binnacle.prom": "binnacle_up 1\n"])
        chmod(folder.path, 0o777)
        let file = folder.path + "/binnacle.prom"
        let (status, said) = try runAsStranger(["metrics", "--file", file, "--socket", double.path])
        #expect(status == 77, "\(said)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasSuffix("\nbinnacle_up 0\n"), "\(text)")
    }
}
