#include "ccurl.h"

#include <cloading.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The library's stable numbers, from curl.h and multi.h of 7.88.
enum {
    CURL_GLOBAL_DEFAULT = 3,
    CURLPROTO_HTTP = 1,
    CURLPROTO_HTTPS = 2,
    CURLAUTH_BASIC = 1,
    CURL_HTTP_VERSION_1_1 = 2,
    CURL_SSLVERSION_TLSv1_2 = 6,
    CURLMSG_DONE = 1,
    CURL_WAIT_POLLIN = 1,
    CURLINFO_RESPONSE_CODE = 0x200000 + 2,
    CURLINFO_OS_ERRNO = 0x200000 + 25,
    CURLINFO_RETRY_AFTER = 0x600000 + 57,
    CURLOPT_SSLVERSION = 32,
    CURLOPT_POST = 47,
    CURLOPT_FOLLOWLOCATION = 52,
    CURLOPT_POSTFIELDSIZE = 60,
    CURLOPT_SSL_VERIFYPEER = 64,
    CURLOPT_SSL_VERIFYHOST = 81,
    CURLOPT_HTTP_VERSION = 84,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_HTTPAUTH = 107,
    CURLOPT_TIMEOUT_MS = 155,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_QUICK_EXIT = 322,
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_URL = 10002,
    CURLOPT_PROXY = 10004,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_USERAGENT = 10018,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_CAINFO = 10065,
    CURLOPT_COPYPOSTFIELDS = 10165,
    CURLOPT_USERNAME = 10173,
    CURLOPT_PASSWORD = 10174,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_HEADERFUNCTION = 20079,
};

struct message {
    int kind;
    void *easy;
    union {
        void *pointer;
        int code;
    } data;
};

struct waited {
    int descriptor;
    short events;
    short revents;
};

struct list;

#define FUNCTIONS(X) \
    X(int, curl_global_init, (long flags)) \
    X(void *, curl_easy_init, (void)) \
    X(void, curl_easy_reset, (void *easy)) \
    X(void, curl_easy_cleanup, (void *easy)) \
    X(int, curl_easy_setopt, (void *easy, int option, ...)) \
    X(int, curl_easy_getinfo, (void *easy, int info, ...)) \
    X(const char *, curl_easy_strerror, (int code)) \
    X(struct list *, curl_slist_append, (struct list *list, const char *text)) \
    X(void, curl_slist_free_all, (struct list *list)) \
    X(void *, curl_multi_init, (void)) \
    X(int, curl_multi_cleanup, (void *multi)) \
    X(int, curl_multi_add_handle, (void *multi, void *easy)) \
    X(int, curl_multi_remove_handle, (void *multi, void *easy)) \
    X(int, curl_multi_perform, (void *multi, int *running)) \
    X(int, curl_multi_poll, (void *multi, struct waited *more, unsigned count, int milliseconds, int *ready)) \
    X(struct message *, curl_multi_info_read, (void *multi, int *left))

#define NAME(result, name, parameters) #name,
#define MEMBER(result, name, parameters) result(*name) parameters;
static const char *const names[] = {FUNCTIONS(NAME)};
static struct {
    FUNCTIONS(MEMBER)
} functions;

static void begin(void *handle);
static struct cloading library = CLOADING("libcurl.so.4", names, functions, begin);

static void begin(void *handle)
{
    // OpenSSL cleans up at exit, while a thread of ours may still be in it: OPENSSL_INIT_NO_ATEXIT, as in CMosquitto.
    int (*initialise)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(handle, "OPENSSL_init_crypto");
    if (initialise)
        initialise(0x00080000UL, NULL);
    int code = functions.curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code)
        snprintf(library.problem, sizeof library.problem, "%s", functions.curl_easy_strerror(code));
}

const char *ccurl_problem(void)
{
    const char *reason = NULL;
    return cloading_load(&library, &reason) ? NULL : reason;
}

struct ccurl {
    void *multi;
    void *easy;
    struct list *headers;
    bool is_added;
    size_t received;
    struct ccurl_answer answer;
};

struct ccurl *ccurl_new(void)
{
    if (ccurl_problem())
        return NULL;
    struct ccurl *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    client->multi = functions.curl_multi_init();
    client->easy = functions.curl_easy_init();
    if (!client->multi || !client->easy) {
        ccurl_free(client);
        return NULL;
    }
    return client;
}

