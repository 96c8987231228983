#include "cloading.h"

#include <dlfcn.h>
#include <stdio.h>

void *cloading_open(const char *library, char *problem, size_t size)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        if (words)
            snprintf(problem, size, "%s", words);
        else
            snprintf(problem, size, "%s cannot be loaded", library);
    }
    return handle;
}

void *cloading_find(void *handle, const char *library, const char *function, char *problem, size_t size)
{
    void *found = dlsym(handle, function);
    if (!found)
        snprintf(problem, size, "%s has no %s", library, function);
    return found;
}
