#include "csqlite.h"

#include <cloading.h>
#include <stdio.h>

static __typeof__(&sqlite3_db_config) db_config;
static void begin(void *handle);

#define NAME(name) "sqlite3_" #name,
static const char *const names[] = {CSQLITE_FUNCTIONS(NAME)};
static struct csqlite functions;
static struct cloading library = CLOADING("libsqlite3.so.0", names, functions, begin);

static void *find(void *handle, const char *name)
{
    return cloading_find(handle, library.library, name, library.problem, sizeof library.problem);
}

static void begin(void *handle)
{
    db_config = (__typeof__(db_config))find(handle, "sqlite3_db_config");
    __typeof__(&sqlite3_config) config = (__typeof__(config))find(handle, "sqlite3_config");
    __typeof__(&sqlite3_threadsafe) threadsafe = (__typeof__(threadsafe))find(handle, "sqlite3_threadsafe");
    if (library.problem[0])
        return;
    if (!threadsafe())
        snprintf(library.problem, sizeof library.problem, "%s was built for programs with one thread", library.library);
    // The memory statistics, which are not used, take a lock at every allocation.
    config(SQLITE_CONFIG_MEMSTATUS, 0);
}

const struct csqlite *csqlite_load(const char **reason)
{
    return cloading_load(&library, reason);
}

void csqlite_configure(sqlite3 *connection, int option, int on)
{
    db_config(connection, option, on, (int *)NULL);
}