void ccurl_free(struct ccurl *client)
{
    ccurl_end(client);
    if (client->easy)
        functions.curl_easy_cleanup(client->easy);
    if (client->multi)
        functions.curl_multi_cleanup(client->multi);
    free(client);
}

// A short count ends the transfer.
static size_t count_head(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    struct ccurl *client = context;
    client->received += size * count;
    return client->received > CCURL_MOST_BYTES ? 0 : size * count;
}

static size_t keep_body(char *bytes, size_t size, size_t count, void *context)
{
    struct ccurl *client = context;
    struct ccurl_answer *answer = &client->answer;
    size_t room = CCURL_KEPT_BYTES - answer->text_size;
    size_t kept = size * count < room ? size * count : room;
    memcpy(answer->text + answer->text_size, bytes, kept);
    answer->text_size += kept;
    return count_head(bytes, size, count, context);
}

bool ccurl_start(struct ccurl *client, const struct ccurl_request *request)
{
    void *easy = client->easy;
    ccurl_end(client);
    client->received = 0;
    memset(&client->answer, 0, sizeof client->answer);
    functions.curl_easy_reset(easy);
    for (size_t i = 0; i < request->header_count; i++) {
        struct list *longer = functions.curl_slist_append(client->headers, request->headers[i]);
        if (!longer)
            return false;
        client->headers = longer;
    }
    int failed = 0;
#define SET(option, value) failed |= functions.curl_easy_setopt(easy, option, value)
    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_PROTOCOLS, (long)(request->uses_tls ? CURLPROTO_HTTPS : CURLPROTO_HTTP));
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    // No proxy of the environment: whom the events reach stands in the configuration alone.
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_USERAGENT, "binnacle");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, request->connect_timeout);
    SET(CURLOPT_TIMEOUT_MS, request->timeout);
    SET(CURLOPT_HTTPHEADER, client->headers);
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDSIZE, (long)request->body_size);
    SET(CURLOPT_COPYPOSTFIELDS, request->body);
    SET(CURLOPT_ERRORBUFFER, client->answer.problem);
    SET(CURLOPT_HEADERFUNCTION, count_head);
    SET(CURLOPT_HEADERDATA, client);
    SET(CURLOPT_WRITEFUNCTION, keep_body);
    SET(CURLOPT_WRITEDATA, client);
    if (request->authority_file)
        SET(CURLOPT_CAINFO, request->authority_file);
    if (request->user) {
        SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_USERNAME, request->user);
        SET(CURLOPT_PASSWORD, request->password);
    }
#undef SET
    // Since 7.87: an end does not wait for a look-up of a name.
    functions.curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    if (failed || functions.curl_multi_add_handle(client->multi, easy))
        return false;
    client->is_added = true;
    return true;
}

bool ccurl_turn(struct ccurl *client, int wake, int milliseconds)
{
    int running = 0;
    int problem = functions.curl_multi_perform(client->multi, &running);
    if (!problem && running) {
        struct waited waker = {.descriptor = wake, .events = CURL_WAIT_POLLIN};
        problem = functions.curl_multi_poll(client->multi, &waker, 1, milliseconds, NULL);
        if (!problem)
            problem = functions.curl_multi_perform(client->multi, &running);
    }
    struct message *message;
    int left;
    while ((message = functions.curl_multi_info_read(client->multi, &left)))
        if (message->kind == CURLMSG_DONE)
            client->answer.code = message->data.code;
    if (problem) {
        client->answer.code = problem;
        snprintf(client->answer.problem, sizeof client->answer.problem, "libcurl cannot wait (CURLM %d)", problem);
        return true;
    }
    return !running;
}

const struct ccurl_answer *ccurl_end(struct ccurl *client)
{
    struct ccurl_answer *answer = &client->answer;
    if (client->is_added) {
        functions.curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &answer->status);
        functions.curl_easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &answer->retry_after);
        functions.curl_easy_getinfo(client->easy, CURLINFO_OS_ERRNO, &answer->error_number);
        if (answer->code && !answer->problem[0])
            snprintf(answer->problem, sizeof answer->problem, "%s", functions.curl_easy_strerror(answer->code));
        functions.curl_multi_remove_handle(client->multi, client->easy);
        client->is_added = false;
    }
    if (client->headers)
        functions.curl_slist_free_all(client->headers);
    client->headers = NULL;
    return answer;
}
