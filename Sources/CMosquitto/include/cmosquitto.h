// libmosquitto, loaded when it is used: a program that speaks no MQTT holds neither it nor OpenSSL.
#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <mosquitto.h>

/// The functions of libmosquitto that are used here; all of them are in 2.0.11.
#define CMOSQUITTO_FUNCTIONS(X) \
    X(mosquitto_lib_init) \
    X(mosquitto_new) \
    X(mosquitto_destroy) \
    X(mosquitto_user_data_set) \
    X(mosquitto_int_option) \
    X(mosquitto_max_inflight_messages_set) \
    X(mosquitto_username_pw_set) \
    X(mosquitto_will_set) \
    X(mosquitto_tls_set) \
    X(mosquitto_tls_opts_set) \
    X(mosquitto_ssl_get) \
    X(mosquitto_connect_callback_set) \
    X(mosquitto_publish_callback_set) \
    X(mosquitto_publish_v5_callback_set) \
    X(mosquitto_subscribe_callback_set) \
    X(mosquitto_message_callback_set) \
    X(mosquitto_log_callback_set) \
    X(mosquitto_connect_async) \
    X(mosquitto_disconnect) \
    X(mosquitto_publish) \
    X(mosquitto_subscribe) \
    X(mosquitto_unsubscribe) \
    X(mosquitto_socket) \
    X(mosquitto_want_write) \
    X(mosquitto_loop_read) \
    X(mosquitto_loop_write) \
    X(mosquitto_loop_misc) \
    X(mosquitto_reason_string) \
    X(mosquitto_strerror)

/// The loaded library: a pointer to each of its functions, under the function's own name.
struct cmosquitto {
#define CMOSQUITTO_FIELD(name) __typeof__(&name) _Nonnull name;
    CMOSQUITTO_FUNCTIONS(CMOSQUITTO_FIELD)
#undef CMOSQUITTO_FIELD
};

/// Loads the library and initialises it; what is loaded stays, so calling it again is cheap. Any thread may.
///
/// Returns a null pointer when the library is missing or unusable, and puts the reason, in the loader's words, into
/// `reason`, which takes `size` bytes. A library that was missing is looked for again by the next call.
const struct cmosquitto *_Nullable cmosquitto_load(const char *_Nonnull name, char *_Nonnull reason, size_t size);

/// Calls mosquitto_loop_read(); MOSQ_ERR_UNKNOWN where the library's own assertions fail.
///
/// libmosquitto 2.0.11 ends the process by an assertion for a property of MQTT 5 that it does not know, which any broker can
/// send. It holds no lock there. After that the client can only be destroyed, and what was read of the packet is lost memory.
int cmosquitto_loop_read(struct mosquitto *_Nonnull client);

/// What OpenSSL found wrong with the other side's certificate; a null pointer when it found nothing.
///
/// The argument is what mosquitto_ssl_get() gives, which lives as long as the connection; in libmosquitto's own callbacks
/// it does. OpenSSL is the one that libmosquitto is linked with, because it is looked up through libmosquitto.
const char *_Nullable cmosquitto_verify_problem(void *_Nullable ssl);

/// The bytes of a digest.
#define CMOSQUITTO_DIGEST_SIZE 32

/// Writes the SHA-256 digest of some bytes, made by the OpenSSL that libmosquitto is linked with; false when there is none,
/// also before cmosquitto_load() has succeeded.
bool cmosquitto_digest(const unsigned char *_Nonnull bytes, size_t count, unsigned char *_Nonnull digest);

/// Whether the TLS handshake is over; false without TLS.
bool cmosquitto_tls_established(void *_Nullable ssl);

#endif
