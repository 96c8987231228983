// libsqlite3, loaded when it is used: a daemon without a store does without its megabyte.
#ifndef CSQLITE_H
#define CSQLITE_H

#include <sqlite3.h>

/// The functions in use; each name is a member of struct csqlite.
#define CSQLITE_FUNCTIONS(FUNCTION) \
    FUNCTION(open_v2)               \
    FUNCTION(close_v2)              \
    FUNCTION(errmsg)                \
    FUNCTION(errstr)                \
    FUNCTION(limit)                 \
    FUNCTION(get_autocommit)        \
    FUNCTION(changes)               \
    FUNCTION(prepare_v3)            \
    FUNCTION(step)                  \
    FUNCTION(reset)                 \
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

/// Loads the library, the first time on any thread; NULL and the reason when it is missing.
const struct csqlite *_Nullable csqlite_load(const char *_Nullable *_Nonnull reason);

/// Sets an option of a connection, which must be open: sqlite3_db_config is variadic, and Swift cannot call it.
void csqlite_configure(sqlite3 *_Nonnull connection, int option, int on);

/// SQLITE_TRANSIENT, whose cast Swift does not import: the text is copied.
static inline sqlite3_destructor_type _Nullable csqlite_transient(void)
{
    return SQLITE_TRANSIENT;
}

#endif
