#include "csqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct csqlite functions;
static __typeof__(&sqlite3_db_config) db_config;
static char problem[256];

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        snprintf(problem, sizeof problem, "libsqlite3.so.0 has no %s", name);
    return symbol;
}

static void load(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(problem, sizeof problem, "%s", reason ? reason : "libsqlite3.so.0 cannot be loaded");
        return;
    }
    // What dlsym finds is the function of that name, whatever pointer it is given as.
#define FUNCTION(name) functions.name = (__typeof__(&sqlite3_##name))find(library, "sqlite3_" #name);
    CSQLITE_FUNCTIONS(FUNCTION)
#undef FUNCTION
    db_config = (__typeof__(db_config))find(library, "sqlite3_db_config");
    __typeof__(&sqlite3_config) config = (__typeof__(config))find(library, "sqlite3_config");
    __typeof__(&sqlite3_threadsafe) threadsafe = (__typeof__(threadsafe))find(library, "sqlite3_threadsafe");
    if (problem[0])
        return;
    if (!threadsafe())
        snprintf(problem, sizeof problem, "libsqlite3.so.0 was built for programs with one thread");
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
