#include "czstd.h"

#include <cloading.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
// Both are written once, before czstd_load() first returns.
static struct czstd functions;
static char problem[256];

static void load(void)
{
    static const char library[] = "libzstd.so.1";
    void *handle = cloading_open(library, problem, sizeof problem);
    if (!handle)
        return;
#define FUNCTION(name) functions.name = (__typeof__(&name))cloading_find(handle, library, #name, problem, sizeof problem);
    CZSTD_FUNCTIONS(FUNCTION)
#undef FUNCTION
}

const struct czstd *czstd_load(const char **reason)
{
    pthread_once(&once, load);
    *reason = problem;
    return problem[0] ? NULL : &functions;
}
