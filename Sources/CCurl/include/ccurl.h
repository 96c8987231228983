// libcurl, loaded when it is used: one POST at a time, with its answer in bounded memory.
//
// Its options are variadic, which Swift does not import. Declarations and numbers are here, because the library's interface
// for programs is stable, and its header need not be there.
#ifndef CCURL_H
#define CCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A client, which keeps its connection between requests; for one thread.
struct ccurl;

/// A request; everything is copied.
struct ccurl_request {
    const char *_Nonnull url;
    /// Lines such as "Title: moved".
    const char *_Nonnull const *_Nonnull headers;
    size_t header_count;
    const char *_Nonnull body;
    size_t body_size;
    /// The name of a login; a null pointer for none.
    const char *_Nullable user;
    const char *_Nullable password;
    /// A file with trusted authorities; a null pointer for the system's.
    const char *_Nullable authority_file;
    /// Whether the scheme is https, the only one that is spoken then.
    bool uses_tls;
    /// How long a connection, and the whole request, may take, in milliseconds.
    long connect_timeout;
    long timeout;
};

/// What is kept of an answer's body, and the bytes of head and body after which the rest is left.
#define CCURL_KEPT_BYTES 256
#define CCURL_MOST_BYTES 65536

/// What came of a request.
struct ccurl_answer {
    /// The status; 0 when there was no answer.
    long status;
    /// The wait in seconds that the answer asks for; 0 for none.
    int64_t retry_after;
    /// CURLE_…; 0 when the answer is complete.
    int code;
    /// errno of the failed connection; 0 when it is not known.
    long error_number;
    /// The library's words for `code`.
    char problem[256];
    /// The begin of the body.
    char text[CCURL_KEPT_BYTES];
    size_t text_size;
};

/// Loads the library; a null pointer, and the reason, when it cannot be used.
const char *_Nullable ccurl_problem(void);

/// Creates a client; a null pointer without the library or memory.
struct ccurl *_Nullable ccurl_new(void);
/// Ends a client, and the request that it has.
void ccurl_free(struct ccurl *_Nonnull client);

/// Begins a request; false when the library refuses an option, or without memory.
bool ccurl_start(struct ccurl *_Nonnull client, const struct ccurl_request *_Nonnull request);
/// Works until something happened, `wake` is readable or the time is over; whether the request has ended.
bool ccurl_turn(struct ccurl *_Nonnull client, int wake, int milliseconds);
/// Ends the request, also one that is under way; valid until the next one.
const struct ccurl_answer *_Nonnull ccurl_end(struct ccurl *_Nonnull client);

#endif
