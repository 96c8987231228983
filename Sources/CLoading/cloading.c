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
    static _Thread_local char problem[sizeof library->problem];
    pthread_mutex_lock(&library->lock);
    // After a failure the library may have been installed, or there may be descriptors and memory again.
    if (!library->is_loaded) {
        library->problem[0] = '\0';
        void *handle = cloading_open(library->library, library->problem, sizeof library->problem);
        for (size_t i = 0; handle && i < library->count; i++) {
            void *found =
                cloading_find(handle, library->library, library->names[i], library->problem, sizeof library->problem);
            memcpy((char *)library->functions + i * sizeof found, &found, sizeof found);
        }
        if (!library->problem[0] && library->begin)
            library->begin(handle);
        library->is_loaded = !library->problem[0];
    }
    // Another thread may try again as soon as the lock is free.
    memcpy(problem, library->problem, sizeof problem);
    const bool is_loaded = library->is_loaded;
    pthread_mutex_unlock(&library->lock);
    *reason = problem;
    // From now on the table is not written any more.
    return is_loaded ? library->functions : NULL;
}
