#include "carchive.h"

#include <cloading.h>

#define NAME(result, name, parameters) #name,
static const char *const names[] = {CARCHIVE_FUNCTIONS(NAME)};
static struct carchive functions;
static struct cloading library = CLOADING("libarchive.so.13", names, functions, NULL);

const struct carchive *carchive_load(const char **reason)
{
    return cloading_load(&library, reason);
}
