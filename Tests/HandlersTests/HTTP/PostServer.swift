import Binnacle
import Foundation
import TestSupport
import Testing

/// A web server of a test's own, of Python's library, which answers as the path of a request asks for.
///
/// `/x?503,200` answers the first request with 503 and all further ones with 200; the words `slow`, `huge`, `head`,
/// `cut`, `late`, `close`, `301`, `later` and `json` stand for answers that a good service does not give.
final class PostServer {
    static let program = ["/usr/bin/python3", "/usr/local/bin/python3"].first(where: isExecutable)
    static let absence: Comment = "python3 is not installed; `scripts/setup test` installs it"

    /// What a request had.
    struct Post: Decodable {
        let path: String
        let headers: [String: String]
        let body: String
    }

    let port: Int
    let folder: TemporaryFolder
    private let child: Child

    /// Starts a server, with TLS when a certificate of ``Certificates`` is named.
    init(certificate: String? = nil) throws {
        folder = try TemporaryFolder()
        port = try freePort()
        try folder.write("server.py", Self.script)
        let files = try certificate.map { name in
            let path = try Certificates.get().path
            return ["\(path)/\(name).pem", "\(path)/\(name).key"]
        }
        child = Child(
            [try #require(Self.program, Self.absence), folder.path + "/server.py", "\(port)", folder.path + "/log"]
                + (files ?? []))
        try child.run()
        try waitUntil("the server") { Wire.connected(to: port) != nil }
    }

    deinit {
        child.end()
    }

    /// The requests so far.
    var posts: [Post] {
        (contents(of: folder.path + "/log") ?? "").split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Post.self, from: Data($0.utf8))
        }
    }

    /// The numbers of the events whose JSON came, each as often as it came.
    var numbers: [UInt64] { posts.compactMap { try? Event(json: $0.body).sequence } }

    private static let script = """
        import http.server, json, ssl, sys, time

        class Service(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            counts = {}

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with open(sys.argv[2], "a") as log:
                    log.write(json.dumps({"path": self.path, "headers": dict(self.headers), "body": body}) + "\\n")
                answers = (self.path.partition("?")[2] or "200").split(",")
                count = self.counts[self.path] = self.counts.get(self.path, 0) + 1
                answer = answers[min(count, len(answers)) - 1]
                if answer == "slow":
                    time.sleep(3600)
                if answer == "close":
                    self.close_connection = True
                    return
                if answer in ("huge", "200huge"):
                    self.send_response(200 if answer == "200huge" else 400)
                    self.send_header("Content-Length", str(1 << 40))
                    self.end_headers()
                    try:
                        while True:
                            self.wfile.write(b"x" * 65536)
                    except OSError:
                        return
                if answer == "head":
                    self.wfile.write(b"HTTP/1.1 200 OK\\r\\n")
                    try:
                        while True:
                            self.wfile.write(b"X: " + b"x" * 1000 + b"\\r\\n")
                    except OSError:
                        return
                if answer in ("cut", "late"):
                    self.send_response(400)
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b"no")
                    self.wfile.flush()
                    if answer == "late":
                        time.sleep(3600)
                    self.close_connection = True
                    return
                text = json.dumps(self.headers.get("Authorization")).encode() if answer == "json" else (f"no\\x1b[31m {count} " + self.path + self.headers.get("Authorization", "")).encode()
                self.send_response(int(answer) if answer.isdigit() else 429)
                if answer == "later":
                    self.send_header("Retry-After", "3600")
                if answer == "301":
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *words):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service)
        if len(sys.argv) > 3:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[3], sys.argv[4])
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.serve_forever()

        """
}
