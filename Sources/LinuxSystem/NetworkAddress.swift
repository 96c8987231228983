package import Glibc

/// The address of a network socket, IPv4 or IPv6.
package struct NetworkAddress {
    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// Why a host's address was not found.
    package struct LookupError: Error {
        /// The system's message.
        package let reason: String
    }

    /// Resolves a host's addresses, the preferred one first, which may take seconds; `isOwn` is for listening.
    package static func resolve(
        host: String, port: Int, type: __socket_type, isOwn: Bool
    ) throws(LookupError) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(type.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (isOwn ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let (code, reason) = withErrno { getaddrinfo(host, String(port), &hints, &list) }
        guard code == 0 else {
            guard code != EAI_SYSTEM else { throw LookupError(reason: String(cString: strerror(reason))) }
            throw LookupError(reason: String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var place = list
        while let entry = place?.pointee {
            if let address = NetworkAddress(entry) { addresses.append(address) }
            place = entry.ai_next
        }
        return addresses
    }

    private init?(_ entry: addrinfo) {
        let size = Int(entry.ai_addrlen)
        guard let address = entry.ai_addr, size <= MemoryLayout<sockaddr_storage>.size else { return nil }
        length = entry.ai_addrlen
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
        }
    }

    /// The address of this end of a socket, or of the other one.
    package init(of socket: Int32, isPeer: Bool = false) throws(SystemError) {
        _ = try withUnsafeMutablePointer(to: &storage) { pointer throws(SystemError) in
            try systemCall(isPeer ? "getpeername" : "getsockname") {
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    isPeer ? getpeername(socket, $0, &length) : getsockname(socket, $0, &length)
                }
            }
        }
    }

    /// AF_INET or AF_INET6.
    package var family: Int32 { Int32(storage.ss_family) }

    /// The port, which has the same offset in both families.
    package var port: Int { Int(in_port_t(bigEndian: view(as: sockaddr_in.self).sin_port)) }

    /// Whether only this machine has the address: 127.0.0.0/8, also in its IPv6 form, or ::1.
    package var isLoopback: Bool {
        guard family == AF_INET6 else {
            return family == AF_INET && UInt32(bigEndian: view(as: sockaddr_in.self).sin_addr.s_addr) >> 24 == 127
        }
        return withUnsafeBytes(of: view(as: sockaddr_in6.self).sin6_addr) { bytes in
            bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1 || Self.isMapped(bytes) && bytes[12] == 127
        }
    }

    /// The network of a client: an IPv4 address, also in its IPv6 form, or the first half of an IPv6 address, whose other half a
    /// machine chooses itself.
    package var network: UInt64 {
        guard family == AF_INET6 else { return UInt64(view(as: sockaddr_in.self).sin_addr.s_addr) }
        return withUnsafeBytes(of: view(as: sockaddr_in6.self).sin6_addr) { bytes in
            Self.isMapped(bytes)
                ? UInt64(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                : bytes.loadUnaligned(as: UInt64.self)
        }
    }

    /// The address in digits as it stands in a URL, without the port; "?" if it is none of the network.
    package var host: String {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = withPointer {
            getnameinfo($0, $1, &text, socklen_t(text.count), nil, 0, Int32(NI_NUMERICHOST))
        }
        guard code == 0 else { return "?" }
        let digits = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let isMapped = digits.hasPrefix("::ffff:") && digits.contains(".")
        return isMapped ? String(digits.dropFirst(7)) : digits.contains(":") ? "[\(digits)]" : digits
    }

    private static func isMapped(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
    }

    private func view<Address>(as type: Address.Type) -> Address {
        withUnsafeBytes(of: storage) { $0.load(as: type) }
    }

    /// Calls a function with the address as the socket calls expect it.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            // Socket calls interpret the address by its family.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Creates a socket of the address' family, non-blocking and closed on exec; throws EAFNOSUPPORT if that is not permitted.
    package func makeSocket(_ type: __socket_type) throws(SystemError) -> Descriptor {
        let type = Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return Descriptor(owning: try systemCall("socket") { socket(family, type, 0) })
    }

    /// Listens on a port of this machine without blocking; connections inherit the size of the kernel's send buffer.
    package func listen(
        sendBuffer: Int32, backlog: Int32, path: @autoclosure () -> String? = nil
    ) throws(SystemError) -> Descriptor {
        let socket = try makeSocket(SOCK_STREAM)
        // Recently closed connections would keep the port in use.
        try socket.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        // [::] accepts IPv4 as well.
        if family == AF_INET6 { try socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        try socket.setOption(SOL_SOCKET, SO_SNDBUF, sendBuffer)
        try systemCall("bind", path: path()) { withPointer { bind(socket.raw, $0, $1) } }
        try systemCall("listen") { Glibc.listen(socket.raw, backlog) }
        return socket
    }
}

extension Descriptor {
    package func setOption(_ level: Int32, _ option: Int32, _ value: Int32) throws(SystemError) {
        var value = value
        try systemCall("setsockopt") {
            setsockopt(raw, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
