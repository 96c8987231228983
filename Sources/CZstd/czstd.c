#include "czstd.h"

#include <cloading.h>

#define NAME(name) #name,
static const char *const names[] = {CZSTD_FUNCTIONS(NAME)};
static struct czstd functions;
static struct cloading library = CLOADING("libzstd.so.1", names, functions, NULL);

const struct czstd *czstd_load(const char **reason)
{
    return cloading_load(&library, reason);
}
