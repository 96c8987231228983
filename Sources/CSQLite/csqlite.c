#include "csqlite.h"

#include <cloading.h>
#include <pthread.h>
#include <stdio.h>

#define LIBRARY "libsqlite3.so.0"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct csqlite functions;
static __typeof__(&sqlite3_db_config) db_config;
static char problem[256];

static void *find(void *library, const char *name)
{
    return cloading_find(library, LIBRARY, name, problem, sizeof problem);
}

static void load(void)
{
    void *library = cloading_open(LIBRARY, problem, sizeof problem);
    if (!library)
        return;
#define FUNCTION(name) functions.name = (__typeof__(&sqlite3_##name))find(library, "sqlite3_" #name);
    CSQLITE_FUNCTIONS(FUNCTION)
#undef FUNCTION
    db_config = (__typeof__(db_config))find(library, "sqlite3_db_config");
    __typeof__(&sqlite3_config) config = (__typeof__(config))find(library, "sqlite3_config");
    __typeof__(&sqlite3_threadsafe) threadsafe = (__typeof__(threadsafe))find(library, "sqlite3_threadsafe");
    if (problem[0])
        return;
    if (!threadsafe())
        snprintf(problem, sizeof problem, LIBRARY " was built for programs with one thread");
    // The memory statistics, which are not used, take a lock at every allocation.
    config(SQLITE_CONFIG_MEMSTATUS, 0);
}

const struct csqlite *csqlite_load(const char **reason)
{
    pthread_once(&once, load);
    *reason = problem;
    return problem[0] ? NULL : &functions;
}

void csqlite_configure(sqlite3 *connection, int option, int on)
{
    db_config(connection, option, on, (int *)NULL);
}
