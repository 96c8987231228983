// sd-bus of libsystemd, loaded when it is used: a daemon without [dbus] does without its libraries.
#ifndef CSDBUS_H
#define CSDBUS_H

#include <stdint.h>
#include <systemd/sd-bus.h>

/// The functions in use, without their prefix; all of them are in libsystemd 252.
#define CSDBUS_FUNCTIONS(FUNCTION) \
    FUNCTION(open_system)             \
    FUNCTION(new)                     \
    FUNCTION(set_address)             \
    FUNCTION(set_bus_client)          \
    FUNCTION(start)                   \
    FUNCTION(close)                   \
    FUNCTION(unref)                   \
    FUNCTION(flush)                   \
    FUNCTION(process)                 \
    FUNCTION(get_fd)                  \
    FUNCTION(get_events)              \
    FUNCTION(get_timeout)             \
    FUNCTION(get_n_queued_write)      \
    FUNCTION(request_name_async)      \
    FUNCTION(add_object_vtable)       \
    FUNCTION(add_match_async)         \
    FUNCTION(call_async)              \
    FUNCTION(send)                    \
    FUNCTION(slot_unref)              \
    FUNCTION(message_new_signal)      \
    FUNCTION(message_new_method_call) \
    FUNCTION(message_new_method_return) \
    FUNCTION(message_new_method_error) \
    FUNCTION(message_set_destination) \
    FUNCTION(message_ref)             \
    FUNCTION(message_unref)           \
    FUNCTION(message_get_sender)      \
    FUNCTION(message_get_member)      \
    FUNCTION(message_get_error)       \
    FUNCTION(message_append_basic)    \
    FUNCTION(message_open_container)  \
    FUNCTION(message_close_container) \
    FUNCTION(message_read_basic)      \
    FUNCTION(message_enter_container) \
    FUNCTION(message_exit_container)  \
    FUNCTION(message_peek_type)       \
    FUNCTION(message_skip)

/// The library's functions.
struct csdbus {
#define FUNCTION(name) __typeof__(&sd_bus_##name) _Nonnull name;
    CSDBUS_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/// Loads the library, the first time on any thread; NULL and the reason when it is missing.
const struct csdbus *_Nullable csdbus_load(const char *_Nullable *_Nonnull reason);

/// A method ('m'), a property ('p') or a signal ('s') of an interface; its texts stay for as long as the process.
struct csdbus_member {
    char kind;
    const char *_Nonnull name;
    /// What goes in, the type of the property, or what the signal has.
    const char *_Nonnull signature;
    /// What a method returns.
    const char *_Nonnull result;
    /// The names of what goes in and comes out, each with a zero byte behind it, and one more behind the last.
    const char *_Nonnull names;
};

/// Makes the table of an interface that sd-bus wants, once the library is loaded; it stays for as long as the process.
///
/// Anybody may call the methods: who may do what is decided where they are handled.
const sd_bus_vtable *_Nonnull csdbus_vtable(const struct csdbus_member *_Nonnull members, size_t count,
                                            sd_bus_message_handler_t _Nonnull call, sd_bus_property_get_t _Nonnull get);

#endif
