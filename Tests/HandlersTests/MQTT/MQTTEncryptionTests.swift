import Binnacle
import Foundation
import Handlers
import MQTT
import TestSupport
import Testing

/// A handler and a real broker that speak TLS: who is believed, and what is said of whom is not.
@Suite(
    .enabled(if: Broker.program != nil, Broker.absence),
    .enabled(if: Certificates.program != nil, Certificates.absence))
struct MQTTEncryptionTests {
    private let certificates: Certificates

    init() throws {
        certificates = try Certificates.get()
    }

    private func file(_ name: String) -> String { certificates.path + "/" + name }

    /// A broker with a certificate; besides the encrypted port it has a plain one for who listens.
    private func broker(_ certificate: String, _ further: String = "") throws -> (broker: Broker, plainPort: Int) {
        let plainPort = try freePort()
        let broker = try Broker(
            """
            cafile \(file("ca.pem"))
            certfile \(file(certificate + ".pem"))
            keyfile \(file(certificate + ".key"))
            \(further)
            allow_anonymous true
            listener \(plainPort) 127.0.0.1
            """)
        return (broker, plainPort)
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func everythingArrives(host: String) throws {
        let (broker, plainPort) = try broker("server")
        let subscriber = try Subscriber(plainPort)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port, host: host, usesTLS: true) { settings, _ in
            settings.authorityFile = file("ca.pem")
        }
        for event in motions(1...500) { run.handler.handle(event) }
        try subscriber.waitForNumber(500)
        #expect(run.end() == 0)
        #expect(subscriber.numbers == Array(1...500))
        try waitUntil("the last status") { subscriber.payloads(of: "status").last == "offline" }
        #expect(subscriber.payloads(of: "status") == ["online", "offline"])
        #expect(run.reasons == [])
    }

    @Test(
        arguments: [
            ("expired", "ca.pem", "localhost", "TLS: certificate has expired"),
            ("elsewhere", "ca.pem", "localhost", "TLS: the certificate is not for 'localhost'"),
            ("elsewhere", "ca.pem", "127.0.0.1", "TLS: the certificate is not for '127.0.0.1'"),
            ("server", "other-ca.pem", "localhost", "TLS: self-signed certificate in certificate chain"),
            // The system knows nothing of the test's authority.
            ("server", nil, "localhost", "TLS: self-signed certificate in certificate chain"),
        ] as [(String, String?, String, String)])
    func whoIsNotBelieved(certificate: String, authority: String?, host: String, reason: String) throws {
        let (broker, plainPort) = try broker(certificate)
        let subscriber = try Subscriber(plainPort)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port, host: host, usesTLS: true) { settings, _ in
            settings.authorityFile = authority.map(file)
            settings.user = "boat"
        }
        run.handler.deliver(deliveries(1...5))
        #expect(try run.waitForFailure("TLS") == "\(host):\(broker.port): \(reason)")
        // One connection is that of who waits for the broker to start.
        try waitUntil("further attempts") { broker.log.components(separatedBy: "on port \(broker.port).").count > 5 }
        #expect(run.reasons.count == 1, "several attempts, one report: \(run.reasons)")
        #expect(run.end(within: .milliseconds(100)) == 5)
        #expect(subscriber.messages == [], "who is not believed learns nothing")
    }

    @Test func aBrokerWithANewCertificateIsFoundAgain() throws {
        let (broker, plainPort) = try broker("expired")
        let subscriber = try Subscriber(plainPort)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port, host: "localhost", usesTLS: true) { settings, _ in
            settings.authorityFile = file("ca.pem")
        }
        run.handler.deliver(deliveries(1...5))
        _ = try run.waitForFailure("expired")
        broker.stop()
        let configuration = broker.folder.path + "/broker.conf"
        let lines = try #require(contents(of: configuration)).replacing("expired", with: "server")
        try broker.folder.write("broker.conf", lines)
        try broker.start()
        try waitUntil("the acknowledgements") { run.acknowledged.all.count == 5 }
        try run.reports.wait("the recovery") { $0.contains { $0.kind == .handlerRecovered } }
    }

    @Test func aBrokerThatIsKilledHasClosedTheConnection() throws {
        let (broker, plainPort) = try broker("server")
        let subscriber = try Subscriber(plainPort)
        defer { subscriber.stop() }
        let run = try MQTTRun(broker.port, host: "localhost", usesTLS: true) { settings, _ in
            settings.authorityFile = file("ca.pem")
        }
        try subscriber.wait("online") { !$0.isEmpty }
        broker.stop(SIGKILL)
        #expect(try run.waitForFailure() == "localhost:\(broker.port): the broker closed the connection")
    }

    @Test func aClientShowsItsOwnCertificate() throws {
        let (broker, plainPort) = try broker("server", "require_certificate true")
        let subscriber = try Subscriber(plainPort)
        defer { subscriber.stop() }
        let without = try MQTTRun(broker.port, name: "without", host: "localhost", usesTLS: true) { settings, _ in
            settings.authorityFile = file("ca.pem")
        }
        #expect(try without.waitForFailure("TLS").contains("certificate required"))
        let with = try MQTTRun(broker.port, host: "localhost", usesTLS: true) { settings, _ in
            settings.authorityFile = file("ca.pem")
            (settings.certificateFile, settings.keyFile) = (file("client.pem"), file("client.key"))
        }
        with.handler.handle(event(7))
        try subscriber.waitForNumber(7)
        #expect(with.end() == 0)
        #expect(with.reasons == [])
    }

    @Test func filesThatCannotBeUsed() throws {
        let (broker, _) = try broker("server")
        for (authority, certificate, key, part) in [
            ("none.pem", nil, nil, "none.pem: No such file"), ("server.key", nil, nil, "server.key"),
            ("ca.pem", "client.pem", "server.key", "TLS"), ("ca.pem", "ca.cnf", "client.key", "ca.cnf"),
        ] as [(String, String?, String?, String)] {
            let run = try MQTTRun(broker.port, host: "localhost", usesTLS: true) { settings, _ in
                settings.authorityFile = file(authority)
                if let certificate, let key {
                    (settings.certificateFile, settings.keyFile) = (file(certificate), file(key))
                }
            }
            let reason = try run.waitForFailure()
            #expect(reason.contains(part))
        }
    }

    @Test func whereNobodySpeaksTLS() throws {
        let broker = try Broker()
        let run = try MQTTRun(broker.port, host: "localhost", usesTLS: true) { settings, _ in
            settings.authorityFile = file("ca.pem")
        }
        let reason = try run.waitForFailure("localhost")
        #expect(reason.contains("TLS") || reason.contains("closed the connection before it answered"), "\(reason)")
        // And the other way round.
        let (encrypted, _) = try self.broker("server")
        let plain = try MQTTRun(encrypted.port)
        #expect(try plain.waitForFailure("127").contains("closed the connection before it answered"))
    }

    @Test func aHandshakeThatIsNeverAnswered() throws {
        let broker = try FakeBroker { wire, _, broker in
            try? waitUntil("the end of the broker") { broker.isStopped }
        }
        defer { broker.stop() }
        let run = try MQTTRun(broker.port, usesTLS: true) { settings, times in times.connect = 1_000_000_000 }
        #expect(
            try run.waitForFailure("handshake")
                == "127.0.0.1:\(broker.port): no answer to the TLS handshake within 1 s")
    }
}
