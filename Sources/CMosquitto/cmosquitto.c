#include "cmosquitto.h"

#include <cloading.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

// X509_V_OK, SSL_is_init_finished() and this flag are a part of OpenSSL's stable interface, the same in 1.1 and 3.
#define OPENSSL_NO_ATEXIT 0x00080000UL

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// All of them are written once, under the lock, before cmosquitto_load() first returns the table.
static bool is_loaded;
static struct cmosquitto table;
static long (*verify_result)(const void *);
static const char *(*verify_text)(long);
static int (*is_init_finished)(const void *);
static unsigned char *(*digest_of)(const unsigned char *, size_t, unsigned char *);

static bool look_up(void *library, const char *name, char *reason, size_t size)
{
#define CMOSQUITTO_LOOK_UP(function) \
    if (!(table.function = (__typeof__(&function))cloading_find(library, name, #function, reason, size))) \
        return false;
    CMOSQUITTO_FUNCTIONS(CMOSQUITTO_LOOK_UP)
#undef CMOSQUITTO_LOOK_UP
    return true;
}

const struct cmosquitto *cmosquitto_load(const char *name, char *reason, size_t size)
{
    pthread_mutex_lock(&lock);
    if (!is_loaded) {
        void *library = cloading_open(name, reason, size);
        if (library && !look_up(library, name, reason, size)) {
            dlclose(library);
        } else if (library) {
            // OpenSSL cleans up at exit, while a thread of ours may still be in it.
            int (*initialise)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(library, "OPENSSL_init_crypto");
            if (initialise)
                initialise(OPENSSL_NO_ATEXIT, NULL);
            verify_result = (long (*)(const void *))dlsym(library, "SSL_get_verify_result");
            verify_text = (const char *(*)(long))dlsym(library, "X509_verify_cert_error_string");
            is_init_finished = (int (*)(const void *))dlsym(library, "SSL_is_init_finished");
            digest_of = (unsigned char *(*)(const unsigned char *, size_t, unsigned char *))dlsym(library, "SHA256");
            table.mosquitto_lib_init();
            is_loaded = true;
        }
    }
    bool is_usable = is_loaded;
    pthread_mutex_unlock(&lock);
    return is_usable ? &table : NULL;
}

// Where a failed assertion continues; a null pointer outside of cmosquitto_loop_read().
static _Thread_local jmp_buf *rescue;

int cmosquitto_loop_read(struct mosquitto *client)
{
    jmp_buf here;
    int result = MOSQ_ERR_UNKNOWN;
    // Only frames of the library are left: its callbacks have returned when it asserts.
    if (setjmp(here) == 0) {
        rescue = &here;
        result = table.mosquitto_loop_read(client, 1);
    }
    rescue = NULL;
    return result;
}

// Stands in for the one of libc, for every library of the process.
__attribute__((visibility("default"), noreturn)) void __assert_fail(
    const char *assertion, const char *file, unsigned int line, const char *function)
{
    if (rescue)
        longjmp(*rescue, 1);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function ? function : "?", assertion);
    abort();
}

const char *cmosquitto_verify_problem(void *ssl)
{
    if (!ssl || !verify_result || !verify_text)
        return NULL;
    long result = verify_result(ssl);
    return result == 0 ? NULL : verify_text(result);
}

bool cmosquitto_tls_established(void *ssl)
{
    return ssl && is_init_finished && is_init_finished(ssl);
}

bool cmosquitto_digest(const unsigned char *bytes, size_t count, unsigned char *digest)
{
    return digest_of && digest_of(bytes, count, digest);
}
