package import CSDBus
import Glibc

/// A connection to the system bus; it belongs to one thread.
///
/// Callbacks are C functions with a pointer to their receiver. It is unretained: the receiver closes the connection before its
/// own end.
package final class BusConnection {
    package let library: csdbus
    private let bus: OpaquePointer

    /// Begins to connect, which ``process()`` continues; without an address to the system bus, which `DBUS_SYSTEM_BUS_ADDRESS`
    /// may name.
    package init(address: String? = nil) throws(BusFailure) {
        let library = try BusLibrary.load()
        var bus: OpaquePointer?
        try busCall("the system bus cannot be reached") {
            guard let address else { return library.open_system(&bus) }
            var result = library.new(&bus)
            if result >= 0 { result = library.set_address(bus, address) }
            if result >= 0 { result = library.set_bus_client(bus, 1) }
            return result < 0 ? result : library.start(bus)
        }
        guard let bus else { throw BusFailure(call: "sd_bus_open_system", code: EPROTO) }
        self.library = library
        self.bus = bus
    }

    /// Leaves the bus and discards pending calls.
    package func close() { library.close(bus) }

    deinit {
        close()
        _ = library.unref(bus)
    }

    // MARK: - The loop

    var descriptor: Int32 { library.get_fd(bus) }

    var events: (reads: Bool, writes: Bool) {
        let events = library.get_events(bus)
        return (events & Int32(POLLIN) != 0, events & Int32(POLLOUT) != 0)
    }

    /// When to process without an event, on CLOCK_MONOTONIC.
    var deadline: Int64? {
        var microseconds: UInt64 = 0
        guard library.get_timeout(bus, &microseconds) >= 0, microseconds < UInt64(Int64.max / 1000) else { return nil }
        return Int64(microseconds) * 1000
    }

    /// Reads, dispatches and writes once; returns whether there may be more.
    package func process() throws(BusFailure) -> Bool {
        try busCall("the system bus") { library.process(bus, nil) } > 0
    }

    /// The number of messages that the bus has not read.
    var queuedCount: Int {
        var count: UInt64 = 0
        return library.get_n_queued_write(bus, &count) < 0 ? 0 : Int(count)
    }

    // MARK: - Names and objects

    /// Requests a well-known name, replacing an owner that allows it; otherwise the bus assigns the name when it is free.
    func request(name: String, answer: @escaping sd_bus_message_handler_t, receiver: UnsafeMutableRawPointer)
        throws(BusFailure)
    {
        let flags = UInt64(SD_BUS_NAME_REPLACE_EXISTING | SD_BUS_NAME_QUEUE)
        try busCall("sd_bus_request_name_async") { library.request_name_async(bus, nil, name, flags, answer, receiver) }
    }

    package func add(
        _ interface: BusInterface, _ table: UnsafePointer<sd_bus_vtable>, receiver: UnsafeMutableRawPointer
    ) throws(BusFailure) {
        try busCall("sd_bus_add_object_vtable") {
            library.add_object_vtable(bus, nil, interface.path, interface.name, table, receiver)
        }
    }

    /// Subscribes to messages of the bus; pass the result to ``remove(_:)``.
    package func match(
        _ rule: String, _ take: @escaping sd_bus_message_handler_t, receiver: UnsafeMutableRawPointer
    ) throws(BusFailure) -> OpaquePointer? {
        var slot: OpaquePointer?
        try busCall("sd_bus_add_match_async") { library.add_match_async(bus, &slot, rule, take, nil, receiver) }
        return slot
    }

    func remove(_ slot: OpaquePointer?) { _ = library.slot_unref(slot) }

    // MARK: - Messages

    package func signal(
        _ name: String, of interface: String, at path: String, to client: String? = nil,
        _ write: (BusMessage) throws(BusFailure) -> Void
    ) throws(BusFailure) {
        let message = try make("sd_bus_message_new_signal") {
            library.message_new_signal(bus, &$0, path, interface, name)
        }
        if let client {
            try busCall("sd_bus_message_set_destination") { library.message_set_destination(message.raw, client) }
        }
        try write(message)
        try send(message)
    }

    /// Calls a method; ``remove(_:)`` cancels the wait for the answer.
    package func call(
        _ method: String, of interface: String, at path: String, of name: String, within microseconds: UInt64,
        answer: @escaping sd_bus_message_handler_t, receiver: UnsafeMutableRawPointer,
        _ write: (BusMessage) throws(BusFailure) -> Void
    ) throws(BusFailure) -> OpaquePointer? {
        let message = try make("sd_bus_message_new_method_call") {
            library.message_new_method_call(bus, &$0, name, path, interface, method)
        }
        try write(message)
        var slot: OpaquePointer?
        try busCall("sd_bus_call_async") { library.call_async(bus, &slot, message.raw, answer, receiver, microseconds) }
        return slot
    }

    package func reply(to call: BusMessage, _ write: (BusMessage) throws(BusFailure) -> Void = { _ in })
        throws(BusFailure)
    {
        let message = try make("sd_bus_message_new_method_return") { library.message_new_method_return(call.raw, &$0) }
        try write(message)
        try send(message)
    }

    package func refuse(_ call: BusMessage, _ name: String, _ text: String) throws(BusFailure) {
        let message = try make("sd_bus_message_new_method_error") { raw in
            name.withCString { name in
                text.withCString { text in
                    var error = sd_bus_error(name: name, message: text, _need_free: 0)
                    return library.message_new_method_error(call.raw, &raw, &error)
                }
            }
        }
        try send(message)
    }

    private func make(
        _ call: StaticString, _ make: (inout OpaquePointer?) -> Int32
    ) throws(BusFailure) -> BusMessage {
        var raw: OpaquePointer?
        try busCall(call) { make(&raw) }
        guard let raw else { throw BusFailure(call: "sd-bus made no message", code: 0) }
        return BusMessage(owning: raw, library)
    }

    private func send(_ message: BusMessage) throws(BusFailure) {
        try busCall("sd_bus_send") { library.send(bus, message.raw, nil) }
    }
}
