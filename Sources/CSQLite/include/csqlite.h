// libsqlite3, loaded when it is used: a daemon without a store does without its megabyte.
#ifndef CSQLITE_H
#define CSQLITE_H

#include <sqlite3.h>

/// What is used of the library; each name is a member of struct csqlite.
#define CSQLITE_FUNCTIONS(FUNCTION) \
    FUNCTION(open_v2)               \
    FUNCTION(close_v2)              \
    FUNCTION(extended_result_codes) \
    FUNCTION(extended_errcode)      \
    FUNCTION(errmsg)                \
    FUNCTION(errstr)                \
    FUNCTION(busy_timeout)          \
    FUNCTION(limit)                 \
    FUNCTION(get_autocommit)        \
    FUNCTION(changes)               \
    FUNCTION(wal_checkpoint_v2)     \
    FUNCTION(prepare_v3)            \
    FUNCTION(step)                  \
    FUNCTION(reset)                 \
    FUNCTION(clear_bindings)        \
    FUNCTION(finalize)              \
    FUNCTION(bind_int64)            \
    FUNCTION(bind_text)             \
    FUNCTION(bind_null)             \
    FUNCTION(column_type)           \
    FUNCTION(column_int64)          \
    FUNCTION(column_text)           \
    FUNCTION(column_bytes)

/// The library's functions, without their prefix.
struct csqlite {
#define FUNCTION(name) __typeof__(&sqlite3_##name) _Nonnull name;
    CSQLITE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/// Loads the library, the first time on any thread; NULL and why when it is missing.
const struct csqlite *_Nullable csqlite_load(const char *_Nullable *_Nonnull reason);

/// Has a connection distrust what a file says of itself: no schema is written by hand, and none of it is trusted.
void csqlite_distrust(sqlite3 *_Nonnull connection);

/// Says whether the end of a connection merges what it has logged into the file, and removes the log.
void csqlite_merge_at_end(sqlite3 *_Nonnull connection, int merges);

/// Has a connection say after each commit how many pages its log has, in place of merging it when there are many.
///
/// The number has to live as long as the connection.
void csqlite_watch_log(sqlite3 *_Nonnull connection, int *_Nonnull pages);

/// SQLITE_TRANSIENT, whose cast Swift does not see: the text is copied.
static inline sqlite3_destructor_type _Nullable csqlite_transient(void)
{
    return SQLITE_TRANSIENT;
}

#endif
