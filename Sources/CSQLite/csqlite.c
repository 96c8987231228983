#include "csqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct csqlite functions;
static __typeof__(&sqlite3_db_config) db_config;
static __typeof__(&sqlite3_wal_hook) wal_hook;
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
    wal_hook = (__typeof__(wal_hook))find(library, "sqlite3_wal_hook");
    __typeof__(&sqlite3_config) config = (__typeof__(config))find(library, "sqlite3_config");
    __typeof__(&sqlite3_threadsafe) threadsafe = (__typeof__(threadsafe))find(library, "sqlite3_threadsafe");
    if (problem[0])
        return;
    if (!threadsafe())
        snprintf(problem, sizeof problem, "libsqlite3.so.0 was built for programs with one thread");
    // Nobody asks how much memory is used, and counting it takes a lock at every allocation.
    config(SQLITE_CONFIG_MEMSTATUS, 0);
}

const struct csqlite *csqlite_load(const char **reason)
{
    pthread_once(&once, load);
    *reason = problem;
    return problem[0] ? NULL : &functions;
}

void csqlite_distrust(sqlite3 *connection)
{
    db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
}

static int note(void *pages, sqlite3 *connection, const char *name, int count)
{
    (void)connection;
    (void)name;
    *(int *)pages = count;
    return SQLITE_OK;
}

void csqlite_watch_log(sqlite3 *connection, int *pages)
{
    wal_hook(connection, note, pages);
}

void csqlite_merge_at_end(sqlite3 *connection, int merges)
{
    db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !merges, (int *)NULL);
}
