"""Heads of requests that two readers may understand differently, and requests with a body: what both services over HTTP answer."""

#: The first line and the host of a request that is answered.
GOOD = b"GET %s HTTP/1.1\r\nHost: localhost\r\n"


def hostile(path):
    """Requests for a path, each with the status of its answer."""
    good = GOOD % path
    yield good + b"\r\n", b"200"
    yield good.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n", b"200"
    yield good + b"Content-Length: 0\r\n\r\n", b"200"
    # What follows a request is not read, whether it is a body or a request.
    yield good + b"\r\nHost: evil.example\r\n\r\n", b"200"
    yield good + b"\r\nGET /other HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"200"
    # A body in the packet of the request.
    for body in (b"Host: evil.example\r\n\r\n", b"Host: localhost\r\n", b"no line\r\n\r\n", b"\0" * 6000, b"x" * 400_000):
        yield good + b"Content-Length: %d\r\n\r\n" % len(body) + body, b"413"
        yield good.replace(b"Host: localhost\r\n", b"") + b"Content-Length: %d\r\n\r\n" % len(body) + body, b"413"
    for body in (b"0\r\n\r\n", b"16\r\nHost: evil.example\r\n\r\n\r\n0\r\n\r\n"):
        yield good + b"Transfer-Encoding: chunked\r\n\r\n" + body, b"501"
    yield good + b"Transfer-Encoding: gzip, chunked\r\n\r\n", b"501"
    yield good.replace(b"GET", b"POST") + b"Content-Length: 3\r\n\r\nabc", b"405"
    # Where the body ends is not clear.
    for fields in (b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", b"Content-Length: 3\r\nContent-Length: 3\r\n", b"Content-Length: 0\r\nContent-Length: 9\r\n",
                   b"Content-Length: 3, 3\r\n", b"Content-Length: +3\r\n", b"Content-Length: -1\r\n", b"Content-Length: 0x3\r\n", b"Content-Length:\r\n",
                   b"Content-Length: \xd9\xa3\r\n", b"Content-Length : 3\r\n", b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"):
        for method in (b"GET", b"POST"):
            yield good.replace(b"GET", method) + fields + b"\r\n0\r\n\r\n", b"400"
    yield good.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"
    # Lines.
    for fields in (b"X: y\r\n z: w\r\n", b" X: y\r\n", b"\tX: y\r\n", b"X: y\n", b"X: y\rZ: w\r\n", b"X: a\0b\r\n", b"X\0: y\r\n", b": y\r\n", b"X y: z\r\n", b"no colon\r\n",
                   b"X: \x1b[2J\r\n", b"X\xc3\xa9: y\r\n", b"X: \x7f\r\n"):
        yield good + fields + b"\r\n", b"400"
    for head in (b"GET %s HTTP/1.1\nHost: localhost\n\n", b"GET http://localhost%s HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET %s HTTP/2.0\r\nHost: localhost\r\n\r\n",
                 b"GET %s http/1.1\r\nHost: localhost\r\n\r\n", b"GET %s HTTP/1.1 x\r\nHost: localhost\r\n\r\n", b"GET\t%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 b"GET %s\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\nGET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET *%s HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        yield head % path, b"400"
    # Whose page asks, and by which name.
    for fields in (b"Origin: http://evil.example\r\n", b"Origin: null\r\n", b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
                   b"Origin: http://localhost\r\nOrigin: http://evil.example\r\n", b"Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n"):
        yield good + fields + b"\r\n", b"403"
    for host in (b"evil.example", b"localhost.evil.example", b"evil.example:80", b"127.0.0.1.evil.example", b"localhost@evil.example", b"localhost evil.example", b"", b":9478",
                 b"[::1].evil.example", b"[::1", b"localhost:80:80", b"127.1", b"2130706433", b"evil.example/localhost", b"10.255.255.1"):
        yield good.replace(b"localhost", host) + b"\r\n", b"403"
    # One Host, as RFC 9112 asks (3.2).
    for fields in (b"Host: evil.example\r\n", b"Host: localhost\r\n"):
        yield good + fields + b"\r\n", b"400"
    yield good.replace(b"Host: localhost\r\n", b"") + b"\r\n", b"400"
    yield b"GET %s HTTP/1.0\r\n\r\n" % path, b"400"
    for fields in (b"Origin: http://localhost\r\n", b"Origin: https://localhost\r\n", b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"):
        yield good + fields + b"\r\n", b"200"
    yield good.replace(b"localhost", b"LOCALHOST:1") + b"\r\n", b"200"
