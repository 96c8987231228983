import Foundation
import Synchronization
import TestSupport
import Testing

/// Certificates for a broker and a client, made by openssl for a test.
///
/// Its folder has `ca.pem`, `other-ca.pem`, and for each name a `NAME.pem` with its `NAME.key`: `server`, which is for
/// localhost and 127.0.0.1, `expired`, `elsewhere`, which is for another host, and `client`.
final class Certificates: Sendable {
    static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first(where: isExecutable)
    static let absence: Comment = "openssl is not installed; `scripts/setup test` installs it"
    /// One set for all tests: keys take their time.
    static let shared = Mutex<Certificates?>(nil)

    private let folder: TemporaryFolder
    var path: String { folder.path }

    static func get() throws -> Certificates {
        try shared.withLock { shared in
            if let shared { return shared }
            let made = try Certificates()
            shared = made
            return made
        }
    }

    private init() throws {
        folder = try TemporaryFolder([
            "local.ext": "subjectAltName=DNS:localhost,IP:127.0.0.1\n",
            "elsewhere.ext": "subjectAltName=DNS:elsewhere\n",
            "client.ext": "extendedKeyUsage=clientAuth\n",
        ])
        for name in ["ca", "other-ca"] {
            try openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                "-subj", "/CN=Test \(name)", "-keyout", name + ".key", "-out", name + ".pem")
        }
        try make("server", "local.ext")
        try make("elsewhere", "elsewhere.ext")
        try make("client", "client.ext")
        try make("expired", "local.ext", validity: ("20200101000000Z", "20200201000000Z"))
    }

    private func make(_ name: String, _ extensions: String, validity: (from: String, to: String)? = nil) throws {
        try openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", name + ".key", "-out", name + ".csr")
        var arguments = [
            "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", name + ".pem",
        ]
        arguments += ["-CAcreateserial", "-extfile", extensions]
        // `x509` of Debian 12 takes no dates; `ca` does in all versions.
        guard let validity else {
            arguments += ["-days", "30"]
            return try openssl(arguments)
        }
        try folder.write("index.txt", "")
        try folder.write(
            "ca.cnf",
            """
            [ca]
            default_ca = it
            [it]
            database = index.txt
            new_certs_dir = .
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied

            """)
        try openssl(
            ["ca", "-batch", "-config", "ca.cnf", "-cert", "ca.pem", "-keyfile", "ca.key", "-in", name + ".csr"]
                + ["-out", name + ".pem", "-notext", "-extfile", extensions, "-startdate", validity.from]
                + ["-enddate", validity.to])
    }

    private func openssl(_ arguments: String...) throws { try openssl(arguments) }

    private func openssl(_ arguments: [String]) throws {
        let child = Child([try #require(Self.program, Self.absence)] + arguments)
        child.folder = path
        let log = path + "/openssl.log"
        try folder.write("openssl.log", "")
        child.standardError = FileHandle(forWritingAtPath: log)
        child.standardOutput = child.standardError
        try child.run()
        child.waitUntilExit()
        let words = contents(of: log) ?? ""
        try #require(child.terminationStatus == 0, "openssl \(arguments): \(words)")
    }
}
