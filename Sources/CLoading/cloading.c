#include "cloading.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

const void *cloading_load(struct cloading *library, const char **reason)
{
    pthread_mutex_lock(&library->lock);
    if (!library->is_tried) {
        library->is_tried = true;
        void *handle = cloading_open(library->library, library->problem, sizeof library->problem);
        for (size_t i = 0; handle && i < library->count; i++) {
            void *found =
                cloading_find(handle, library->library, library->names[i], library->problem, sizeof library->problem);
            memcpy((char *)library->functions + i * sizeof found, &found, sizeof found);
        }
        if (!library->problem[0] && library->begin)
            library->begin(handle);
    }
    pthread_mutex_unlock(&library->lock);
    // Both are written no more.
    *reason = library->problem;
    return library->problem[0] ? NULL : library->functions;
}
